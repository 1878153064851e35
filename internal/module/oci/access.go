package oci

import (
	"errors"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Access is what one run is given for registries.
type Access struct {
	// Insecure lets every registry do without TLS, and with a certificate that nobody vouches for.
	Insecure bool

	given map[string]auth.Credential // by host; "" serves those that have none
}

// givenFor parts a host from what is for it, notHost is what else can stand before a "=": a user name that only its host
// makes clear, an address that wants its brackets, a host with a path; and what begins as a URL. The "=" at the end of a
// token are its own.
var (
	givenFor = lazyregexp.New(`^((?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*)(?::[0-9]+)?)=(.*)$`)
	notHost  = lazyregexp.New(`^(?:[^:=]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*|\[.*\].*|\s*[^:=]*:[0-9]+[/\s][^=]*)=|^\s*[A-Za-z][A-Za-z0-9+.-]*://`)
	padded   = lazyregexp.New(`^[^:=]+={1,2}$`)
)

// Give adds credentials: USER:PASSWORD or TOKEN for every registry, HOST[:PORT]=USER:PASSWORD for one. It returns what of them
// is secret. The error does not hold them.
func (a *Access) Give(text string) (secret string, err error) {
	host, rest := "", text
	switch m := givenFor.FindStringSubmatch(text); {
	case padded.MatchString(text) && !strings.Contains(text, "."):
	case m != nil:
		host, rest = canonicalHost(m[1]), m[2]
	case notHost.MatchString(text): // who wrote it meant one registry: no other sees it
		return "", errors.New("what stands before the = is no HOST[:PORT] (an IPv6 address has brackets, and there is no https:// and no path); credentials with a = are given for a host: HOST=USER:PASSWORD")
	}
	user, password, pair := strings.Cut(rest, ":")
	c := auth.Credential{Username: user, Password: password}
	if !pair {
		c = auth.Credential{AccessToken: rest}
	}
	if !pair && host != "" && !strings.ContainsAny(host, ".:") && host != "localhost" { // a user name, more likely
		return "", errors.New("credentials are USER:PASSWORD, or HOST=USER:PASSWORD: what stands behind the = has no user (a token for a host of one word takes its port: HOST:443=TOKEN)")
	}
	if rest == "" || pair && (user == "" || password == "") {
		return "", errors.New("credentials are USER:PASSWORD, TOKEN, or HOST=USER:PASSWORD")
	}
	if a.given == nil {
		a.given = map[string]auth.Credential{}
	}
	a.given[host] = c
	return c.Password + c.AccessToken, nil
}

// of is what was given for a registry.
func (a Access) of(host string) (auth.Credential, bool) {
	if c, ok := a.given[canonicalHost(host)]; ok {
		return c, true
	}
	c, ok := a.given[""]
	return c, ok
}

// canonicalHost is the one name of Docker's registry, which has several.
func canonicalHost(host string) string {
	host = strings.ToLower(host)
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		return "docker.io"
	}
	return host
}
