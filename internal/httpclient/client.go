// Package httpclient is the HTTP client for servers that are not trusted to answer: registries, chart repositories,
// web servers. Connecting, silence and the whole of an exchange have deadlines, busy servers are asked again within
// bounds, and redirects lead neither away from encryption nor from the public network into a private one.
//
// httpclient must not know what is fetched, nor where credentials come from.
package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"

	"hawser.dev/hawser/internal/outgoing"
)

// Options of a client. The zero value of a field is its default.
type Options struct {
	// Connect is how long connecting and the TLS handshake may take, each (default 10 s).
	Connect time.Duration
	// Stall is how long nothing may move in either direction (default 30 s), Total how long one exchange may take
	// including its body (default 15 min).
	Stall, Total time.Duration
	// Retries is how often a server that is busy or fails (429, 500, 502, 503, 504, a connection reset) is asked again
	// (default 4, negative for never); Wait is the longest pause before that, whatever the server wishes (default 10 s).
	Retries int
	Wait    time.Duration
	// Redirects is how many redirects are followed (default 5).
	Redirects int
	// AnyCertificate takes a server's certificate whoever vouches for it, and for whatever name.
	AnyCertificate bool
	// Tell is called with each credential before it is sent, so that whoever masks texts knows it; nil tells nobody.
	Tell func(credential string)
	// Lookup finds the addresses of a host, Dial connects; nil is the system's.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	o.Connect = cmp.Or(o.Connect, 10*time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	o.Total = cmp.Or(o.Total, 15*time.Minute)
	o.Retries = max(0, cmp.Or(o.Retries, 4))
	o.Wait = cmp.Or(o.Wait, 10*time.Second)
	o.Redirects = cmp.Or(o.Redirects, 5)
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: o.Connect, KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return o
}

// New makes a client. Roots of trust and proxies are the system's (SSL_CERT_FILE, HTTPS_PROXY and their kin).
func New(o Options) *http.Client {
	o = o.withDefaults()
	base := &http.Transport{
		Proxy: outgoing.Proxy(http.ProxyFromEnvironment, o.Tell), DialContext: o.Dial, TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: o.AnyCertificate}, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20,
	}
	again := &retry.Transport{Base: &guard{base: outgoing.Tell(base, o.Tell), stall: o.Stall, total: o.Total}, Policy: func() retry.Policy {
		return &retry.GenericPolicy{Retryable: worthwhile, Backoff: retry.ExponentialBackoff(min(o.Wait, 250*time.Millisecond), 2, 0.1),
			MinWait: min(o.Wait, 100*time.Millisecond), MaxWait: o.Wait, MaxRetry: o.Retries}
	}}
	r := redirects{max: o.Redirects, lookup: o.Lookup}
	return &http.Client{Transport: again, CheckRedirect: r.check}
}

// worthwhile reports whether an answer is one that a second try may better. Silence is not: it was waited for.
func worthwhile(resp *http.Response, err error) (bool, error) {
	if err != nil {
		return errors.Is(err, syscall.ECONNRESET), err
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, nil
	}
	return false, nil
}

// RedirectError is a redirect that is not followed.
type RedirectError struct {
	// From and To are the URLs without user, password and query.
	From, To string
	Reason   string
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("the redirect from %s to %s is not followed: %s", e.From, e.To, e.Reason)
}

type redirects struct {
	max    int
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

func (r redirects) check(req *http.Request, via []*http.Request) error {
	first := via[0]
	refuse := func(reason string) error {
		return &RedirectError{From: Plain(first.URL), To: Plain(req.URL), Reason: reason}
	}
	switch {
	case len(via) > r.max:
		return refuse(fmt.Sprintf("there are more than %d", r.max))
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return refuse("it leaves HTTP")
	case req.URL.Scheme == "http" && first.URL.Scheme == "https":
		return refuse("it leaves TLS")
	case req.URL.Hostname() == first.URL.Hostname():
		return nil
	}
	inside, err := r.private(req.Context(), req.URL.Hostname())
	if err != nil || !inside {
		return err
	}
	if allowed, err := r.private(req.Context(), first.URL.Hostname()); err != nil || allowed {
		return err
	}
	return refuse("it leads from the public network to a private address")
}

// private reports whether a host has an address that is not of the public network.
func (r redirects) private(ctx context.Context, host string) (bool, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return notPublic(a), nil
	}
	found, err := r.lookup(ctx, host)
	for _, a := range found {
		if notPublic(a) {
			return true, nil
		}
	}
	return false, err
}

var shared = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598: between a provider and its customers

func notPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || shared.Contains(a)
}

// Plain is a URL for people: without user, password, query and fragment.
func Plain(u *url.URL) string {
	c := *u
	c.User, c.RawQuery, c.Fragment, c.ForceQuery = nil, "", "", false
	return c.String()
}

// Loopback reports whether a host (with or without port) is this machine by its very name.
func Loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// SpeaksTLS asks the server at host:port for a TLS handshake and reports whether it understands that; a server that
// does not answer is taken to.
func SpeaksTLS(ctx context.Context, hostport string, o Options) bool {
	o = o.withDefaults()
	if _, _, err := net.SplitHostPort(hostport); err != nil {
		hostport = net.JoinHostPort(hostport, "443")
	}
	ctx, cancel := context.WithTimeout(ctx, o.Connect)
	defer cancel()
	raw, err := o.Dial(ctx, "tcp", hostport)
	if err != nil {
		return true
	}
	defer func() { _ = raw.Close() }()
	// Nothing is sent over this connection: whom it reaches is checked when something is.
	err = tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	_, other := errors.AsType[tls.RecordHeaderError](err)
	return !other
}
