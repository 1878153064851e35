package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/nofollow"
	"hawser.dev/hawser/internal/rootfs"
)

// target is where artifacts of a place are written to; done ends it, and keeps what was written or not. An archive is
// made anew: it holds one push; private is it for its owner alone.
func (c *Client) target(ctx context.Context, p place, private bool) (t oras.Target, done func(keep bool) error, err error) {
	switch p.scheme {
	case module.SchemeOCI:
		return c.repository(ctx, p), func(bool) error { return nil }, nil
	}
	if err := p.within(); err != nil {
		return nil, nil, err
	}
	if p.scheme == module.SchemeLayout {
		if err := p.noLinks(); err != nil {
			return nil, nil, err
		}
		t, err = oci.NewWithContext(ctx, p.path)
		return t, func(bool) error { return nil }, unusable(p, err)
	}
	temp, err := os.MkdirTemp("", "hawser-layout-")
	if err != nil {
		return nil, nil, err
	}
	t, err = oci.NewWithContext(ctx, temp)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temp))
	}
	return t, func(keep bool) error {
		var err error
		if keep {
			err = writeArchive(ctx, temp, p.path, private)
		}
		return errors.Join(err, os.RemoveAll(temp))
	}, nil
}

// writeArchive makes a tar of a layout, and puts it in its place when it is complete.
func writeArchive(ctx context.Context, layout, file string, private bool) error {
	var files []string
	err := filepath.WalkDir(layout, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(layout, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".part-")
	if err != nil {
		return err
	}
	if !private { // it is made for its owner alone
		err = out.Chmod(0o644)
	}
	err = errors.Join(err, archive.Write(ctx, out, layout, files), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(out.Name()))
	}
	return err
}

// private makes a layout for its owner alone before anything is in it, and one or an archive that is there so.
func (p place) private() error {
	if p.path == "" {
		return nil
	}
	if err := p.within(); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if p.scheme == module.SchemeLayout {
		mode = 0o700
		if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
			return unusable(p, err)
		}
		if err := os.Mkdir(p.path, mode); err == nil {
			return nil
		}
	}
	if err := os.Chmod(p.path, mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(p, err)
	}
	return nil
}

// layoutParts are the files and directories of a layout.
var layoutParts = []string{"index.json", "oci-layout", "ingest", "blobs", "blobs/sha256"}

// within refuses a layout that a link of a repository leads to, out of it, and a directory that holds such links of its own.
func (p place) within() error {
	names := []string{p.path}
	if p.scheme == module.SchemeLayout {
		for _, part := range layoutParts {
			names = append(names, filepath.Join(p.path, filepath.FromSlash(part)))
		}
	}
	for _, name := range names {
		if err := rootfs.Given(name); err != nil {
			return failure("outside", p.String()+" cannot be used: "+err.Error(), "who wrote the link is not who named it", "name what it leads to itself")
		}
	}
	return nil
}

// noLinks refuses a layout to write into that holds a link, wherever that leads. Blobs are renamed into their place, which replaces one.
func (p place) noLinks() error {
	in, err := nofollow.Open(p.path)
	if err != nil {
		return err
	}
	return errors.Join(in.Check(layoutParts...), in.Close())
}

// stored is a layout that is only read.
type stored struct {
	layoutReader
	close func() error
}

type layoutReader interface {
	oras.ReadOnlyTarget
	registry.TagLister
}

// layout opens the layout of a place to read it; the caller closes it.
func (c *Client) layout(ctx context.Context, p place) (stored, error) {
	if err := p.within(); err != nil {
		return stored{}, err
	}
	s := stored{close: func() error { return nil }}
	info, err := os.Stat(p.path)
	switch {
	case err != nil:
	case p.scheme == module.SchemeLayout:
		var root *os.Root // only what is below the directory, whatever links there are
		if root, err = os.OpenRoot(p.path); err == nil {
			s.close = root.Close
			s.layoutReader, err = oci.NewFromFS(ctx, root.FS())
		}
	case !info.Mode().IsRegular():
		err = errors.New("it is no file")
	default:
		s.layoutReader, err = oci.NewFromTar(ctx, p.path)
	}
	if err != nil {
		return stored{}, errors.Join(unusable(p, err), s.close())
	}
	return s, nil
}

func unusable(p place, err error) error {
	if err == nil {
		return nil
	}
	return failure("layout-unusable", p.String()+" cannot be used as an OCI layout", err.Error(), "a layout is a directory, or a tar of one, with an index.json in it")
}

func (c *Client) storedManifest(ctx context.Context, p place) ([]byte, error) {
	if err := p.within(); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(p.path); errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, &statusError{code: 404, text: p.path + " holds nothing"}
	}
	s, err := c.layout(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close() }()
	desc, err := s.Resolve(ctx, p.reference())
	if err != nil {
		return nil, err
	}
	if desc.Size > maxManifest {
		return nil, notArtifact(p, fmt.Sprintf("its manifest has more than %d MiB", maxManifest>>20))
	}
	data, err := fetchAll(ctx, s, desc)
	if err != nil {
		return nil, err
	}
	if got := digestOf(data); got != string(desc.Digest) || p.digest != "" && got != p.digest {
		return nil, &cache.MismatchError{Want: string(desc.Digest), Got: got}
	}
	return data, nil
}

func fetchAll(ctx context.Context, s stored, desc ocispec.Descriptor) ([]byte, error) {
	in, err := s.Fetch(ctx, desc)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	return data, errors.Join(err, in.Close())
}

func (c *Client) storedBlob(ctx context.Context, p place, d descriptor, w io.Writer) error {
	s, err := c.layout(ctx, p)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	in, err := s.Fetch(ctx, ocispec.Descriptor{MediaType: d.MediaType, Digest: digest.Digest(d.Digest), Size: d.Size})
	if err != nil {
		return err
	}
	err = limited(w, in, d.Size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = unusable(p, fmt.Errorf("the blob %s is cut off", d.Digest))
	}
	return errors.Join(err, in.Close())
}

func (c *Client) storedTags(ctx context.Context, p place, add func([]string) error) error {
	s, err := c.layout(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(s.Tags(ctx, "", add), s.close())
}
