package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// CodeStale is the code of findings about what changed since a plan was made.
const CodeStale = "stale-plan"

// Inputs are what a plan was read from.
type Inputs struct {
	// Dir is the directory in which the plan was made.
	Dir string `json:"dir,omitempty"`
	// Files are the digests of the files by name, as seen from Dir; Sources those of other content.
	Files   map[string]string `json:"files,omitempty"`
	Sources map[string]string `json:"sources,omitempty"`
	// Runtime are keyed digests of the environment's values that the documents read, by name.
	Runtime map[string]string `json:"runtime"`
}

// NewInputs collects digests; names of files may be absolute.
func NewInputs(dir string, files, sources map[string]string) Inputs {
	in := Inputs{Dir: dir, Files: map[string]string{}, Sources: sources}
	for name, digest := range files {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsAbs(name) {
			name = rel
		}
		in.Files[filepath.ToSlash(name)] = digest
	}
	return in
}

// With is what was read with the environment's values that it needed, by name: their digests are keyed for one file.
func (in Inputs) With(env map[string]string, digests *Digests) Inputs {
	in.Runtime = map[string]string{}
	for name, value := range env {
		sum := sha256.Sum256([]byte(value))
		in.Runtime[name] = digests.Key("sha256:" + hex.EncodeToString(sum[:]))
	}
	return in
}

// Moved says which files changed since the plan was made, looking for them from the directory here. Nothing but the files is
// looked at.
func (in Inputs) Moved(here string) diag.Findings {
	var findings diag.Findings
	there := 0
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(here, path)
		}
		data, err := rootfs.ReadFile(path, rootfs.MaxLarge)
		sum := sha256.Sum256(data)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			findings = append(findings, stale("%s is gone", name))
			continue
		case err != nil:
			findings = append(findings, stale("%s cannot be read: %s", name, err))
		case "sha256:"+hex.EncodeToString(sum[:]) != in.Files[name]:
			f := stale("%s changed since the plan was made", name)
			f.Pos.File = name
			findings = append(findings, f)
		}
		there++
	}
	if there > 0 || len(findings) == 0 {
		return findings
	}
	f := diag.Errorf(CodeStale, "the plan's files are not here: %s", strings.Join(slices.Sorted(maps.Keys(in.Files)), ", "))
	f.Why = "the plan was made in " + in.Dir + ", and file names are relative to that; this is " + here
	f.Fix = "apply it there, or where the same files are: cd " + in.Dir
	return diag.Findings{f}
}

// Compare says what differs between what a plan was read from and what one was that was made now, keyed for the plan's file; nothing is read.
func (in Inputs) Compare(now Inputs) diag.Findings {
	var findings diag.Findings
	if in.Runtime == nil { // an earlier version's file has none
		now.Runtime = nil
	}
	const again = "plan again"
	for _, kind := range []struct {
		name, fix string
		old, now  map[string]string
	}{{"", again, in.Files, now.Files}, {"source ", again, in.Sources, now.Sources}, {"runtime value ", again + ", or set it in the environment as it was", in.Runtime, now.Runtime}} {
		names := slices.Sorted(maps.Keys(kind.old))
		for name := range kind.now {
			if _, ok := kind.old[name]; !ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			old, had := kind.old[name]
			digest, has := kind.now[name]
			what := "changed since the plan was made"
			switch {
			case !has:
				what = "is not read any more"
			case !had:
				what = "is read now, and was not"
			case old == digest:
				continue
			}
			f := stale("%s%s %s", kind.name, name, what)
			f.Fix = kind.fix
			findings = append(findings, f)
		}
	}
	return findings
}

func stale(format string, args ...any) diag.Finding {
	f := diag.Errorf(CodeStale, "the plan is stale: "+format, args...)
	f.Fix = "plan again"
	return f
}
