// Package goproxy gets the source of Go modules from a module proxy (GOPROXY), without the go command: it asks for the
// zip of a version, compares its sum with what the checksum database (GOSUMDB) has signed, and keeps both in a cache.
//
// goproxy must not know what the source is for.
package goproxy

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"hawser.dev/hawser/internal/cuegen"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/toolchain"
)

// Limits of what is read.
const (
	maxZip      = 64 << 20
	maxList     = 4 << 20
	maxFile     = 8 << 20
	maxDownload = 32 << 20
	maxFiles    = 20000
	// maxUnpacked is what all files of a zip may become: no module has more, as the go command has it.
	maxUnpacked = 500 << 20
)

// Options of a Client.
type Options struct {
	// Getenv reads GOPROXY, GOSUMDB, GONOSUMDB and GOPRIVATE, which mean what they mean to the go command.
	Getenv func(string) string
	// Dir keeps what was got; "" keeps nothing.
	Dir string
	// Redact is applied to what proxies say; nil leaves it as it is.
	Redact func(string) string
	// Tell is called with each credential before it is sent, so that Redact knows it; nil tells nobody.
	Tell func(credential string)
}

// Client gets Go modules.
type Client struct {
	opts Options
	http *http.Client
}

var _ toolchain.GoModules = (*Client)(nil)

// New returns a Client.
func New(opts Options) *Client {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	return &Client{opts: opts, http: httpclient.New(httpclient.Options{Tell: opts.Tell})}
}

func (c *Client) failure(code, what string, err error, fix string) error {
	f := diag.Errorf(code, "%s", what)
	if err != nil {
		f.Why = err.Error()
	}
	if c.opts.Redact != nil {
		f.Why = c.opts.Redact(f.Why)
	}
	f.Fix = fix
	return diag.Findings{f}.Err()
}

// mismatch is the code of the finding that a sum is not the signed one.
const mismatch = "go-sum-mismatch"

const fixProxy = "GOPROXY names the module proxies, as for the go command"

// proxies are the URLs of GOPROXY; direct and off are none.
func (c *Client) proxies() (out []string) {
	text := cmp.Or(c.opts.Getenv("GOPROXY"), "https://proxy.golang.org")
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' }) {
		if p = strings.TrimRight(strings.TrimSpace(p), "/"); p != "direct" && p != "off" && p != "" {
			out = append(out, p)
		}
	}
	return out
}

// get asks the proxies one after the other; a version that one does not have may be at the next.
func (c *Client) get(ctx context.Context, path string, limit int64) ([]byte, error) {
	err := errors.New("no proxy is named")
	for _, p := range c.proxies() {
		var data []byte
		if data, err = c.fetch(ctx, p+path, limit); err == nil {
			return data, nil
		}
	}
	return nil, err
}

// fetch reads one URL: https, http to this machine, or file.
func (c *Client) fetch(ctx context.Context, address string, limit int64) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the proxy's URL cannot be read")
	}
	if u.Scheme == "file" {
		return rootfs.ReadFile(filepath.FromSlash(u.Path), int(limit))
	}
	if u.Scheme != "https" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" && u.Hostname() != "::1" {
		return nil, fmt.Errorf("%s is not asked without https", u.Host)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			ue.URL = u.Redacted()
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", u.Host, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s sends more than %d bytes", u.Host, limit)
	}
	return data, err
}

// Download gets a file over https, for definitions that others publish.
func (c *Client) Download(ctx context.Context, address string) ([]byte, error) {
	data, err := c.fetch(ctx, address, maxDownload)
	if err != nil {
		return nil, c.failure("download", "the file cannot be had", err, "download it yourself and name the file")
	}
	return data, nil
}

// Versions asks for the list of a module's versions.
func (c *Client) Versions(ctx context.Context, mod string) ([]string, error) {
	escaped, err := module.EscapePath(mod)
	if err != nil {
		return nil, err
	}
	data, err := c.get(ctx, "/"+escaped+"/@v/list", maxList)
	if err != nil {
		if known := c.kept(escaped); len(known) > 0 {
			return known, nil
		}
		return nil, c.failure("go-proxy", "the versions of "+mod+" cannot be listed", err, fixProxy)
	}
	return strings.Fields(string(data)), nil
}

