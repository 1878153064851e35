package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"
)

// Write writes files below root (slash separated, in any order) and their directories as a tar: sorted, without times
// and owners, files 0644 and directories 0755, so that the same files give the same bytes. A path that leads out of
// root, also over a link, or that is no file, is an error.
func Write(ctx context.Context, w io.Writer, root string, files []string) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	err = write(ctx, w, dir, files)
	return errors.Join(err, dir.Close())
}

func write(ctx context.Context, w io.Writer, dir *os.Root, files []string) error {
	t := tar.NewWriter(w)
	made := map[string]bool{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(files))) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := parents(t, made, path.Dir(name)); err != nil {
			return err
		}
		if err := add(t, dir, name); err != nil {
			return fmt.Errorf("write archive: %w", err)
		}
	}
	return t.Close()
}

func parents(t *tar.Writer, made map[string]bool, dir string) error {
	if dir == "." || dir == "/" || made[dir] {
		return nil
	}
	if err := parents(t, made, path.Dir(dir)); err != nil {
		return err
	}
	made[dir] = true
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: time.Unix(0, 0)})
}

func add(t *tar.Writer, dir *os.Root, name string) error {
	in, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o644, ModTime: time.Unix(0, 0)})
	if err != nil {
		return err
	}
	_, err = io.Copy(t, in)
	return err
}
