package charts

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// TestVersionsOfAnIndex: what a repository calls a version and is none is not taken: it would stand in hawser.lock and in what is said.
func TestVersionsOfAnIndex(t *testing.T) {
	digest := strings.Repeat("a1", 32)
	const odd = `"1.0.0\n::error::x"`
	for _, bad := range []string{odd, `""`, `"latest"`, `"1.0.0 correct-horse"`, `"\u202e1.0.0"`, `"1.0.0-` + strings.Repeat("a", 300) + `"`} {
		ix, err := parseIndex([]byte("entries: {app: [{version: " + bad + ", digest: " + digest + ", urls: [a.tgz]}, {version: 1.2.3, urls: [b.tgz]}, {version: v1.1, urls: [c.tgz]}]}"))
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := yaml.Unmarshal([]byte(bad), &want); err != nil {
			t.Fatal(err)
		}
		choose := func(r repo) (string, error) {
			r.chart, r.url = "app", &url.URL{Scheme: "https", Host: "c.example"}
			got, err := ix.choose(r)
			return got.Version, err
		}
		for _, r := range []repo{{version: want}, {digest: "sha256:" + digest}} {
			if got, err := choose(r); err == nil && got != "1.2.3" {
				t.Errorf("%s: the version %q is taken", bad, got)
			}
		}
		for asked, want := range map[string]string{"": "1.2.3", "*": "1.2.3", "v1.1": "v1.1"} {
			if got, err := choose(repo{version: asked}); err != nil || got != want {
				t.Errorf("beside %s: %q is asked for, %q chosen: %v", bad, asked, got, err)
			}
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
	_, err = New(Options{Cache: cache.Open(cache.Options{}), Redact: redact}).Resolve(t.Context(), module.Reference{URL: module.ChartScheme + address, Chart: "a"})
	if err == nil || strings.Contains(err.Error(), "correct-horse") || !strings.Contains(err.Error(), "***") {
		t.Error(err)
	}
}
