package httpclient

import (
	"context"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// RedirectError is a redirect that is not followed.
type RedirectError struct {
	// From and To are the URLs without user, password and query; To is "" when the answer names none.
	From, To string
	Reason   string
}

func (e *RedirectError) Error() string {
	to := ""
	if e.To != "" {
		to = " to " + e.To
	}
	return fmt.Sprintf("the redirect from %s%s is not followed: %s", e.From, to, e.Reason)
}

// along are the headers that go along with a redirect to another server: what is asked for, and nothing of who asks.
var along = map[string]bool{"Accept": true, "Accept-Encoding": true, "Content-Type": true, "If-Match": true, "If-Modified-Since": true,
	"If-None-Match": true, "If-Range": true, "If-Unmodified-Since": true, "Range": true, "User-Agent": true}

// origin is the server that a URL names: its scheme, host and port.
func origin(u *url.URL) [3]string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return [3]string{u.Scheme, strings.ToLower(u.Hostname()), port}
}

type redirects struct {
	max    int
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	proxy  func(*http.Request) (*url.URL, error)
}

// check is http.Client's CheckRedirect. What authenticates is for the server that was asked: once the way has left it, credentials stay
// behind, and also where it comes back.
func (r redirects) check(req *http.Request, via []*http.Request) error {
	if err := r.follow(req, via); err != nil {
		return err
	}
	left := func(hop *http.Request) bool { return origin(hop.URL) != origin(via[0].URL) }
	if left(req) || slices.ContainsFunc(via, left) {
		if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); req.Body != nil && kind == "application/x-www-form-urlencoded" {
			return refusal(req, via[0], "what was sent, which may be a password, is for no other server")
		}
		maps.DeleteFunc(req.Header, func(name string, _ []string) bool { return !along[name] })
	}
	return nil
}

func refusal(req, first *http.Request, reason string) error {
	return &RedirectError{From: Plain(first.URL), To: Plain(req.URL), Reason: reason}
}

// follow is where redirects lead, and where not.
func (r redirects) follow(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > r.max:
		return refusal(req, first, fmt.Sprintf("there are more than %d", r.max))
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return refusal(req, first, "it leaves HTTP")
	case req.URL.Scheme == "http" && first.URL.Scheme == "https":
		return refusal(req, first, "it leaves TLS")
	}
	if inward, err := r.inward(req.Context(), first.URL, req.URL); err != nil || !inward {
		return err
	}
	return refusal(req, first, "it leads from the public network to a private address")
}

// inward reports whether the way from one URL to another leads from the public network into a private one.
func (r redirects) inward(ctx context.Context, from, to *url.URL) (bool, error) {
	if strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false, nil
	}
	into, _, err := r.private(ctx, to)
	if err != nil || !into {
		return false, err
	}
	_, within, err := r.private(ctx, from)
	return err == nil && !within, err
}

// Inward is the rule of redirects for an address that a server names in what it answers: it reports whether the way from its own address to
// that one leads from the public network into a private one.
func Inward(o Options) func(ctx context.Context, from, to *url.URL) (bool, error) {
	o = o.withDefaults()
	return redirects{lookup: o.Lookup, proxy: o.Proxy}.inward
}

// private reports whether any, and whether all, of the addresses of a URL's host are not of the public network: one leads inside, but whoever
// has a public name can give it a private one beside. A name that a proxy resolves is of the public network: nobody here can say more, and
// who asks for it would tell of it.
func (r redirects) private(ctx context.Context, u *url.URL) (some, all bool, err error) {
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		return notPublic(a), notPublic(a), nil
	}
	if proxied(r.proxy, u.Scheme, u.Host) {
		return false, false, nil
	}
	found, err := r.lookup(ctx, host)
	if some = slices.ContainsFunc(found, notPublic); some {
		err = nil
	}
	return some, some && !slices.ContainsFunc(found, func(a netip.Addr) bool { return !notPublic(a) }), err
}

// proxied reports whether requests to a host go through a proxy, which resolves its name.
func proxied(find func(*http.Request) (*url.URL, error), scheme, host string) bool {
	u, err := find(&http.Request{URL: &url.URL{Scheme: scheme, Host: host}})
	return err == nil && u != nil
}

// special are the networks that are not of the public one and have no method of netip.Addr (IANA's registries of special-purpose addresses).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),     // RFC 791: this network; systems take some of them for themselves
	netip.MustParsePrefix("100.64.0.0/10"), // RFC 6598: between a provider and its customers
	netip.MustParsePrefix("192.0.0.0/24"),  // RFC 6890: protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"), // RFC 2544: measurements
	netip.MustParsePrefix("240.0.0.0/4"),   // RFC 1112: reserved, and broadcast
	netip.MustParsePrefix("::/96"),         // RFC 4291: IPv4-compatible
	netip.MustParsePrefix("fec0::/10"),     // RFC 3879: site-local
}

// Networks whose addresses stand for IPv4 ones, which are behind a gateway.
var (
	translated     = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052
	translatedHere = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215, of any length
	sixToFour      = netip.MustParsePrefix("2002::/16")      // RFC 3056
)

func notPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch b := a.As16(); {
	case translatedHere.Contains(a) && b[8]|b[9]|b[10]|b[11] != 0: // the IPv4 address stands elsewhere
		return true
	case translated.Contains(a), translatedHere.Contains(a):
		a = netip.AddrFrom4([4]byte(b[12:]))
	case sixToFour.Contains(a):
		a = netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() ||
		slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// straight takes an answer that points elsewhere for an error.
type straight struct{ next http.RoundTripper }

// RoundTrip sends a request to whom it is for.
func (s straight) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return resp, err
	}
	_ = resp.Body.Close()
	refused := &RedirectError{From: Plain(r.URL), Reason: "what is sent there, which may be a token, is for no other server"}
	if at, err := resp.Location(); err == nil {
		refused.To = Plain(at)
	}
	return nil, refused
}
