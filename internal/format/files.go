package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/rootfs"
)

// extensions are those of documents.
var extensions = []string{".cue", ".yaml", ".yml", ".json"}

// Files are the documents that arguments name: files as they are, of a directory Hawser's own documents, of DIR/... those
// below it too. Links, hidden files and what is vendored (cue.mod) are left out of directories.
func Files(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		dir, deep := strings.CutSuffix(filepath.ToSlash(arg), "...")
		if deep = deep && (dir == "" || strings.HasSuffix(dir, "/")); !deep {
			dir = arg
		}
		if dir == "" {
			dir = "."
		}
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, problem("unreadable", arg, "file does not exist", "", "name files, directories, DIR/... or - for standard input")
		case err != nil:
			return nil, problem("unreadable", arg, "file cannot be read", reason(err), "")
		case !info.IsDir():
			if !slices.Contains(extensions, extension(arg)) {
				return nil, problem("unsupported-file", arg, "unsupported file extension", "expected .cue, .yaml, .yml or .json", "")
			}
			out = append(out, arg)
			continue
		}
		found, err := below(filepath.Clean(dir), deep)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func below(dir string, deep bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return problem("unreadable", path, "directory cannot be read", reason(err), "")
		case path == dir:
			return nil
		case e.IsDir() && (!deep || strings.HasPrefix(e.Name(), ".") || e.Name() == "cue.mod"):
			return filepath.SkipDir
		case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || !slices.Contains(extensions, extension(path)):
			return nil
		}
		data, err := Read(path)
		if err == nil && isOwn(path, data) {
			out = append(out, path)
		}
		return err
	})
	return out, err
}

// place finds a file below the directory that bounds what may be written: the repository of the working directory, or of
// the file when that lies elsewhere.
func place(name string) (*os.Root, string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, "", err
	}
	if err := rootfs.Given(name); err != nil {
		return nil, "", err
	}
	bound, _, err := rootfs.Bound(".", rootfs.Marks[0])
	if err != nil {
		return nil, "", err
	}
	rel, ok := inside(bound, abs)
	if !ok {
		if bound, _, err = rootfs.Bound(filepath.Dir(abs), rootfs.Marks[0]); err != nil {
			return nil, "", err
		}
		if rel, err = rootfs.Below(bound, abs); err != nil {
			return nil, "", err
		}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(bound, rel))
	if err != nil {
		return nil, "", err
	}
	to, ok := inside(bound, real)
	if !ok {
		return nil, "", &rootfs.OutsideError{Name: name, Root: bound, Link: true}
	}
	root, err := os.OpenRoot(bound)
	return root, to, err
}

// inside is a path relative to a directory, as they are written.
func inside(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// Read reads a document. A link that leads out of the repository is not followed.
func Read(name string) ([]byte, error) {
	root, rel, err := place(name)
	if err != nil {
		return nil, problem("unreadable", name, "file cannot be read", reason(err), "")
	}
	defer func() { _ = root.Close() }()
	data, err := rootfs.Read(root.Name(), filepath.ToSlash(rel), cuelang.DefaultLimits().SourceBytes)
	if err != nil {
		return nil, problem("unreadable", name, "file cannot be read", reason(err), "")
	}
	return data, nil
}

// Write replaces a document in one step: it holds the old or the new text, whatever happens. Its mode stays, and so does
// a link to it.
func Write(name string, data []byte) error {
	root, rel, err := place(name)
	if err != nil {
		return problem("unwritable", name, "file cannot be written", reason(err), "")
	}
	defer func() { _ = root.Close() }()
	if err := replace(root, rel, data); err != nil {
		return problem("unwritable", name, "file cannot be written", reason(err), "")
	}
	return nil
}

func replace(root *os.Root, rel string, data []byte) error {
	info, err := root.Stat(rel)
	if err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(rel), "."+filepath.Base(rel)+".hawser-fmt")
	_ = root.Remove(tmp) // of a run that was killed
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Chmod(tmp, info.Mode().Perm())
	}
	if err == nil {
		err = root.Rename(tmp, rel)
	}
	if err != nil {
		_ = root.Remove(tmp)
	}
	return err
}

// reason is why a file cannot be had, without its path: the finding names it.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
