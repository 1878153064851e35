// Package charts fetches charts from HTTP repositories: the version is chosen from index.yaml, the archive is checked
// with the digest the index or the reference names, and kept in the cache by it.
//
// charts must not know how a chart is rendered, where credentials are kept, nor say them: they go to the repository's own host alone, which has
// asked for them, and are never shown.
package charts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/redact"
)

// Sizes of what is read.
const (
	maxIndex   = 64 << 20
	maxArchive = 64 << 20
)

// Options of a Fetcher.
type Options struct {
	Cache *cache.Cache
	// Redact is applied to what repositories and proxies say; nil leaves it as it is.
	Redact func(string) string
	// Tell is called with each credential before it is sent, so that Redact knows it; nil tells nobody.
	Tell func(credential string)
	// OfHost is the user and password of a host (with its port where it has one) that asks for some; "" for none, and nil knows of none.
	OfHost func(ctx context.Context, host string) (user, password string, err error)
	// HTTP is deadlines and retries.
	HTTP httpclient.Options
}

// Fetcher serves chart+https:// and chart+http:// references. It reads each index once in its life. It is safe for
// concurrent use.
type Fetcher struct {
	cache  *cache.Cache
	web    *web
	redact func(string) string
	tell   func(credential string)
	sent   *redact.Redactor // knows what was sent
	inward func(ctx context.Context, from, to *url.URL) (bool, error)

	mu      sync.Mutex
	indexes map[string]*indexEntry
}

type indexEntry struct {
	mu    sync.Mutex
	index index
	done  bool
}

var _ module.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New(o Options) *Fetcher {
	sent := redact.New()
	o.HTTP.Tell = sent.Heard(o.Tell)
	return &Fetcher{sent: sent, tell: o.HTTP.Tell, cache: o.Cache, redact: o.Redact, web: &web{client: httpclient.New(o.HTTP), ofHost: o.OfHost}, inward: httpclient.Inward(o.HTTP), indexes: map[string]*indexEntry{}}
}

// Schemes are "chart+https" and "chart+http".
func (f *Fetcher) Schemes() []string {
	return []string{module.ChartScheme + "https", module.ChartScheme + "http"}
}

// Resolve chooses the version: an exact one, the newest in a range, or the newest stable one without any. The digest is
// the index's; the archive is only fetched where the index has none. With a digest and an exact version in the reference
// nothing is asked.
func (f *Fetcher) Resolve(ctx context.Context, ref module.Reference) (module.Resolved, error) {
	r, err := parse(ref)
	if err != nil {
		return module.Resolved{}, err
	}
	if ref.Digest != "" && isExact(ref.Version) {
		return module.Resolved{Version: ref.Version, Digest: ref.Digest}, nil
	}
	v, err := f.choose(ctx, r)
	if err != nil {
		return module.Resolved{}, err
	}
	if v.Digest == "" {
		if v.Digest, err = f.digestOf(ctx, r, v); err != nil {
			return module.Resolved{}, err
		}
	}
	return module.Resolved{Version: v.Version, Digest: v.Digest}, nil
}

// Fetch gets the chart. What the cache holds by the reference's digest is taken without any request. Errors are
// *diag.FindingsError, or the context's.
func (f *Fetcher) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	r, err := parse(ref)
	if err != nil {
		return module.Content{}, err
	}
	version := ref.Version
	if ref.Digest == "" {
		res, err := f.Resolve(ctx, ref)
		if err != nil {
			return module.Content{}, err
		}
		r.digest, version = res.Digest, res.Version
	}
	c, err := module.PackedChart(ctx, f.cache, r.digest, r.String(), func(ctx context.Context) (io.ReadCloser, error) {
		return f.cache.Blob(ctx, r.digest, func(ctx context.Context, w io.Writer) error {
			v, err := f.choose(ctx, r)
			if err != nil {
				return err
			}
			if v.Digest != "" && v.Digest != r.digest {
				return r.mismatch(v, v.Digest)
			}
			return f.download(ctx, r, v, w)
		})
	})
	if err != nil {
		return module.Content{}, r.explain(err)
	}
	c.Version = version
	return c, nil
}

// repo is a parsed reference.
type repo struct {
	url                    *url.URL // with credentials
	chart, version, digest string
}

// String is the chart and its repository, without credentials.
func (r repo) String() string { return r.chart + " of " + r.open() }

// open is the repository's URL for people, and for the cache: without anything that may be a credential.
func (r repo) open() string { return httpclient.Plain(r.url) }

// parse checks a reference. Plain http is for this machine, or for content pinned by a digest.
func parse(ref module.Reference) (repo, error) {
	text, ok := strings.CutPrefix(ref.URL, module.ChartScheme)
	u, err := url.Parse(text)
	if !ok || err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return repo{}, failure("chart-url", "the address of the chart's repository is not an https:// URL", "", "")
	}
	r := repo{url: u, chart: ref.Chart, version: ref.Version, digest: ref.Digest}
	if r.chart == "" {
		return repo{}, failure("chart-url", "no chart of "+r.open()+" is named", "", "set chart to its name in the repository")
	}
	if ref.Digest != "" && !cache.ValidDigest(ref.Digest) {
		return repo{}, failure("chart-digest", fmt.Sprintf("%q is no digest", ref.Digest), "", `a digest is "sha256:" and 64 hexadecimal digits`)
	}
	if u.Scheme == "http" && ref.Digest == "" && !httpclient.Loopback(u.Host) {
		return repo{}, failure("chart-plain-http", r.open()+" is not encrypted: anybody on the way could give another chart", "",
			"use https, or pin the chart with a digest")
	}
	return r, nil
}

