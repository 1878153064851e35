package oci

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/testregistry"
)

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
