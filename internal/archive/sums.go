package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"slices"
)

// File is a file of an archive: its path (slash separated), its size in bytes and its SHA-256 in hexadecimal digits.
type File struct {
	Path   string
	Size   int64
	SHA256 string
}

// Sums are the files that ExtractAll would make of the archives, sorted by path; nothing is written. Errors are those of
// ExtractAll.
func Sums(ctx context.Context, sources []Source, limits Limits) ([]File, error) {
	to := sums{}
	x := &extraction{to: to, limits: limits.withDefaults(), names: newNames()}
	for _, source := range sources {
		if err := x.source(ctx, source); err != nil {
			return nil, err
		}
	}
	out := make([]File, 0, len(to))
	for _, f := range to {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// sink is where what is in an archive goes.
type sink interface {
	directory(at string) error
	create(at string) (io.WriteCloser, error)
	size(at string) (int64, error)
	// copy makes a file with the content of another.
	copy(at, from string) error
}

// disk is a directory.
type disk struct{ root *os.Root }

func (d disk) directory(at string) error { return d.root.MkdirAll(at, 0o755) }

func (d disk) create(at string) (io.WriteCloser, error) {
	return d.root.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
}

func (d disk) size(at string) (int64, error) {
	info, err := d.root.Stat(at)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d disk) copy(at, from string) error {
	in, err := d.root.Open(from)
	if err != nil {
		return err
	}
	out, err := d.create(at)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), in.Close())
}

// sums keeps what would be written by its digest.
type sums map[string]*File

func (s sums) directory(string) error { return nil }

func (s sums) create(at string) (io.WriteCloser, error) {
	f := &File{Path: at}
	s[at] = f
	return &summing{file: f, hash: sha256.New()}, nil
}

func (s sums) size(at string) (int64, error) { return s[at].Size, nil }

func (s sums) copy(at, from string) error {
	s[at] = &File{Path: at, Size: s[from].Size, SHA256: s[from].SHA256}
	return nil
}

type summing struct {
	file *File
	hash hash.Hash
}

func (w *summing) Write(p []byte) (int, error) {
	w.file.Size += int64(len(p))
	return w.hash.Write(p)
}

func (w *summing) Close() error {
	w.file.SHA256 = hex.EncodeToString(w.hash.Sum(nil))
	return nil
}
