package oci

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
)

// What Docker's configuration knows of a registry.
const byPassword, byToken, byNothing = "basic", "refresh", "anonymous"

// dockerKnows is a configuration of Docker that knows a registry.
func dockerKnows(t *testing.T, host, what string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	conf := map[string]string{byPassword: `{"auths":{"` + host + `":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("ada:pa55word")) + `"}}}`,
		byToken: `{"auths":{"` + host + `":{"identitytoken":"an-identity"}}}`, byNothing: `{"auths":{"x.test":{}}}`}[what]
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
}

// told is a request with what it has of credentials.
func told(r *http.Request) string {
	user, password, _ := r.BasicAuth()
	_ = r.ParseForm()
	return fmt.Sprintf("%s %s %s:%s %s", r.Method, r.URL.Path, user, password, r.Form.Encode())
}

// A registry whose token service has another name and a private address is used where the user names both: what is known of the registry goes
// there as for any token service, and nothing of it to the registry. For every other registry, host, port and scheme nothing is changed, and
// what the token service redirects is not sent on.
func TestTokenHosts(t *testing.T) {
	var mu sync.Mutex
	var asked, registryAsked, elsewhere []string
	note := func(list *[]string, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		*list = append(*list, told(r))
	}
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { note(&elsewhere, r) }))
	redirect := ""
	tokens := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(&asked, r)
		if redirect != "" {
			http.Redirect(w, r, redirect, http.StatusTemporaryRedirect)
			return
		}
		_, _ = fmt.Fprint(w, `{"token":"t0ken","access_token":"t0ken"}`)
	}))
	realm := ""
	registry := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(&registryAsked, r)
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="container_registry",scope="repository:mods/x:pull"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, `{}`)
	}))
	for _, s := range []*httptest.Server{other, tokens, registry} {
		t.Cleanup(s.Close)
	}
	host, at := strings.TrimPrefix(registry.URL, "https://"), strings.Replace(strings.TrimPrefix(tokens.URL, "https://"), "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		set, realm, with, redirect, code string
		want                             string
	}{
		"trusted":           {host + "=" + at, "https://" + at + "/jwt/auth?x=1", byPassword, "", "", "GET /jwt/auth ada:pa55word scope=repository%3Amods%2Fx%3Apull&service=container_registry&x=1"},
		"one of several":    {"a.test=b.test, " + host + "=b.test ," + host + "=" + strings.ToUpper(at), "https://" + at + "/jwt/auth", byPassword, "", "", "GET /jwt/auth ada:pa55word "},
		"an identity token": {host + "=" + at, "https://" + at + "/jwt/auth", byToken, "", "", "POST /jwt/auth : client_id=oras-go&grant_type=refresh_token&refresh_token=an-identity"},
		"no credentials":    {host + "=" + at, "https://" + at + "/jwt/auth", byNothing, "", "", "GET /jwt/auth : "},
		"not set":           {"", "https://" + at + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"the host alone":    {at, "https://" + at + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"of another":        {"registry.test=" + at, "https://" + at + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"another port":      {host + "=localhost", "https://" + at + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"another host":      {host + "=" + at, strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"with a user":       {host + "=" + at, "https://eve@" + at + "/jwt/auth", byPassword, "", "registry-realm", ""},
		"a comma":           {host + "=" + at, "https://" + at + ",@" + strings.TrimPrefix(other.URL, "https://") + "/x", byPassword, "", "", "GET /"},
		"without TLS":       {host + "=" + at, "http://" + at + "/jwt/auth", byPassword, "", "registry-plain-token", ""},
		"a redirect":        {host + "=" + at, "https://" + at + "/jwt/auth", byPassword, other.URL + "/x", "registry-redirect", "GET /jwt/auth ada:pa55word "},
		"a redirect, POST":  {host + "=" + at, "https://" + at + "/jwt/auth", byToken, other.URL + "/x", "registry-redirect", "POST /jwt/auth : "},
		"a redirect to it":  {host + "=" + at, "https://" + at + "/jwt/auth", byPassword, "/y", "registry-redirect", "GET /jwt/auth ada:pa55word "},
		"to the registry":   {host + "=" + at, "https://" + at + "/jwt/auth", byPassword, registry.URL + "/x", "registry-redirect", "GET /jwt/auth ada:pa55word "},
	} {
		t.Run(name, func(t *testing.T) {
			asked, registryAsked, elsewhere, realm, redirect = nil, nil, nil, c.realm, c.redirect
			dockerKnows(t, host, c.with)
			client := New(Options{HTTP: httpclient.Options{AnyCertificate: true, Retries: -1}, Getenv: func(name string) string { return map[string]string{EnvTokenHosts: c.set}[name] }})
			_, err := client.Digest(t.Context(), "oci://"+host+"/mods/x:1.0.0")
			if fs := diag.From(err, ""); len(fs) > 1 || len(fs) == 0 != (c.code == "") || len(fs) == 1 && fs[0].Code != c.code {
				t.Errorf("%v, want %q", err, c.code)
			} else if c.code == "registry-realm" && !strings.Contains(fs[0].Fix, EnvTokenHosts+"="+host+"=HOST") {
				t.Error(fs[0].Fix)
			}
			if len(asked) > 0 != (c.want != "") || c.want != "" && !strings.HasPrefix(asked[0], c.want) {
				t.Errorf("the token service was asked %q, want %q", asked, c.want)
			}
			for _, r := range registryAsked {
				if !strings.HasPrefix(r, "GET /v2/mods/x/manifests/1.0.0 : ") {
					t.Errorf("the registry was asked %q", r)
				}
			}
			if len(elsewhere) > 0 || err != nil && strings.Contains(err.Error(), "pa55") {
				t.Errorf("another server was asked %q; %v", elsewhere, err)
			}
		})
	}
}
