// Package swap replaces several files, all of them or none.
//
// swap must not know what the files are.
package swap

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hawser.dev/hawser/internal/rootfs"
)

// sizeLimit bounds a file that is replaced: 64 MiB.
const sizeLimit = 64 << 20

// Change is one file that is to have another text.
type Change struct {
	Name     string
	Old, New []byte
}

// staged is a change whose new text stands beside its file.
type staged struct {
	Change
	real, beside string
}

// All replaces the files, each at once; a link is followed, and stays, unless it leads out of its repository. Where one of them is not what
// it was, or cannot be written, none is changed. undo takes all of it back. Between the first file and the last one a process that dies leaves some of each.
func All(changes []Change) (undo func() error, err error) {
	var files []staged
	defer func() {
		for _, f := range files {
			_ = os.Remove(f.beside)
		}
	}()
	for _, c := range changes {
		f, err := stage(c)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	done := 0
	undo = func() error {
		var errs []error
		for _, f := range files[:done] {
			back, err := stage(Change{Name: f.Name, Old: f.New, New: f.Old})
			if err == nil {
				err = os.Rename(back.beside, back.real)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	for _, f := range files {
		if err := os.Rename(f.beside, f.real); err != nil {
			return nil, errors.Join(err, undo())
		}
		done++
	}
	return undo, nil
}

// stage writes the new text of a file beside it, when the file is what it was.
func stage(c Change) (staged, error) {
	if err := rootfs.Given(c.Name); err != nil {
		return staged{}, err
	}
	real, err := filepath.EvalSymlinks(c.Name)
	if err != nil {
		return staged{}, err
	}
	now, err := rootfs.ReadFile(real, sizeLimit)
	if err != nil {
		return staged{}, err
	}
	if !bytes.Equal(now, c.Old) {
		return staged{}, fmt.Errorf("%s: somebody else has changed it since it was read", c.Name)
	}
	info, err := os.Stat(real)
	if err != nil {
		return staged{}, err
	}
	out, err := os.CreateTemp(filepath.Dir(real), "."+filepath.Base(real)+".*")
	if err != nil {
		return staged{}, err
	}
	_, err = out.Write(c.New)
	if err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close()); err != nil {
		return staged{}, errors.Join(err, os.Remove(out.Name()))
	}
	return staged{Change: c, real: real, beside: out.Name()}, nil
}
