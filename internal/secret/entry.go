package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// ReadEntry reads the file below dir that a reference names: ref.Path, or when that is a directory the file ref.Property
// in it. It returns the file's name below dir, the property that is left to look up and the content. Links that lead
// out of dir, anything that is no regular file, and more than MaxDocument bytes are errors; they name the file.
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

// reason is the cause without the operation and path that the system puts before it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
