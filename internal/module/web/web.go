// Package web fetches content from web servers: a file of manifests or a .tgz of them, by a digest that the reference
// has to name. Without TLS it fetches from this machine alone.
//
// web must not know what manifests are, nor say credentials: what is in a URL's user part or query is never shown.
package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
)

// Sizes of what is fetched.
const (
	maxArchive = 128 << 20
	maxFile    = 32 << 20
)

// Options of a Fetcher.
type Options struct {
	// Cache keeps what was fetched; nil keeps nothing beyond the process.
	Cache *cache.Cache
	// Redact is applied to what servers and proxies say; nil leaves it as it is.
	Redact func(string) string
	// HTTP is deadlines and retries.
	HTTP httpclient.Options
	// Limits bound what is extracted.
	Limits archive.Limits
	// UserAgent is what servers are told, "hawser" by default.
	UserAgent string
}

// Fetcher serves https:// references, and http:// ones to this machine.
type Fetcher struct {
	o      Options
	client *http.Client
}

var _ module.Fetcher = (*Fetcher)(nil)

// New makes a Fetcher; nobody is contacted before it is used.
func New(o Options) *Fetcher {
	if o.Cache == nil {
		o.Cache = cache.Open(cache.Options{})
	}
	if o.UserAgent == "" {
		o.UserAgent = "hawser"
	}
	return &Fetcher{o: o, client: httpclient.New(o.HTTP)}
}

// Schemes are "https" and "http".
func (f *Fetcher) Schemes() []string { return []string{"https", "http"} }

// Resolve is the digest of the reference; nobody is asked.
func (f *Fetcher) Resolve(_ context.Context, ref module.Reference) (module.Resolved, error) {
	_, err := target(ref)
	return module.Resolved{Version: ref.Version, Digest: ref.Digest}, err
}

// Fetch gets the file or archive with the reference's digest. What was fetched once is taken from the cache without a
// request. Errors are findings: no digest, another digest (both are named), what the server answered.
func (f *Fetcher) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	u, err := target(ref)
	if err != nil {
		return module.Content{}, err
	}
	name := nameOf(u)
	key := cache.Key{Digest: ref.Digest, Variant: "web-" + name, Source: httpclient.Plain(u)}
	open := func(ctx context.Context) (*os.File, error) {
		return f.o.Cache.Blob(ctx, ref.Digest, func(ctx context.Context, w io.Writer) error { return f.get(ctx, u, w) })
	}
	expect := func(ctx context.Context, _ []byte) ([]archive.File, error) {
		blob, err := open(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = blob.Close() }()
		return filesOf(ctx, blob, ref.Digest, name, f.o.Limits)
	}
	tree, err := f.o.Cache.Tree(ctx, key, expect, func(ctx context.Context, dir string) ([]byte, error) {
		blob, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(unpack(ctx, blob, dir, name, f.o.Limits), blob.Close())
	})
	if err != nil {
		return module.Content{}, f.explain(u, err)
	}
	return module.Content{Root: tree.Root, Digest: ref.Digest, Version: ref.Version, Files: tree.Files}, nil
}

// target is the URL of a reference that may be fetched.
func target(ref module.Reference) (*url.URL, error) {
	u, err := url.Parse(ref.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, failure("module-url", "the URL cannot be used", "it is not https://HOST/PATH", "")
	}
	shown := httpclient.Plain(u)
	switch {
	case u.Scheme == "http" && !httpclient.Loopback(u.Host):
		return nil, failure("insecure-url", shown+" is not fetched", "it would come without TLS", "write https://")
	case ref.Digest == "":
		return nil, failure("digest-required", shown+" has no digest", "what a web server has under a URL may change at any time",
			"fetch the file, read it, and set digest: sha256:<what sha256sum says of it>")
	case !cache.ValidDigest(ref.Digest):
		return nil, failure("digest-syntax", fmt.Sprintf("the digest of %s cannot be used", shown), "", "a digest is sha256: and 64 hexadecimal digits")
	}
	return u, nil
}

var plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(yaml|yml|json)$`)

// nameOf is the name a single file gets: the URL's, when that is one of manifests.
func nameOf(u *url.URL) string {
	if base := path.Base(u.Path); plainName.MatchString(base) {
		return base
	}
	return "manifests.yaml"
}

// statusError is an answer that is no success.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("%d %s", int(e), http.StatusText(int(e))) }

var errTooLarge = fmt.Errorf("it has more than %d MiB", maxArchive>>20)

func (f *Fetcher) get(ctx context.Context, u *url.URL, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return errors.New("no request can be made of it")
	}
	req.Header.Set("User-Agent", f.o.UserAgent)
	req.Header.Set("Accept-Encoding", "identity") // the digest is of the file, not of what it was compressed to
	resp, err := f.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which may have credentials
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return statusError(resp.StatusCode)
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, maxArchive+1))
	if n > maxArchive {
		return errTooLarge
	}
	return err
}

// filesOf are the files that unpack makes of a blob with that digest.
func filesOf(ctx context.Context, blob *os.File, digest, name string, limits archive.Limits) ([]archive.File, error) {
	r := bufio.NewReaderSize(blob, 4096)
	head, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if archive.Looks(head) {
		return archive.Sums(ctx, []archive.Source{func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}, limits)
	}
	info, err := blob.Stat()
	if err != nil {
		return nil, err
	}
	return []archive.File{{Path: name, Size: info.Size(), SHA256: strings.TrimPrefix(digest, "sha256:")}}, nil
}

// unpack makes dir of an archive, or of a single file, which is a text.
func unpack(ctx context.Context, blob *os.File, dir, name string, limits archive.Limits) error {
	r := bufio.NewReaderSize(blob, 4096)
	head, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if archive.Looks(head) {
		return archive.Extract(ctx, r, dir, limits)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxFile:
		return fmt.Errorf("as a single file it has more than %d MiB", maxFile>>20)
	case strings.ContainsRune(string(head), 0):
		return errors.New("it is neither a text nor a tar")
	}
	return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, name), data, 0o644))
}

func failure(code, what, why, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Why, f.Fix = why, fix
	return diag.Findings{f}.Err()
}
