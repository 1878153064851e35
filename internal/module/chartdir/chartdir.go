// Package chartdir fetches charts from the local file system (chart+file://PATH): directories, with .helmignore
// honoured and symbolic links kept inside, and packed charts (.tgz).
//
// chartdir must not know how a chart is rendered, nor write anything but the cache.
package chartdir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"helm.sh/helm/v4/pkg/ignore"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/rootfs"
)

const scheme = module.ChartScheme + "file"

// maxPacked is the size of a .tgz that is read.
const maxPacked = 64 << 20

// maxIgnore is the size of a .helmignore, in bytes.
const maxIgnore = 1 << 20

// Fetcher serves chart+file:// references.
type Fetcher struct {
	local module.Local
	cache *cache.Cache
}

var _ module.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher that unpacks archives into the cache.
func New(c *cache.Cache) *Fetcher {
	return &Fetcher{cache: c, local: module.Local{Noun: "chart", IgnoreFile: ignore.HelmIgnore, Ignore: rules}}
}

// rules are those of .helmignore, with Helm's own defaults.
func rules(root string) (func(string, fs.FileInfo) bool, error) {
	r := ignore.Empty()
	in, err := rootfs.FS{Root: root, Limit: maxIgnore}.Open(ignore.HelmIgnore)
	switch {
	case err == nil:
		defer in.Close()
		if r, err = ignore.Parse(io.LimitReader(in, maxIgnore)); err != nil {
			return nil, err
		}
	case !os.IsNotExist(err):
		return nil, err
	}
	r.AddDefaults()
	return r.Ignore, nil
}

// Schemes is "chart+file".
func (f *Fetcher) Schemes() []string { return []string{scheme} }

// Resolve says the digest of what is there now: of the files of a directory, of a .tgz itself.
func (f *Fetcher) Resolve(ctx context.Context, ref module.Reference) (module.Resolved, error) {
	ref.Digest = ""
	c, err := f.Fetch(ctx, ref)
	return module.Resolved{Version: c.Version, Digest: c.Digest}, err
}

// Fetch resolves the path against the reference's Dir (the working directory when empty). Errors are
// *diag.FindingsError: nothing there, no Chart.yaml, a link that leaves the chart, an archive that is refused, a digest
// that differs (both are named).
func (f *Fetcher) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	path, ok := strings.CutPrefix(ref.URL, scheme+"://")
	if !ok || path == "" {
		return module.Content{}, f.local.Failure("url", fmt.Sprintf("%q is not a %s:// URL with a path", ref.URL, scheme), "")
	}
	ref.URL = path // as the user wrote it
	root, info, err := f.local.Find(ref, path)
	if err != nil {
		return module.Content{}, err
	}
	if !info.IsDir() {
		return f.packed(ctx, ref, root, info)
	}
	c, err := f.local.Content(ctx, root, func(files []string) error { return module.CompleteChart(files, path) })
	if err == nil {
		err = f.local.Check(ref, c.Digest)
	}
	if err != nil {
		return module.Content{}, err
	}
	return versioned(c), nil
}

// versioned is the content with the version that the chart itself says. Nobody keeps a local chart from being changed
// without another version: its digest says what it is.
func versioned(c module.Content) module.Content {
	c.Version = module.LocalVersion
	if version, ok := module.ChartVersion(c); ok {
		c.Version = version
	}
	return c
}

func (f *Fetcher) packed(ctx context.Context, ref module.Reference, file string, info fs.FileInfo) (module.Content, error) {
	if !info.Mode().IsRegular() || info.Size() > maxPacked {
		return module.Content{}, f.local.Failure("unreadable",
			fmt.Sprintf("chart %s is neither a directory nor a .tgz of at most %d MiB", ref.URL, maxPacked>>20), "")
	}
	digest, err := digestOf(file)
	if err != nil {
		return module.Content{}, f.local.Unreadable(ref.URL, err)
	}
	if err := f.local.Check(ref, digest); err != nil {
		return module.Content{}, err
	}
	c, err := module.PackedChart(ctx, f.cache, digest, ref.URL, func(ctx context.Context) (io.ReadCloser, error) {
		// Through the cache, which checks that the file is still what was digested.
		return f.cache.Blob(ctx, digest, func(_ context.Context, w io.Writer) error {
			in, err := rootfs.OpenFile(file)
			if err != nil {
				return f.local.Unreadable(ref.URL, err)
			}
			defer in.Close()
			_, err = io.Copy(w, in)
			return err
		})
	})
	if err != nil {
		return module.Content{}, err
	}
	return versioned(c), nil
}

func digestOf(file string) (string, error) {
	in, err := rootfs.OpenFile(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(in, maxPacked+1)); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
