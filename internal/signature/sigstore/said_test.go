package sigstore

import (
	"crypto/elliptic"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/signature"
)

// TestNoRedirects: whoever answers a request for an identity token, or one with it, sends it nowhere else.
func TestNoRedirects(t *testing.T) {
	key, _ := keyFiles(t, ecdsaKey(t, elliptic.P256()), "PRIVATE KEY", "")
	for _, code := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			elsewhere.Add(1)
			_, _ = w.Write([]byte(`{"value": "a.b.c"}`))
		}))
		defer other.Close()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"?state=canary", code) }))
		defer server.Close()
		s := New(Options{Getenv: func(name string) string {
			return map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": server.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "tok"}[name]
		}})
		_, err := s.Signer(t.Context(), signature.Sign{})
		wantRedirect(t, err, "GitHub Actions gives no token", "from "+server.URL+" to "+other.URL+" is not followed", "ACTIONS_ID_TOKEN_REQUEST_URL")
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("e30."+base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"ada","email":"ada@example.com","email_verified":true,"iss":"https://i.example"}`))+".c2ln"), 0o600); err != nil {
			t.Fatal(err)
		}
		signing, err := New(Options{}).Signer(t.Context(), signature.Sign{TokenFile: token, Fulcio: server.URL})
		if err == nil {
			_, err = signing.Bundle(t.Context(), ours)
		}
		wantRedirect(t, err, ours+" cannot be signed: the certificate authority points elsewhere", "from "+server.URL+"/api/v2/signingCert to "+other.URL+" is not followed: what is sent there, which may be a token",
			"if "+other.URL+" is the certificate authority, name it with --fulcio-url; if it is a page to log in, ask who runs the certificate authority; what was pushed stays, unsigned")
		signing, err = New(Options{}).Signer(t.Context(), signature.Sign{Key: key, Timestamps: server.URL + "/stamp"})
		if err == nil {
			_, err = signing.Bundle(t.Context(), ours)
		}
		wantRedirect(t, err, "the timestamp authority points elsewhere", "from "+server.URL+"/stamp to "+other.URL, "--timestamp-server-url")
		if n := elsewhere.Load(); n != 0 {
			t.Errorf("%d: %d requests went where the answers pointed", code, n)
		}
	}
}

// wantRedirect wants an error that holds the texts.
func wantRedirect(t *testing.T, err error, texts ...string) {
	t.Helper()
	fs := diag.From(err, "")
	if len(fs) != 1 {
		t.Fatalf("%v", err)
	}
	for _, text := range texts {
		if !strings.Contains(fs[0].String(), text) {
			t.Errorf("%q is not in %s", text, fs[0])
		}
	}
	if strings.Contains(fs[0].String(), "canary") {
		t.Errorf("the query is told: %s", fs[0])
	}
}

// TestSaidIsRedacted: what a server or a proxy gives back in an answer that is none is redacted.
func TestSaidIsRedacted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			_, _ = conn.Read(make([]byte, 1<<10))
			_, _ = conn.Write([]byte("HTTP/1.1 correct-horse no\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	address := "http://" + listener.Addr().String()
	redact := func(text string) string { return strings.ReplaceAll(text, "correct-horse", "***") }
	_, err = New(Options{Redact: redact, Getenv: func(name string) string {
		if name == "ACTIONS_ID_TOKEN_REQUEST_URL" {
			return address
		}
		return ""
	}}).Signer(t.Context(), signature.Sign{})
	if err == nil || strings.Contains(err.Error(), "correct-horse") || !strings.Contains(err.Error(), "***") {
		t.Error(err)
	}
}
