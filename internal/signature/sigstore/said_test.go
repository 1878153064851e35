package sigstore

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/signature"
)

// TestNoRedirects: whoever answers a request for an identity token, or one with it, sends it nowhere else.
func TestNoRedirects(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			elsewhere.Add(1)
			_, _ = w.Write([]byte(`{"value": "a.b.c"}`))
		}))
		defer other.Close()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) }))
		defer server.Close()
		s := New(Options{Getenv: func(name string) string {
			return map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": server.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "tok"}[name]
		}})
		if _, err := s.Signer(t.Context(), signature.Sign{}); err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: %v", code, err)
		}
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("e30."+base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"ada","email":"ada@example.com","email_verified":true,"iss":"https://i.example"}`))+".c2ln"), 0o600); err != nil {
			t.Fatal(err)
		}
		signing, err := New(Options{}).Signer(t.Context(), signature.Sign{TokenFile: token, Fulcio: server.URL})
		if err == nil {
			_, err = signing.Bundle(t.Context(), ours)
		}
		if err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("Fulcio, %d: %v", code, err)
		}
		if n := elsewhere.Load(); n != 0 {
			t.Errorf("%d: %d requests went where the answers pointed", code, n)
		}
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
