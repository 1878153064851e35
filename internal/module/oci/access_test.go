package oci

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// A token where the registry wants a user and a password is told as that.
func TestTokenWhereAPasswordIsWanted(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	r := testregistry.Start(t, testregistry.Options{User: "ada", Password: "pa55word"})
	var a Access
	if _, err := a.Give("t0ken-canary"); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{Access: a}).Resolve(t.Context(), module.Reference{URL: r.OCI("x"), Version: "1.0.0"})
	wantCode(t, err, "registry-unauthorized", "USER:PASSWORD")
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error has the token: %v", err)
	}
}

// Credentials that are given go before Docker's, to the registry they are for and to no other.
func TestGivenCredentials(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for _, token := range []bool{false, true} {
		r := testregistry.Start(t, testregistry.Options{User: "ada", Password: "pa55:word", Token: token})
		for text, works := range map[string]bool{
			"ada:pa55:word":            true,
			r.Host + "=ada:pa55:word":  true,
			"ada:wrong":                false,
			"other.test=ada:pa55:word": false,
			"registry=ada:pa55:word":   false, // of one label, as inside of companies
			"my_reg=ada:pa55:word":     false,
			"[::1]:5000=ada:pa55:word": false,
			r.Host + "=ada:wrong":      false,
		} {
			var a Access
			if secret, err := a.Give(text); err != nil || secret == "" || !strings.HasSuffix(text, ":"+secret) {
				t.Fatal(secret, err)
			}
			c := New(Options{Access: a})
			_, err := c.Tag(t.Context(), r.OCI("mods/x")+":1.0.0", "latest")
			if unauthorized := err != nil && strings.Contains(err.Error(), "does not accept the credentials"); unauthorized == works {
				t.Errorf("token %t, %s: %v", token, text, err)
			}
			if err != nil && strings.Contains(err.Error(), "pa55") {
				t.Error("an error shows the password:", err)
			}
		}
	}
	for _, text := range []string{"", "ada:", ":x", "host.test=", "a/b=ada:pa55", "fe80::1=ada:pa55", "-x=ada:pa55", "h\u00e4fen=ada:pa55", "[x]=ada:pa55",
		"oci://ghcr.io=ada:pa55", "https://ghcr.io=TOK14", "http://reg=ada:pa55", " https://ghcr.io=x", "https://ghcr.io", "reg:5000/x=ada:pa55", "reg.example.com:443/=ada:pa55", "reg:5000 = ada:pa55", "ada=pa55"} {
		if _, err := new(Access).Give(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	var a Access
	if _, err := a.Give("a-token"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Give("docker.io=ada:x"); err != nil {
		t.Fatal(err)
	}
	for given, host := range map[string]string{"registry=ada:x": "registry", "Harbor_1:5000=ada:x": "harbor_1:5000", "[::1]:5000=ada:x": "[::1]:5000", "registry:443=a-token": "registry:443", "reg.test=a-token": "reg.test"} {
		var one Access
		if _, err := one.Give(given); err != nil {
			t.Error(given, err)
		}
		if c, ok := one.of(host); !ok || c.Username != "ada" && c.AccessToken != "a-token" {
			t.Error(given, c, ok)
		}
		for _, other := range []string{"ghcr.io", "docker.io", "registry.example.com"} {
			if _, ok := one.of(other); ok {
				t.Errorf("%s is sent to %s", given, other)
			}
		}
	}
	for _, pair := range []string{"ada:pa55w=rd", "ada:12ab/c=="} {
		if secret, err := new(Access).Give(pair); err != nil || "ada:"+secret != pair {
			t.Error(pair, secret, err)
		}
	}
	for _, token := range []string{"YWRh=", "YWRhYQ=="} {
		var one Access
		if secret, err := one.Give(token); err != nil || secret != token {
			t.Error(token, secret, err)
		}
	}
	if c, ok := a.of("ghcr.io"); !ok || c.AccessToken != "a-token" {
		t.Error(c, ok)
	}
	if c, ok := a.of("registry-1.docker.io"); !ok || c.Username != "ada" || c.AccessToken != "" {
		t.Error(c, ok)
	}
}

// A registry with a certificate that nobody vouches for is spoken to when that was said, and only then.
func TestInsecureAccess(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	r := testregistry.Start(t, testregistry.Options{TLS: true})
	a := moduleOf(t, "1.0.0", moduleFiles)
	_, err := New(Options{}).Push(t.Context(), r.OCI("mods/x"), a, module.PushOptions{Tags: []string{"1.0.0"}})
	wantCode(t, err, "registry-tls")
	if _, err := New(Options{Access: Access{Insecure: true}}).Push(t.Context(), r.OCI("mods/x"), a, module.PushOptions{Tags: []string{"1.0.0"}}); err != nil {
		t.Error(err)
	}
}

// A registry that gives back what it was sent as a tag is refused: tags stand in hawser.lock, records and every list.
func TestTagsThatAreCredentials(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	const password = "c4naryPw77Zp31Lm"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, sent, ok := r.BasicAuth()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"name":"x","tags":["1.0.0","1.0.0-%s"]}`, sent)
	}))
	t.Cleanup(echo.Close)
	var a Access
	if _, err := a.Give("ada:" + password); err != nil {
		t.Fatal(err)
	}
	url := "oci://" + strings.TrimPrefix(echo.URL, "http://") + "/x"
	_, err := New(Options{Access: a}).List(t.Context(), url, module.ListOptions{})
	_, again := New(Options{Access: a}).Resolve(t.Context(), module.Reference{URL: url, Version: "1.x"})
	for _, err := range []error{err, again} {
		if err == nil || !strings.Contains(err.Error(), "gives back credentials") || strings.Contains(err.Error(), password) {
			t.Error(err)
		}
	}
}
