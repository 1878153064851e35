// Package oci gets content from OCI registries, layouts and layout archives, and stores artifacts there: modules as
// Timoni pushes and pulls them, charts as Helm does, archives of manifests as Flux does.
//
// Content is fetched by digest alone: a tag or a range is resolved first, and what arrives is compared with the digest
// it was asked for by, manifest and layers. What was fetched once is taken from the cache without any request.
//
// oci must not know how content is rendered, nor print anything.
package oci

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/redact"
)

// EnvInsecure is the variable that lists the registries (HOST[:PORT], separated by commas) that may be spoken to
// without TLS. Registries on the loopback interface always may.
const EnvInsecure = "HAWSER_INSECURE_REGISTRIES"

// Limits of one artifact and one repository.
const (
	maxManifest = 4 << 20
	maxLayers   = 64
	maxTagPages = 100
	maxTags     = 50000
)

// DefaultListTime is how long tags of one repository are read: a registry that gives them page by page, each in time, has no end else.
const DefaultListTime = time.Minute

// Options of a client. The zero value keeps nothing and has every default.
type Options struct {
	// Cache keeps what was fetched; nil keeps nothing beyond the process.
	Cache *cache.Cache
	// HTTP is deadlines and retries.
	HTTP httpclient.Options
	// Limits bound what is extracted; Bytes also bounds the layers as they are transferred (default 512 MiB).
	Limits archive.Limits
	// Getenv looks variables up, os.Getenv by default. Docker's own (DOCKER_CONFIG) are read from the process.
	Getenv func(string) string
	// UserAgent is what registries are told, "hawser" by default.
	UserAgent string
	// Access is what goes before Docker's configuration.
	Access Access
	// ListTime bounds how long tags are read from one repository, and with details how long these are: DefaultListTime by default.
	ListTime time.Duration
	// Redact is applied to what registries say, before anything is cut from it; nil leaves it as it is.
	Redact func(string) string
	// Tell is called with each credential before it is sent, so that Redact knows it; nil tells nobody.
	Tell func(credential string)
}

func (o Options) redact(text string) string {
	if o.Redact == nil {
		return text
	}
	return o.Redact(text)
}

// Client speaks to registries. It is a module.Fetcher of oci://, and stores and copies artifacts.
type Client struct {
	o    Options
	http *http.Client
	auth *auth.Client

	store func() (credentials.Store, error)
	sent  *redact.Redactor // knows what was sent

	mu       sync.Mutex
	plain    map[string]bool            // by host: no TLS there
	resolved map[string]module.Resolved // by URL and version: one meaning per process
}

var (
	_ module.Fetcher  = (*Client)(nil)
	_ module.Registry = (*Client)(nil)
	_ module.Logins   = (*Client)(nil)
	_ module.Digests  = (*Client)(nil)
)

// New makes a client; nobody is contacted before it is used.
func New(o Options) *Client {
	if o.Cache == nil {
		o.Cache = cache.Open(cache.Options{})
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.ListTime == 0 {
		o.ListTime = DefaultListTime
	}
	if o.UserAgent == "" {
		o.UserAgent = "hawser"
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = 512 << 20
	}
	o.HTTP.AnyCertificate = o.HTTP.AnyCertificate || o.Access.Insecure
	sent := redact.New()
	o.Tell = sent.Heard(o.Tell)
	o.HTTP.Tell = o.Tell
	c := &Client{o: o, sent: sent, http: httpclient.New(o.HTTP), plain: map[string]bool{}, resolved: map[string]module.Resolved{}}
	c.store = sync.OnceValues(func() (credentials.Store, error) {
		return openDocker(helperTime)
	})
	asks := *c.http
	asks.Transport = newRealms(o, c.http.Transport)
	c.auth = &auth.Client{Client: &asks, Cache: auth.NewCache(), Header: http.Header{"User-Agent": {o.UserAgent}}, Credential: c.credential}
	return c
}

// Schemes is "oci".
func (c *Client) Schemes() []string { return []string{"oci"} }

// credential is what was given for a registry, else what Docker's configuration or its helpers know of it.
func (c *Client) credential(ctx context.Context, host string) (auth.Credential, error) {
	if given, ok := c.o.Access.of(host); ok {
		return given, nil
	}
	store, err := c.store()
	if err != nil {
		return auth.EmptyCredential, &credentialsError{err}
	}
	found, err := credentials.Credential(store)(ctx, host)
	if err != nil {
		return auth.EmptyCredential, &credentialsError{err}
	}
	return found, nil
}

// OfHost is the user and password for a host that need not be a registry: what was given for it by name, else what Docker's configuration or its
// helpers know of it; "" where there is none. What was given for every registry is for registries alone.
func (c *Client) OfHost(ctx context.Context, host string) (user, password string, err error) {
	found, ok := c.o.Access.given[canonicalHost(host)]
	if !ok {
		store, err := c.store()
		if err != nil {
			return "", "", &credentialsError{err}
		}
		if found, err = credentials.Credential(store)(ctx, host); err != nil {
			return "", "", &credentialsError{err}
		}
	}
	return found.Username, found.Password, nil
}

// credentialsError is a store of credentials that cannot be read.
type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }

// isPlain reports whether a registry is spoken to without TLS: it may be, and it does not understand TLS.
func (c *Client) isPlain(ctx context.Context, host string) bool {
	listed := slices.ContainsFunc(strings.Split(c.o.Getenv(EnvInsecure), ","), func(h string) bool { return strings.TrimSpace(h) == host })
	if !listed && !c.o.Access.Insecure && !httpclient.Loopback(host) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	plain, known := c.plain[host]
	if !known {
		plain = !httpclient.SpeaksTLS(ctx, host, c.o.HTTP)
		if ctx.Err() == nil {
			c.plain[host] = plain
		}
	}
	return plain
}

// repository is the remote repository of a place.
func (c *Client) repository(ctx context.Context, p place) *remote.Repository {
	return &remote.Repository{Client: c.auth, Reference: p.remote, PlainHTTP: c.isPlain(ctx, p.remote.Host()),
		TagListMaxPages: maxTagPages, TagListPageSize: 1000, ReferrerListMaxPages: maxTagPages, MaxMetadataBytes: maxManifest, SkipReferrersGC: true}
}
