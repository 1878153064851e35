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

// Compare says what differs between what a plan was read from and what one was that was made now; nothing is read.
func (in Inputs) Compare(now Inputs) diag.Findings {
	var findings diag.Findings
	for _, kind := range []struct {
		name     string
		old, now map[string]string
	}{{"", in.Files, now.Files}, {"source ", in.Sources, now.Sources}} {
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
			switch {
			case !has:
				findings = append(findings, stale("%s%s is not read any more", kind.name, name))
			case !had:
				findings = append(findings, stale("%s%s is read now, and was not", kind.name, name))
			case old != digest:
				findings = append(findings, stale("%s%s changed since the plan was made", kind.name, name))
			}
		}
	}
	return findings
}

func stale(format string, args ...any) diag.Finding {
	f := diag.Errorf(CodeStale, "the plan is stale: "+format, args...)
	f.Fix = "plan again"
	return f
}
