package oci

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/lazyregexp"
)

// realms refuses challenges that send for a token from the public network into a private one, by the rule of redirects: the library's own
// knows fewer networks that are not public.
type realms struct {
	next   http.RoundTripper
	inward func(ctx context.Context, from, to *url.URL) (bool, error)
}

var realm = lazyregexp.New(`(?i)\brealm\s*=\s*"?([^",\s]+)`)

// RoundTrip sends a request to whom it is for.
func (r realms) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	for _, challenge := range resp.Header.Values("WWW-Authenticate") {
		for _, found := range realm.FindAllStringSubmatch(challenge, -1) {
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

// realmError is a token service that is not asked.
type realmError struct{ From, To string }

func (e *realmError) Error() string {
	return fmt.Sprintf("%s, which is in the public network, sends to %s for a token, which is not", e.From, e.To)
}
