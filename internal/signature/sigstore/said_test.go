package sigstore

import (
	"net"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/signature"
)

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
