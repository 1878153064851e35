package oci

import (
	"errors"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// Access is what one run is given for registries.
type Access struct {
	// Insecure lets every registry do without TLS, and with a certificate that nobody vouches for.
	Insecure bool

	given map[string]auth.Credential // by host; "" serves those that have none
}

var givenFor = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9.-]*)(?::[0-9]+)?)=(.*)$`)

// Give adds credentials: USER:PASSWORD or TOKEN for every registry, HOST[:PORT]=USER:PASSWORD for one. It returns what of them
// is secret. The error does not hold them.
func (a *Access) Give(text string) (secret string, err error) {
	host, rest := "", text
	if m := givenFor.FindStringSubmatch(text); m != nil && (strings.ContainsAny(m[1], ".:") || m[1] == "localhost") {
		host, rest = canonicalHost(m[1]), m[2]
	}
	user, password, pair := strings.Cut(rest, ":")
	c := auth.Credential{Username: user, Password: password}
	if !pair {
		c = auth.Credential{AccessToken: rest}
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
