package testregistry

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"testing"
)

// The registry asks for credentials, counts what it is asked, fails when told to, and is gone after Stop.
func TestRegistry(t *testing.T) {
	r := Start(t, Options{TLS: true, User: "me", Password: "secret"})
	pem, err := os.ReadFile(r.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in the CA file")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	ask := func(user string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(user, "secret")
		resp, err := client.Do(req)
		if err != nil {
			return 0
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if a, b := ask("me"), ask("you"); a != http.StatusOK || b != http.StatusUnauthorized {
		t.Errorf("right and wrong credentials: %d, %d", a, b)
	}
	if got := r.Requests(); len(got) != 2 || got[0] != "GET /v2/" {
		t.Errorf("requests %v", got)
	}
	r.Fail(Times(1, On("GET /v2", Status(http.StatusTeapot, 3))))
	if a, b := ask("me"), ask("me"); a != http.StatusTeapot || b != http.StatusOK {
		t.Errorf("a fault that happens once: %d, %d", a, b)
	}
	r.Stop()
	r.Stop()
	if got := ask("me"); got != 0 {
		t.Errorf("after Stop: %d", got)
	}
}
