// Package outdir decides what a build does to the directory it writes files into: which of the files there are its own,
// which of them go because nothing makes them any more, and which stand in the way.
//
// outdir must not know how files are rendered, nor touch any file itself.
package outdir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// Name is the file in which a directory's own files are listed. It does not end as manifests do, so that nothing that
// reads a directory of manifests takes it for one.
const Name = ".hawser-build"

const version = 1

// File says what a file was written for.
type File struct {
	Bundle  string `json:"bundle"`
	Cluster string `json:"cluster,omitempty"`
	// Digest is that of the content, see Digest; "" for files that hold a Secret, of which nothing is kept.
	Digest string `json:"digest,omitempty"`
}

// Index lists the files that builds have written, by path below the directory with slashes.
type Index struct {
	V     int             `json:"v"`
	Files map[string]File `json:"files"`
}

// Parse reads an index; no data is an empty one. A path that leads out of the directory is an error.
func Parse(data []byte) (Index, error) {
	if len(data) == 0 {
		return Index{V: version, Files: map[string]File{}}, nil
	}
	var x Index
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil {
		return x, fmt.Errorf("no list of files: %w", err)
	}
	if x.V != version {
		return x, fmt.Errorf("version %d; this hawser reads version %d", x.V, version)
	}
	for path := range x.Files {
		if !filepath.IsLocal(filepath.FromSlash(path)) || path == Name {
			return x, fmt.Errorf("%q is no path of a file below the directory", path)
		}
	}
	if x.Files == nil {
		x.Files = map[string]File{}
	}
	return x, nil
}

// Encode is the index as it is stored: the same index gives the same bytes.
func (x Index) Encode() []byte {
	x.V = version
	data, _ := json.MarshalIndent(x, "", "  ") // maps of texts do not fail
	return append(data, '\n')
}

// With is the index with the files of another one added.
func (x Index) With(more Index) Index {
	files := maps.Clone(x.Files)
	maps.Copy(files, more.Files)
	return Index{V: version, Files: files}
}

// Digest is "sha256:<hex>" of a file's content.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Build is what one build makes.
type Build struct {
	Bundle string
	// Clusters are those it was made for; Whole tells that these are all there are.
	Clusters []string
	Whole    bool
	// Files are what it makes by path, Digests their contents' digests, those of Secrets too.
	Files   map[string]File
	Digests map[string]string
}

// Outcome is what happens to the directory beside the writing.
type Outcome struct {
	// Remove are the files to remove, Left those that would go but were changed since: they are nobody's from now on.
	Remove, Left []string
	// Index is that of afterwards.
	Index Index
}

// DecideAll is Decide for the builds of one run, one for each bundle. A file that two of them make is an Error; one that
// moved from one to another is the other's.
func DecideAll(before Index, builds []Build, now func(path string) string) (Outcome, diag.Findings) {
	at := Index{V: version, Files: maps.Clone(before.Files)}
	makes, runs := map[string]string{}, map[string]bool{}
	var findings diag.Findings
	for _, b := range builds {
		runs[b.Bundle] = true
		for _, path := range slices.Sorted(maps.Keys(b.Files)) {
			if other, ok := makes[path]; ok {
				f := diag.Errorf("two-bundles", "bundles %s and %s would both write one file", other, b.Bundle)
				f.Pos, f.Why = diag.Pos{File: path}, "their instances have one name"
				f.Fix = "build each into a directory of its own: --bundle " + b.Bundle + " --output-dir DIR"
				findings = append(findings, f)
			}
			makes[path] = b.Bundle
		}
	}
	if findings.HasErrors() {
		return Outcome{Index: before}, findings
	}
	for path, was := range at.Files {
		if to := makes[path]; to != "" && runs[was.Bundle] {
			was.Bundle = to
			at.Files[path] = was
		}
	}
	var all Outcome
	for _, b := range builds {
		out, fs := Decide(at, b, now)
		findings = append(findings, fs...)
		all.Remove, all.Left, at = append(all.Remove, out.Remove...), append(all.Left, out.Left...), out.Index
	}
	if findings.HasErrors() {
		return Outcome{Index: before}, findings
	}
	all.Index = at
	return all, nil
}

// Decide compares a build with what is there: now gives the digest of a file's content, "" when there is no such file.
// Files of other bundles, of clusters that were not selected, and those that no build wrote stay as they are. A file in the
// way that is not the bundle's own, and has other content, is an Error: nothing may be written then.
func Decide(before Index, b Build, now func(path string) string) (Outcome, diag.Findings) {
	out := Outcome{Index: Index{V: version, Files: maps.Clone(b.Files)}}
	var findings diag.Findings
	for _, path := range slices.Sorted(maps.Keys(b.Files)) {
		was, known := before.Files[path]
		if known && was.Bundle == b.Bundle {
			continue
		}
		if digest := now(path); digest == "" || digest == b.Digests[path] {
			continue
		}
		f := diag.Errorf("not-own-file", "a file stands in the way that the build did not write")
		f.Pos, f.Why, f.Fix = diag.Pos{File: path}, "it has other content", "move it away, or build into another directory"
		if known {
			f.What = "a file stands in the way that was written for another bundle"
			f.Why = "it was written for bundle " + was.Bundle
			f.Fix = "build every bundle into a directory of its own, or delete the file when that bundle is gone"
		}
		findings = append(findings, f)
	}
	if findings.HasErrors() {
		return Outcome{Index: before}, findings
	}
	for _, path := range slices.Sorted(maps.Keys(before.Files)) {
		was := before.Files[path]
		if _, made := b.Files[path]; made {
			continue
		}
		if was.Bundle != b.Bundle || !b.Whole && !slices.Contains(b.Clusters, was.Cluster) {
			out.Index.Files[path] = was
			continue
		}
		switch digest := now(path); {
		case digest == "": // somebody has removed it
		case was.Digest != "" && digest != was.Digest:
			out.Left = append(out.Left, path)
		default:
			out.Remove = append(out.Remove, path)
		}
	}
	return out, nil
}
