// Package lockfile is hawser.lock, the file beside a bundle that pins what its sources resolve to (by digest) and which
// cluster each name of a fleet is (by UID), and keeps the lineages of its bundles.
//
// lockfile must not know how sources are fetched or clusters reached; it reads and writes one small file.
package lockfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

// Name of the file.
const Name = "hawser.lock"

// version of the format that is written. Version 2, without lineages and servers, and version 1, in which a source is a
// digest alone, are still read.
const version = 3

// sizeLimit bounds what is read: 8 MiB.
const sizeLimit = 8 << 20

// File is the content of a hawser.lock.
type File struct {
	V int `json:"v"`
	// Sources maps a source as the bundle writes it, with the version it wants, to what that was when it was pinned.
	Sources map[string]Pin `json:"sources,omitempty"`
	// Bundles maps names of bundles to the sources that their last lock found in them, sorted: whose pins are whose.
	Bundles map[string][]string `json:"bundles,omitempty"`
	// Clusters maps fleet and cluster names to the UID of the cluster's kube-system namespace.
	Clusters map[string]map[string]string `json:"clusters,omitempty"`
	// Servers maps them to the digest of the server's address and authority, for those who may not read that namespace.
	Servers map[string]map[string]string `json:"servers,omitempty"`
	// Lineages maps names of bundles to the id that their first apply made.
	Lineages map[string]string `json:"lineages,omitempty"`
	// Promoted are pins of some clusters, over Sources.
	Promoted Promotions `json:"promoted,omitempty"`
	// Places maps them to what was delivered there, and how.
	Places map[string]map[string]Place `json:"places,omitempty"`
}

// Pin is what a source was when it was pinned.
type Pin struct {
	// Version is exact: "1.4.2", a tag, that of a local chart's Chart.yaml, "" for other local content.
	Version string `json:"version,omitempty"`
	// Digest is that of the content, "sha256:<hex>"; "" where the file had several pins, and nobody knows which one is meant.
	Digest string `json:"digest"`
}

// UnmarshalJSON reads a pin, and the bare digest that it was in version 1.
func (p *Pin) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*p = Pin{}
		return json.Unmarshal(data, &p.Digest)
	}
	type plain Pin
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(p))
}

// PathFor is the lock file of a bundle: beside its first file, or in the directory that is given instead of a file.
// It is "" for documents from standard input.
func PathFor(files []string) string {
	if len(files) == 0 || files[0] == "-" {
		return ""
	}
	if info, err := os.Stat(files[0]); err == nil && info.IsDir() {
		return filepath.Join(files[0], Name)
	}
	return filepath.Join(filepath.Dir(files[0]), Name)
}

// Beside is the lock file of a bundle's files, else one that lies beside the fleet's, else "".
func Beside(files, fleetFiles []string) string {
	if path := PathFor(files); path != "" {
		return path
	}
	if path := PathFor(fleetFiles); path != "" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// Read reads a lock file; a missing one, and the path "", is an empty File.
func Read(path string) (File, error) {
	empty := File{}.filled()
	if path == "" {
		return empty, nil
	}
	if _, err := rootfs.Named(filepath.Dir(path), filepath.Base(path)); err != nil {
		return empty, fmt.Errorf("lock file: %w", err) // it comes with a repository, and may be a link
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty, nil
	case err != nil:
		return empty, fmt.Errorf("lock file: %w", err)
	case info.Size() > sizeLimit:
		return empty, fmt.Errorf("lock file %s: larger than %d MiB", path, sizeLimit>>20)
	}
	data, err := rootfs.ReadFile(path, sizeLimit)
	if err != nil {
		return empty, fmt.Errorf("lock file: %w", err)
	}
	f, err := Parse(data)
	if err != nil {
		return empty, diag.Findings{unreadable(path, data, err)}.Err()
	}
	return f, nil
}

// conflict begins a block of a merge that was not brought to an end.
var conflict = lazyregexp.New(`(?m)^<{7}( |$)`)

// unreadable says what is wrong with a file, where, and how it is got rid of.
func unreadable(path string, data []byte, err error) diag.Finding {
	f := diag.Errorf("lock-file", "%s is not a lock file", Name)
	f.Pos, f.Why = diag.Pos{File: path}, err.Error()
	f.Fix = "take it back from git; without it clusters and lineages are learned anew by the next apply, and sources are pinned anew by hawser lock"
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		f.Pos.Line = 1 + bytes.Count(data[:min(max(int(syntax.Offset)-1, 0), len(data))], []byte("\n"))
	}
	if at := conflict.FindIndex(data); at != nil {
		f.What, f.Why = Name+" holds a merge conflict", "two branches changed it"
		f.Pos.Line = 1 + bytes.Count(data[:at[0]], []byte("\n"))
		f.Fix = "keep the lines of both sides and remove the markers; where both pin one source take either, and run hawser lock; to take one side whole: git checkout --theirs " + Name
	}
	return f
}

