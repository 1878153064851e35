package oci

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/lazyregexp"
)

// EnvTokenHosts is the variable by which the user lets registries send for their tokens to a host of another name whose address may be private:
// REGISTRY=HOST, each with its port if it has one, separated by commas. What is known of the registry's credentials goes there, over TLS alone.
const EnvTokenHosts = "HAWSER_REGISTRY_TOKEN_HOSTS"

// tokenHosts are the hosts that may be asked for a registry's tokens, by registry.
func tokenHosts(text string) map[string][]string {
	out := map[string][]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if of, host, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && of != "" && host != "" {
			of = serverOf(&url.URL{Scheme: "https", Host: of})
			out[of] = append(out[of], serverOf(&url.URL{Scheme: "https", Host: host}))
		}
	}
	return out
}

// serverOf is the host and port that a URL names, in one spelling.
func serverOf(u *url.URL) string {
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443"))
}

// realms refuses challenges that send for a token from the public network into a private one, by the rule of redirects: the library's own
// knows fewer networks that are not public.
type realms struct {
	next   http.RoundTripper
	inward func(ctx context.Context, from, to *url.URL) (bool, error)
	// trusted are the user's own hosts for tokens. As the library asks no private address under another name than the registry's, a challenge
	// for one of them is handed to it with that name, below a path that nobody else can know; what it sends there goes to the host.
	trusted map[string][]string
	below   string
}

// newRealms are the realms that the user's environment trusts.
func newRealms(o Options, next http.RoundTripper) realms {
	return realms{next: next, inward: httpclient.Inward(o.HTTP), trusted: tokenHosts(o.Getenv(EnvTokenHosts)), below: "/" + rand.Text() + "/"}
}

var realm = lazyregexp.New(`(?i)\brealm\s*=\s*"?([^",\s]+)`)

// RoundTrip sends a request to whom it is for.
func (r realms) RoundTrip(req *http.Request) (*http.Response, error) {
	if path, ok := strings.CutPrefix(req.URL.Path, r.below); ok {
		return r.token(req, path)
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	challenges := resp.Header.Values("WWW-Authenticate")
	for i, challenge := range challenges {
		challenges[i] = realm.ReplaceAllStringFunc(challenge, func(param string) string { return r.renamed(req.URL, param) })
		for _, found := range realm.FindAllStringSubmatch(challenges[i], -1) {
			to, err := url.Parse(found[1])
			if err != nil || to.Host == "" {
				continue // a realm of Basic is no address
			}
			if private, err := r.inward(req.Context(), req.URL, to); err != nil || private {
				_ = resp.Body.Close()
				if err == nil {
					err = &realmError{From: req.URL.Host, To: httpclient.Plain(to)}
				}
				return nil, err
			}
		}
	}
	return resp, nil
}

// renamed is the parameter of a challenge with which the library asks a host that is trusted, and every other as it is.
func (r realms) renamed(from *url.URL, param string) string {
	text := realm.FindStringSubmatch(param)[1]
	to, err := url.Parse(text)
	if err != nil || to.Scheme != "https" || to.User != nil || to.Opaque != "" || to.Fragment != "" {
		return param
	}
	at := slices.Index(r.trusted[serverOf(from)], serverOf(to))
	if at < 0 {
		return param
	}
	as := url.URL{Scheme: from.Scheme, Host: from.Host, Path: r.below + strconv.Itoa(at) + "/" + strings.TrimPrefix(to.Path, "/"), RawQuery: to.RawQuery}
	return strings.TrimSuffix(param, text) + as.String()
}

// token sends a request for a token to the host that is trusted with it. It is sent no further.
func (r realms) token(req *http.Request, path string) (*http.Response, error) {
	number, path, _ := strings.Cut(path, "/")
	at, err := strconv.Atoi(number)
	hosts := r.trusted[serverOf(req.URL)]
	if err != nil || at < 0 || at >= len(hosts) {
		return nil, errors.New("it is no host for tokens")
	}
	to := req.Clone(req.Context())
	to.URL = &url.URL{Scheme: "https", Host: strings.TrimSuffix(hosts[at], ":443"), Path: "/" + path, RawQuery: req.URL.RawQuery}
	to.Host = ""
	resp, err := r.next.RoundTrip(to)
	if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return resp, err
	}
	_ = resp.Body.Close()
	return nil, &httpclient.RedirectError{From: httpclient.Plain(to.URL), Reason: "credentials are for the host of " + EnvTokenHosts + " alone"}
}

// realmError is a token service that is not asked.
type realmError struct{ From, To string }

func (e *realmError) Error() string {
	return fmt.Sprintf("%s, which is in the public network, sends to %s for a token, which is not", e.From, e.To)
}