// choose finds the version the reference means in the repository's index; a digest decides where there is one.
func (f *Fetcher) choose(ctx context.Context, r repo) (version, error) {
	ix, err := f.index(ctx, r)
	if err != nil {
		return version{}, err
	}
	return ix.choose(r)
}

// index reads a repository's index once; a failure is not kept.
func (f *Fetcher) index(ctx context.Context, r repo) (index, error) {
	f.mu.Lock()
	e := f.indexes[r.url.String()]
	if e == nil {
		e = &indexEntry{}
		f.indexes[r.url.String()] = e
	}
	f.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return e.index, nil
	}
	for _, credential := range redact.Carried(r.url.String()) {
		f.tell(credential)
	}
	var data bytes.Buffer
	if err := f.web.get(ctx, r.url, r.url.JoinPath("index.yaml"), &data, maxIndex); err != nil {
		return index{}, f.unreachable(ctx, r, "index.yaml", err)
	}
	ix, err := parseIndex(data.Bytes())
	if err != nil {
		return index{}, failure("chart-index", "the index of "+r.open()+" cannot be read", err.Error(), "is it a repository of charts?")
	}
	if f.sent.Holds(ix.versions()) { // it identifies a chart, and is masked nowhere
		return index{}, failure("chart-index", "the index of "+r.open()+" gives back credentials that were sent, as a version", "", "ask who runs the repository, and renew the credentials")
	}
	e.index, e.done = ix, true
	return ix, nil
}

// download writes the archive of a version to w.
func (f *Fetcher) download(ctx context.Context, r repo, v version, w io.Writer) error {
	if len(v.URLs) == 0 {
		return failure("chart-index", fmt.Sprintf("the index of %s has no URL for %s %s", r.open(), r.chart, v.Version), "", "")
	}
	at, err := r.resolve(v.URLs[0])
	if err != nil {
		return err
	}
	inward, err := f.inward(ctx, r.url, at)
	if inward {
		return failure("chart-private", fmt.Sprintf("the archive of %s %s is not fetched", r.chart, v.Version),
			fmt.Sprintf("the index of %s, which is in the public network, has a private address for it", r.open()), "ask who runs the repository what that is for")
	}
	if err == nil {
		err = f.web.get(ctx, r.url, at, w, maxArchive)
	}
	if err != nil {
		return f.unreachable(ctx, r, "the archive of "+r.chart+" "+v.Version, err)
	}
	return nil
}

// resolve is the address of an archive: relative ones start at the repository.
func (r repo) resolve(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil {
		return nil, failure("chart-index", "the index of "+r.open()+" has an address that is no URL", "", "")
	}
	if !at.IsAbs() {
		base := *r.url
		base.Path = strings.TrimSuffix(base.Path, "/") + "/"
		query := base.RawQuery
		base.RawQuery = ""
		at = base.ResolveReference(at)
		if at.RawQuery == "" && at.Host == base.Host { // "//HOST/..." is relative, too; what authenticates is for the repository
			at.RawQuery = query
		}
	}
	switch {
	case at.Scheme == "https", at.Scheme == "http" && (r.url.Scheme == "http" || r.digest != ""):
		return at, nil
	case at.Scheme == "oci":
		return nil, failure("chart-index", r.String()+" is kept in an OCI registry", "", "set chart to that oci:// address and remove repo")
	}
	return nil, failure("chart-plain-http", "the archive of "+r.String()+" is at an address that is not encrypted", "", "pin the chart with a digest")
}

// digestOf fetches an archive for its digest.
func (f *Fetcher) digestOf(ctx context.Context, r repo, v version) (string, error) {
	h := sha256.New()
	if err := f.download(ctx, r, v, h); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

func (r repo) mismatch(v version, got string) error {
	return failure("digest-mismatch", fmt.Sprintf("chart %s %s has digest %s, %s is wanted", r, v.Version, got, r.digest),
		"the repository gives another archive than the one that was pinned",
		"find out why it changed; then pin the digest it has now (hawser lock --upgrade)")
}

// unreachable says why a repository did not answer, without its credentials.
func (f *Fetcher) unreachable(ctx context.Context, r repo, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if se, ok := err.(*statusError); ok {
		said := diag.Errorf("chart-repository", "%s does not give %s", r.open(), what)
		said.Why, said.Fix = se.Error(), se.fix()
		return diag.Findings{said}.Err()
	}
	said := diag.Errorf("chart-repository", "%s cannot be asked for %s", r.open(), what)
	if said.Why = plainReason(err); f.redact != nil {
		said.Why = f.redact(said.Why)
	}
	said.Fix = "charts that were fetched before are in the cache: pin them (hawser lock) to do without the repository"
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		said.Fix = "add the authority behind its certificate to the system's, or name a file with it in SSL_CERT_FILE"
	}
	return diag.Findings{said}.Err()
}

func failure(code, what, why, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Why, f.Fix = why, fix
	return diag.Findings{f}.Err()
}