// Parse reads the file's text. Unknown fields and other versions are errors.
func Parse(data []byte) (File, error) {
	f := File{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("not a lock file: %w", err)
	}
	if f.V < 1 || f.V > version {
		return f, fmt.Errorf("version %d; this hawser reads versions 1 to %d", f.V, version)
	}
	return f.filled().masked(), nil
}

// filled is the file at the current version, with every map made.
func (f File) filled() File {
	f.V = version
	if f.Sources == nil {
		f.Sources = map[string]Pin{}
	}
	if f.Bundles == nil {
		f.Bundles = map[string][]string{}
	}
	if f.Clusters == nil {
		f.Clusters = map[string]map[string]string{}
	}
	if f.Servers == nil {
		f.Servers = map[string]map[string]string{}
	}
	if f.Lineages == nil {
		f.Lineages = map[string]string{}
	}
	if f.Promoted == nil {
		f.Promoted = Promotions{}
	}
	if f.Places == nil {
		f.Places = map[string]map[string]Place{}
	}
	return f
}

// Text is the file as it is written.
func (f File) Text() []byte {
	f.V = version
	data, _ := json.MarshalIndent(f, "", "  ") // of maps of strings, which always are JSON
	return append(data, '\n')
}

// Write replaces the file at once, readable by everybody: it holds no secrets.
func (f File) Write(path string) error {
	data := f.Text()
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+Name+".*")
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("lock file %s: %w", path, err)
	}
	return nil
}

// UID is the pinned UID of a cluster, "" when none is.
func (f File) UID(fleet, cluster string) string { return f.Clusters[fleet][cluster] }

// Server is the pinned digest of a cluster's server address and authority, "" when none is.
func (f File) Server(fleet, cluster string) string { return f.Servers[fleet][cluster] }

// News is what a run learned and the file should keep.
type News struct {
	// Fleet is the name under which UIDs and Servers are kept, by cluster.
	Fleet         string
	UIDs, Servers map[string]string
	// Lineages by bundle; one that the file has already stays, unless it is in TakenOver.
	Lineages  map[string]string
	TakenOver bool
}

// Learn adds what a run learned, "" apart, and reports whether anything is new. The file must come from Read or Parse.
func (f File) Learn(n News) bool {
	changed := learn(f.Clusters, n.Fleet, n.UIDs)
	changed = learn(f.Servers, n.Fleet, n.Servers) || changed
	for bundle, id := range n.Lineages {
		if was := f.Lineages[bundle]; id != "" && was != id && (was == "" || n.TakenOver) {
			f.Lineages[bundle] = id
			changed = true
		}
	}
	return changed
}

func learn(known map[string]map[string]string, fleet string, news map[string]string) bool {
	changed := false
	for name, id := range news {
		if id == "" || known[fleet][name] == id {
			continue
		}
		if known[fleet] == nil {
			known[fleet] = map[string]string{}
		}
		known[fleet][name] = id
		changed = true
	}
	return changed
}
