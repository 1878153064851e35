package oci

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/testregistry"
)

// A token service with a private address is not asked by a public name, whatever form the address has, nor under another name than that of the registry;
// what is wrong is told with what has to be otherwise.
func TestPrivateRealms(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var asked atomic.Int64
	tokens := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(tokens.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(tokens.URL, "http://"), ":")
	registry := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
		realm := map[string]string{"meta": "https://169.254.169.254", "nat": "https://[64:ff9b::a9fe:a9fe]", "six": "https://[2002:a9fe:a9fe::1]", "bench": "https://198.18.0.1", "name": "https://inside.example:" + port}[host]
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`/token",service="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(registry.Close)
	o := httpclient.Options{AnyCertificate: true, Retries: -1,
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(map[string]string{"registry.example": "93.184.215.14", "inside.example": "10.0.0.1"}[host])}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, registry.Listener.Addr().String())
		}}
	for _, to := range []string{"meta", "nat", "six", "bench", "name"} {
		var a Access
		if _, err := a.Give("ada:pa55word"); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{Access: a, HTTP: o}).Tag(t.Context(), "oci://registry.example/"+to+"/x:1.0.0", "latest")
		if f := diag.From(err, ""); len(f) != 1 || f[0].Code != "registry-realm" || !strings.Contains(f[0].Fix, "the host name of the registry itself") || strings.Contains(err.Error(), "pa55") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests came to a private token service", asked.Load())
	}
}

// A registry over TLS that sends for a token to where there is no TLS gets no credentials sent there, neither at once nor by a redirect of
// its own token service; both are named.
func TestTokensOverTLSAlone(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var asked atomic.Int64
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = fmt.Fprint(w, `{"token":"x"}`)
	}))
	t.Cleanup(plain.Close)
	for name, redirects := range map[string]bool{"the realm": false, "a redirect of the realm": true} {
		r := testregistry.Start(t, testregistry.Options{TLS: true, User: "ada", Password: "pa55word", Token: true})
		r.Fail(func(w http.ResponseWriter, req *http.Request) bool {
			switch {
			case redirects && req.URL.Path == "/token":
				http.Redirect(w, req, plain.URL+"/token", http.StatusTemporaryRedirect)
			case !redirects && req.Header.Get("Authorization") == "":
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="test"`, plain.URL))
				w.WriteHeader(http.StatusUnauthorized)
			default:
				return false
			}
			return true
		})
		for _, given := range []string{"ada:pa55word", "an-identity-token"} {
			var a Access
			if _, err := a.Give(given); err != nil {
				t.Fatal(err)
			}
			c := New(Options{Access: a, HTTP: httpclient.Options{AnyCertificate: true, Retries: -1}})
			_, err := c.Tag(t.Context(), r.OCI("mods/x")+":1.0.0", "latest")
			if err == nil {
				t.Fatalf("%s, %s: it went well", name, given)
			}
			if given == "an-identity-token" { // it is sent to the registry itself, and to no realm
				continue
			}
			for _, want := range []string{r.Host, plain.URL, "no credentials go there", "token service over https"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q is not named: %v", name, want, err)
				}
			}
			if strings.Contains(err.Error(), "pa55") {
				t.Errorf("%s: the password is shown: %v", name, err)
			}
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests came to where there is no TLS", asked.Load())
	}
}
