package oci

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/redact"
)

// echoing is a registry that refuses with what it was sent. With tokens it has a service of them, which gives one, or with refuses repeats
// what it was sent itself.
func echoing(t *testing.T, tokens, refuses bool) (host string) {
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		body, _ := io.ReadAll(r.Body)
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sent, "Basic ")); err == nil {
			sent += " or " + string(pair)
		}
		sent += " " + string(body)
		if plain, err := url.QueryUnescape(string(body)); err == nil {
			sent += " " + plain
		}
		switch {
		case r.URL.Path == "/token" && !refuses:
			_, _ = fmt.Fprint(w, `{"token":"canary-fetched.t0ken","access_token":"canary-fetched.t0ken"}`)
			return
		case r.URL.Path != "/token" && r.Header.Get("Authorization") == "" && tokens:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="test"`, s.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		case r.URL.Path != "/token" && r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":%q}]}`, strings.Repeat("x", max(0, 280-len(sent)/2))+" you said "+sent)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// A registry, or its service of tokens, that gives back what it was sent shows no credential, wherever that came from.
func TestSentCredentialsAreHidden(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("me:canary-pa55w+rd"))
	for _, x := range []struct {
		name            string
		tokens, refuses bool
		config          string // of Docker, with HOST in it
		helper          string // what it says
		given           string
		login           bool
	}{
		{name: "auth", config: `{"auths":{"HOST":{"auth":"` + auth + `"}}}`},
		{name: "auth at the service", tokens: true, refuses: true, config: `{"auths":{"HOST":{"auth":"` + auth + `"}}}`},
		{name: "fetched token", tokens: true, config: `{"auths":{"HOST":{"auth":"` + auth + `"}}}`},
		{name: "identity token", tokens: true, refuses: true, config: `{"auths":{"HOST":{"auth":"bWU6","identitytoken":"canary-ident1ty+tok/en="}}}`},
		{name: "registry token", tokens: true, config: `{"auths":{"HOST":{"registrytoken":"canary-reg1stry.token"}}}`},
		{name: "helper", helper: `{"Username":"me","Secret":"canary-help3r-secret"}`},
		{name: "helper with a token", tokens: true, refuses: true, helper: `{"Username":"<token>","Secret":"canary-help3r-token"}`},
		{name: "given", given: "me:canary-g1ven"},
		{name: "login", login: true},
		{name: "login at the service", tokens: true, refuses: true, login: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			host := echoing(t, x.tokens, x.refuses)
			dir := t.TempDir()
			t.Setenv("DOCKER_CONFIG", dir)
			if x.helper != "" {
				dir = helper(t, "echo '"+x.helper+"'\n")
			}
			if x.config != "" {
				if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(strings.ReplaceAll(x.config, "HOST", host)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := redact.New()
			o := Options{Redact: r.Redact, Tell: r.AddSent, HTTP: httpclient.Options{Retries: -1}}
			if x.given != "" {
				if _, err := o.Access.Give(x.given); err != nil {
					t.Fatal(err)
				}
			}
			c := New(o)
			said := func(err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), "you said") {
					t.Fatalf("nothing was given back: %v", err)
				}
				for _, form := range []string{"canary", "pa55", "t0k", "tok/", "bWU6Y2", "Y2FuYXJ5", "NhbmFye", "jYW5hcn", "l0gin"} {
					if _, why, _ := strings.Cut(err.Error(), "you said"); strings.Contains(why, form) {
						t.Errorf("%q is in %v", form, err)
					}
				}
			}
			if x.login {
				said(c.Login(t.Context(), host, "me", "canary-l0gin&pw"))
				return
			}
			_, err := c.Fetch(t.Context(), module.Reference{URL: "oci://" + host + "/x", Version: "1.0.0"})
			said(err)
			_, err = c.Resolve(t.Context(), module.Reference{URL: "oci://" + host + "/x", Version: "1.x"})
			said(err)
		})
	}
}
