package kustomize

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// files is a file system of these files alone, by absolute path, for the library: names are what they are on a disk. The
// library's own one in memory refuses all but a few characters.
type files struct {
	texts map[string][]byte
	// dirs are the directories, each with the names in it.
	dirs map[string][]string
}

// filesOf are files by path below the root.
func filesOf(texts map[string][]byte) files {
	f := files{texts: map[string][]byte{}, dirs: map[string][]string{"/": nil}}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		at := path.Join("/", name)
		f.texts[at] = texts[name]
		for at != "/" {
			dir := path.Dir(at)
			if !slices.Contains(f.dirs[dir], path.Base(at)) {
				f.dirs[dir] = append(f.dirs[dir], path.Base(at))
			}
			at = dir
		}
	}
	return f
}

func absolute(name string) string { return path.Join("/", name) }

// IsDir reports whether a directory has this path.
func (f files) IsDir(name string) bool {
	_, ok := f.dirs[absolute(name)]
	return ok && name != ""
}

// Exists reports whether a file or a directory has this path.
func (f files) Exists(name string) bool {
	_, ok := f.texts[absolute(name)]
	return ok || f.IsDir(name)
}

// ReadDir are the names in a directory.
func (f files) ReadDir(name string) ([]string, error) {
	if !f.IsDir(name) {
		return nil, f.missing(name)
	}
	return slices.Sorted(slices.Values(f.dirs[absolute(name)])), nil
}

// CleanedAbs is the directory and the file that a path names.
func (f files) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	at := absolute(name)
	switch {
	case f.IsDir(name):
		return filesys.ConfirmedDir(at), "", nil
	case f.Exists(name):
		return filesys.ConfirmedDir(path.Dir(at)), path.Base(at), nil
	}
	return "", "", f.missing(name)
}

// ReadFile is what a file holds.
func (f files) ReadFile(name string) ([]byte, error) {
	if text, ok := f.texts[absolute(name)]; ok {
		return slices.Clone(text), nil
	}
	if f.IsDir(name) {
		return nil, fmt.Errorf("cannot read content from non-file '%s'", name)
	}
	return nil, f.missing(name)
}

// Glob are the files that a pattern matches, sorted.
func (f files) Glob(pattern string) ([]string, error) {
	var out []string
	for _, at := range slices.Sorted(maps.Keys(f.texts)) {
		if !strings.HasPrefix(pattern, "/") {
			at = strings.TrimPrefix(at, "/")
		}
		ok, err := path.Match(pattern, at)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, at)
		}
	}
	return out, nil
}

// Open is refused, as are Walk and what writes: the library reads whole files by name.
func (f files) Open(name string) (filesys.File, error) { return nil, f.refused(name) }

// Walk is refused.
func (f files) Walk(name string, _ filepath.WalkFunc) error { return f.refused(name) }

// Create is refused.
func (f files) Create(name string) (filesys.File, error) { return nil, f.refused(name) }

// Mkdir is refused.
func (f files) Mkdir(name string) error { return f.refused(name) }

// MkdirAll is refused.
func (f files) MkdirAll(name string) error { return f.refused(name) }

// RemoveAll is refused.
func (f files) RemoveAll(name string) error { return f.refused(name) }

// WriteFile is refused.
func (f files) WriteFile(name string, _ []byte) error { return f.refused(name) }

func (files) missing(name string) error {
	return fmt.Errorf("'%s' doesn't exist: %w", name, fs.ErrNotExist)
}

func (files) refused(name string) error { return fmt.Errorf("%s: %w", name, fs.ErrPermission) }
