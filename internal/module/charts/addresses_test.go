package charts

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
)

// TestAddressesOfAnIndex: the address that an index names leads where a redirect may: not into the private network from the public one, by
// whatever name; and what authenticates in the repository's address goes to no other server.
func TestAddressesOfAnIndex(t *testing.T) {
	s := serve(t, "1.0.0")
	secure := httptest.NewUnstartedServer(s)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	data := s.archives["/charts/files/app-1.0.0.tgz"]
	addresses := map[string]string{"a.example": "198.51.100.1", "b.example": "198.51.100.3", "inside.example": "10.0.0.1", "other.example": "10.0.0.2", "localhost": "127.0.0.1"}
	for _, c := range []struct {
		from, to, code string
		kept           bool
	}{
		{from: "a.example", to: "files/x.tgz", kept: true}, {from: "a.example", to: "https://b.example/x.tgz"}, {from: "a.example", to: "//b.example/x.tgz"},
		{from: "inside.example", to: "https://other.example/x.tgz"}, {from: "inside.example", to: "https://a.example/x.tgz"}, {from: "localhost", to: "/x.tgz", kept: true},
		{from: "a.example", to: "https://10.0.0.1/x.tgz", code: "chart-private"}, {from: "a.example", to: "https://169.254.169.254/x.tgz", code: "chart-private"},
		{from: "a.example", to: "//inside.example/x.tgz", code: "chart-private"}, {from: "a.example", to: "https://localhost/x.tgz", code: "chart-private"},
		{from: "a.example", to: "https://[::1]/x.tgz", code: "chart-private"}, {from: "a.example", to: "https://unknown.example/x.tgz", code: "chart-repository"},
		{from: "a.example", to: "file:///etc/passwd", code: "chart-plain-http"},
	} {
		var sent atomic.Pointer[string]
		s.index = "entries: {app: [{version: 1.0.0, digest: " + hexOf(data) + ", urls: ['" + c.to + "']}]}\n"
		s.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "x.tgz") {
				return false
			}
			given := r.URL.RawQuery
			sent.Store(&given)
			_, _ = w.Write(data)
			return true
		}
		f := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), HTTP: httpclient.Options{AnyCertificate: true, Retries: -1,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, secure.Listener.Addr().String())
			}, Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
				a, err := netip.ParseAddr(addresses[host])
				return []netip.Addr{a}, err
			}}})
		_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+https://" + c.from + "/charts?token=" + canary, Chart: "app"})
		got := sent.Load()
		switch {
		case c.code != "":
			if err == nil || got != nil {
				t.Errorf("from %s to %s: %v", c.from, c.to, err)
				continue
			}
			wantFinding(t, err, c.code)
		case err != nil || got == nil:
			t.Errorf("from %s to %s: %v", c.from, c.to, err)
		case strings.Contains(*got, canary) != c.kept:
			t.Errorf("from %s to %s: %q was sent", c.from, c.to, *got)
		}
	}
}

// TestIndexThatGrows: 60 KB on the way may become all that is read of an index; what of that becomes gigabytes when it is understood is
// refused before.
func TestIndexThatGrows(t *testing.T) {
	for name, text := range map[string]string{
		"list": "x: [1" + strings.Repeat(",1", 4_000_000) + "]\n", "maps": "entries: {app: [{}" + strings.Repeat(",{}", 2_000_000) + "]}\n", "lines": "x:\n" + strings.Repeat("-\n", 4_000_000),
	} {
		if _, err := parseIndex([]byte(text + "entries: {app: [{version: 1.0.0}]}\n")); err == nil || !strings.Contains(err.Error(), "more than 3000000 values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIndexOfOtherLines: neither the line ends that YAML has beside the usual ones nor another encoding leads past that bound.
func TestIndexOfOtherLines(t *testing.T) {
	const size = 60 << 20
	const head = "entries: {app: [{version: 1.0.0}]}\nx:\n"
	wide := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	for name, c := range map[string]struct{ text, want string }{
		"U+0085": {head + strings.Repeat("-\u0085", size/3), "more than 3000000 values"}, "U+2028": {head + strings.Repeat("-\u2028", 4_000_000), "more than 3000000 values"},
		"U+2029": {head + strings.Repeat("-\u2029", 4_000_000), "more than 3000000 values"}, "keys": {head + strings.Repeat("a:\u0085", 4_000_000), "more than 3000000 values"},
		"UTF-16LE": {"\xff\xfe" + wide(head) + strings.Repeat(wide("-\n"), size/4), "no text in UTF-8"},
		"NUL":      {head + " - \x00\n", "no text in UTF-8"}, "Latin-1": {head + " - \xe9\n", "no text in UTF-8"},
	} {
		began := time.Now()
		if _, err := parseIndex([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: refused after %s", name, took)
		}
	}
	if ix, err := parseIndex([]byte("\ufeffentries:\u0085  app:\u2028  - version: 1.0.0\u2029    description: \u00e9\n")); err != nil || len(ix.Entries["app"]) != 1 {
		t.Errorf("one in UTF-8: %v, %v", ix, err)
	}
}
