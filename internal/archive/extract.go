package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Source opens an archive; the reader is closed when it was read.
type Source func() (io.ReadCloser, error)

// Extract reads a tar or tar.gz into dir, which must not exist. A link to a file of the archive becomes a copy of it;
// other links are refused. Errors are *Error for what is wrong with the archive, others for the disk, the reader and
// the context; after any of them neither dir nor anything beside it exists.
func Extract(ctx context.Context, r io.Reader, dir string, limits Limits) error {
	return ExtractAll(ctx, []Source{func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}, dir, limits)
}

// ExtractAll is Extract of several archives into one directory, in order: a file replaces one of the same name of an
// earlier archive. The limits count for all together.
func ExtractAll(ctx context.Context, sources []Source, dir string, limits Limits) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("extract archive: %w: %s", fs.ErrExist, dir)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".part-")
	if err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	root, err := os.OpenRoot(temp)
	if err != nil {
		return fmt.Errorf("extract archive: %w", err)
	}
	x := &extraction{to: disk{root}, limits: limits.withDefaults(), names: newNames()}
	for _, source := range sources {
		if err = x.source(ctx, source); err != nil {
			return errors.Join(err, root.Close())
		}
	}
	if err = root.Close(); err != nil {
		return err
	}
	if err = os.Chmod(temp, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// extraction is the state of one ExtractAll or Sums.
type extraction struct {
	to      sink
	limits  Limits
	names   *names
	entries int
	bytes   int64
	// unpacked is what all archives so far became, what is passed over included.
	unpacked int64
	// files and links are those of the archive being read.
	files map[string]bool
	links []link
}

type link struct {
	name, at, target string // as written, cleaned, the target's cleaned path
}

func (x *extraction) source(ctx context.Context, source Source) error {
	r, err := source()
	if err != nil {
		return err
	}
	err = x.archive(ctx, r)
	return errors.Join(err, r.Close())
}

func (x *extraction) archive(ctx context.Context, r io.Reader) error {
	in, err := open(ctx, r, x.limits, &x.unpacked)
	if err != nil {
		return err
	}
	x.files, x.links = map[string]bool{}, nil
	for t := tar.NewReader(in); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // paths are ours to judge
			return in.refusal(err)
		}
		if err := x.entry(header, t); err != nil {
			return err
		}
	}
	if err := in.finish(); err != nil {
		return err
	}
	return x.follow(ctx)
}

func (x *extraction) entry(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // what git archive writes: a comment for the whole
	}
	if x.entries++; x.entries > x.limits.Entries {
		return refuse(Limit, h.Name, "there are more than %d entries", x.limits.Entries)
	}
	at, err := x.limits.clean(h.Name)
	if err != nil {
		return err
	}
	if err := x.names.add(h.Name, at); err != nil {
		return err
	}
	if len(x.names.known) > 2*x.limits.Entries {
		return refuse(Limit, "", "there are more than %d files and directories", 2*x.limits.Entries)
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return refuse(Kind, h.Name, "sparse files are not supported")
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return x.directory(h.Name, at)
	case tar.TypeReg:
		return x.file(h, at, content)
	case tar.TypeSymlink:
		return x.link(h, at, path.Dir(at))
	case tar.TypeLink:
		return x.link(h, at, ".")
	}
	return refuse(Kind, h.Name, "neither a file, a directory nor a link (type %q)", h.Typeflag)
}

func (x *extraction) directory(name, at string) error {
	if at == "." {
		return nil
	}
	if err := x.to.directory(at); err != nil {
		return occupied(name, err)
	}
	return nil
}

func (x *extraction) file(h *tar.Header, at string, content io.Reader) error {
	if err := x.claim(h.Name, at); err != nil {
		return err
	}
	x.bytes += h.Size
	switch {
	case h.Size > x.limits.FileBytes:
		return refuse(Limit, h.Name, "the file has more than %d MiB", x.limits.FileBytes>>20)
	case x.bytes > x.limits.Bytes:
		return refuse(Limit, h.Name, "the files have more than %d MiB together", x.limits.Bytes>>20)
	}
	return x.write(h.Name, at, content)
}

// claim makes the parents of a file and sees that its name is free in this archive.
func (x *extraction) claim(name, at string) error {
	if at == "." {
		return refuse(Escape, name, "a file has the place of the root")
	}
	if x.files[at] {
		return refuse(Collision, name, "it is there twice")
	}
	x.files[at] = true
	return x.directory(name, path.Dir(at))
}

func (x *extraction) write(name, at string, content io.Reader) error {
	out, err := x.to.create(at)
	if err != nil {
		return occupied(name, err)
	}
	// Errors of reading are the archive's, those of writing the disk's.
	in := &reading{r: content}
	_, err = io.Copy(out, in)
	if in.err != nil {
		err = damaged(in.err)
	}
	return errors.Join(err, out.Close())
}

// reading keeps the error of a reader apart from those of what it is copied to.
type reading struct {
	r   io.Reader
	err error
}

func (s *reading) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// occupied makes a refusal of an error that comes from a file where a directory should be, or the other way round.
func occupied(name string, err error) error {
	if isKindConflict(err) {
		return refuse(Collision, name, "it is a file in one place and a directory in another")
	}
	return err
}
