package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ReadEntry reads the file below dir that a reference names: ref.Path, or when that is a directory the file ref.Property
// in it. It returns the file's name below dir, the property that is left to look up and the content. Links that lead
// out of dir, what lies in .git, anything that is no regular file, and more than MaxDocument bytes are errors; they name the file.
func ReadEntry(dir string, ref Ref) (name, property string, data []byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", "", nil, fmt.Errorf("the store's directory %s: %w", dir, reason(err))
	}
	defer func() { _ = root.Close() }()
	name, property = ref.Path, ref.Property
	info, err := root.Stat(filepath.FromSlash(name))
	if err == nil && info.IsDir() && property != "" {
		name, property = path.Join(name, property), ""
		info, err = root.Stat(filepath.FromSlash(name))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, "", nil, fmt.Errorf("there is no file %s in %s", name, dir)
	case err != nil:
		return name, "", nil, fmt.Errorf("%s: %w", name, reason(err))
	case !info.Mode().IsRegular():
		return name, "", nil, fmt.Errorf("%s is no file", name)
	case inGit(dir, name):
		return name, "", nil, fmt.Errorf("%s is a part of .git, which holds credentials of the checkout", name)
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return name, "", nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	defer func() { _ = f.Close() }()
	data, err = io.ReadAll(io.LimitReader(f, MaxDocument+1))
	if err != nil {
		return name, "", nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	if len(data) > MaxDocument {
		return name, "", nil, fmt.Errorf("%s has more than %d bytes", name, MaxDocument)
	}
	return name, property, data, nil
}

// inGit reports whether a file that is there lies in a .git below dir, by its name or behind a link.
func inGit(dir, name string) bool {
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	real, err := filepath.EvalSymlinks(filepath.Join(base, filepath.FromSlash(name)))
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(base, real)
	isGit := func(part string) bool { return strings.EqualFold(part, ".git") }
	return err != nil || slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), isGit) || slices.ContainsFunc(strings.Split(name, "/"), isGit)
}

// OutsideError is the error of a store whose directory its fleet may not name. What there is to do is about the store.
type OutsideError struct {
	Err error
	// Fix is what there is to do.
	Fix string
}

func (e *OutsideError) Error() string { return e.Err.Error() }

// Unwrap is the error that names the directory.
func (e *OutsideError) Unwrap() error { return e.Err }

// reason is the cause without the operation and path that the system puts before it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
