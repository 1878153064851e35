// Package httpclient is the HTTP client for servers that are not trusted to answer: registries, chart repositories,
// web servers, Sigstore. Connecting, silence and the whole of an exchange have deadlines, busy servers are asked again within
// bounds, and redirects lead neither away from encryption nor from the public network into a private one, nor do credentials
// go along with them.
//
// httpclient must not know what is fetched, nor where credentials come from.
package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
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
	// Redirects is how many redirects are followed (default 5). Straight takes every redirect for an error, whatever client the
	// transport is given to: for servers that are sent credentials in a body.
	Redirects int
	Straight  bool
	// AnyCertificate takes a server's certificate whoever vouches for it, and for whatever name.
	AnyCertificate bool
	// Tell is called with each credential before it is sent, so that whoever masks texts knows it; nil tells nobody.
	Tell func(credential string)
	// Proxy finds the proxy for a request, if any; nil is the environment's (HTTPS_PROXY and its kin).
	Proxy func(*http.Request) (*url.URL, error)
	// Lookup finds the addresses of a host, which is not asked for a host behind a proxy; Dial connects. nil is the system's.
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
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
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

// New makes a client. Roots of trust are the system's (SSL_CERT_FILE and its kin); it has no certificate of its own, and no cookies.
func New(o Options) *http.Client {
	o = o.withDefaults()
	base := &http.Transport{
		Proxy: outgoing.Proxy(o.Proxy, o.Tell), DialContext: o.Dial, TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: o.AnyCertificate}, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20,
	}
	var rt http.RoundTripper = &retry.Transport{Base: &guard{base: outgoing.Tell(base, o.Tell), stall: o.Stall, total: o.Total}, Policy: func() retry.Policy {
		return &retry.GenericPolicy{Retryable: worthwhile, Backoff: pause(min(o.Wait, 250*time.Millisecond)),
			MinWait: min(o.Wait, 100*time.Millisecond), MaxWait: o.Wait, MaxRetry: o.Retries}
	}}
	if o.Straight {
		rt = straight{rt}
	}
	r := redirects{max: o.Redirects, lookup: o.Lookup, proxy: o.Proxy}
	return &http.Client{Transport: rt, CheckRedirect: r.check}
}

// pause is how long a server is left alone: as long as it wishes, else longer each time.
func pause(first time.Duration) retry.Backoff {
	longer := retry.ExponentialBackoff(first, 2, 0.1)
	return func(attempt int, resp *http.Response) time.Duration {
		if resp != nil {
			if wish, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && wish > 0 {
				return time.Duration(min(wish, 3600)) * time.Second
			}
		}
		return longer(attempt, resp)
	}
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
// does not answer is taken to. It is asked through the proxy where everything for it goes through one.
func SpeaksTLS(ctx context.Context, hostport string, o Options) bool {
	o = o.withDefaults()
	if _, _, err := net.SplitHostPort(hostport); err != nil {
		hostport = net.JoinHostPort(hostport, "443")
	}
	ctx, cancel := context.WithTimeout(ctx, o.Connect)
	defer cancel()
	ask := handshake
	if proxied(o.Proxy, "https", hostport) && proxied(o.Proxy, "http", hostport) {
		ask = handshakeThere
	}
	_, other := errors.AsType[tls.RecordHeaderError](ask(ctx, hostport, o))
	return !other
}

func handshake(ctx context.Context, hostport string, o Options) error {
	raw, err := o.Dial(ctx, "tcp", hostport)
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }()
	// Nothing is sent over this connection: whom it reaches is checked when something is.
	return tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
}

var errEnough = errors.New("it speaks TLS")

// handshakeThere is handshake through a proxy; there, too, the connection ends with the handshake.
func handshakeThere(ctx context.Context, hostport string, o Options) error {
	t := &http.Transport{Proxy: outgoing.Proxy(o.Proxy, o.Tell), DialContext: o.Dial, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(tls.ConnectionState) error { return errEnough }}}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+hostport+"/", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
