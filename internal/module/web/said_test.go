package web

import (
	"archive/tar"
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
)

// TestNamesInArchivesAreRedacted: what an entry of a refused archive is called is redacted, and gives no orders.
func TestNamesInArchivesAreRedacted(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: "../correct-horse\x1b[2J", Typeflag: tar.TypeReg, Mode: 0o644}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) }))
	defer server.Close()
	redact := func(text string) string { return strings.ReplaceAll(text, "correct-horse", "***") }
	_, err = New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), Redact: redact}).Fetch(t.Context(), module.Reference{URL: server.URL + "/a.tgz", Digest: digestOf(b.Bytes())})
	wantCode(t, err, "archive-refused", `../***\x1b`)
	if strings.Contains(err.Error(), "correct-horse") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
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
	_, err = New(Options{Redact: redact, HTTP: httpclient.Options{Retries: -1, Wait: time.Millisecond}}).Fetch(t.Context(), module.Reference{URL: address + "/a.yaml", Digest: "sha256:" + strings.Repeat("0", 64)})
	if err == nil || strings.Contains(err.Error(), "correct-horse") || !strings.Contains(err.Error(), "***") {
		t.Error(err)
	}
}