// kept are the versions in the cache.
func (c *Client) kept(escaped string) (out []string) {
	if c.opts.Dir == "" {
		return nil
	}
	zips, err := filepath.Glob(filepath.Join(c.opts.Dir, filepath.FromSlash(escaped), "@v", "v*.zip"))
	if err != nil {
		return nil
	}
	for _, z := range zips {
		out = append(out, strings.TrimSuffix(filepath.Base(z), ".zip"))
	}
	return out
}

// Source gets a version's zip, from the cache when it is there, checks its sum and reads its Go files.
func (c *Client) Source(ctx context.Context, mod, version string) (cuegen.Source, string, error) {
	escaped, err := module.EscapePath(mod)
	if err != nil {
		return nil, "", err
	}
	name, err := module.EscapeVersion(version)
	if err != nil {
		return nil, "", err
	}
	data, kept, err := c.zip(ctx, escaped, name)
	if err != nil {
		return nil, "", c.failure("go-proxy", "the source of "+mod+" "+version+" cannot be had", err, fixProxy)
	}
	z, sum, err := sumOf(data)
	if err != nil {
		return nil, "", c.failure("go-zip", mod+" "+version+" is damaged", err, "")
	}
	if err := c.check(ctx, mod, version, sum); err != nil {
		if diag.From(err, "")[0].Code == mismatch && kept != "" {
			_ = os.Remove(kept) // so that the next run asks again
		}
		return nil, "", err
	}
	src, err := read(z, mod, version)
	if err != nil {
		return nil, "", c.failure("go-zip", mod+" "+version+" cannot be read", err, "")
	}
	return src, sum, nil
}

// sumOf opens a zip and computes its sum, as the checksum database has it.
func sumOf(data []byte) (*zip.Reader, string, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, "", err
	}
	if len(z.File) > maxFiles {
		return nil, "", fmt.Errorf("more than %d files", maxFiles)
	}
	files, names := map[string]*zip.File{}, []string{}
	left := uint64(maxUnpacked)
	for _, f := range z.File {
		if f.UncompressedSize64 > left { // what it says is all that is read of it
			return nil, "", fmt.Errorf("its files become more than %d MiB", maxUnpacked>>20)
		}
		left -= f.UncompressedSize64
		if files[f.Name] != nil {
			return nil, "", fmt.Errorf("%q is in it twice", f.Name)
		}
		files[f.Name], names = f, append(names, f.Name)
	}
	sum, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
	return z, sum, err
}

// zip is a version's zip, from the cache or the proxy: others may write the cache at any time, so it is read once. kept is
// its file in the cache, "" when there is none.
func (c *Client) zip(ctx context.Context, escaped, version string) (data []byte, kept string, err error) {
	if c.opts.Dir != "" {
		kept = filepath.Join(c.opts.Dir, filepath.FromSlash(escaped), "@v", version+".zip")
		if data, err := rootfs.ReadFile(kept, maxZip); err == nil {
			return data, kept, nil
		}
	}
	data, err = c.get(ctx, "/"+escaped+"/@v/"+version+".zip", maxZip)
	if err != nil || kept == "" || keep(kept, data) != nil {
		kept = ""
	}
	return data, kept, err
}

// keep writes a file of the cache as a whole.
func keep(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { // the cache's directory may be among what is made
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// skipped are files that hold no types a person wrote.
var skipped = lazyregexp.New(`(_test|\.pb|^zz_generated\..*|^generated\..*)\.go$`)

// read reads the Go files of a zip, each below the import path of its package.
func read(z *zip.Reader, mod, version string) (cuegen.Source, error) {
	src, prefix := cuegen.Source{}, mod+"@"+version+"/"
	total := int64(0)
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok || !fs.ValidPath(name) || !strings.HasSuffix(name, ".go") || skipped.MatchString(path.Base(name)) || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		data, err := open(f)
		if err != nil {
			return nil, err
		}
		if total += int64(len(data)); total > maxZip {
			return nil, fmt.Errorf("more than %d bytes of source", maxZip)
		}
		pkg := path.Join(mod, path.Dir(name))
		if src[pkg] == nil {
			src[pkg] = map[string][]byte{}
		}
		src[pkg][path.Base(name)] = data
	}
	return src, nil
}

func open(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", f.Name, maxFile)
	}
	return data, errors.Join(err, r.Close())
}
