package goproxy

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"

	"hawser.dev/hawser/internal/diag"
)

const mod, version = "example.com/api", "v0.34.1"

// zipped is a module's zip.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(mod + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// proxy is a module proxy that also serves a checksum database, as the real one does.
type proxy struct {
	*httptest.Server
	zip      []byte
	key      string
	requests atomic.Int32
	// meanwhile is done while the checksum database is asked.
	meanwhile func()
}

func start(t *testing.T, files map[string]string) *proxy {
	t.Helper()
	p := &proxy{zip: zipped(t, files)}
	name := filepath.Join(t.TempDir(), "signed.zip")
	if err := os.WriteFile(name, p.zip, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(name, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := note.GenerateKey(rand.Reader, "sums.example.com")
	if err != nil {
		t.Fatal(err)
	}
	p.key = public
	database := sumdb.NewServer(sumdb.NewTestServer(private, func(path, v string) ([]byte, error) {
		if path != mod || v != version {
			return nil, errors.New("unknown")
		}
		return []byte(mod + " " + version + " " + sum + "\n" + mod + " " + version + "/go.mod h1:x\n"), nil
	}))
	mux := http.NewServeMux()
	mux.Handle("/sumdb/sums.example.com/", http.StripPrefix("/sumdb/sums.example.com", database))
	mux.HandleFunc("/"+mod+"/@v/list", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("v0.34.0\nv0.34.1\n")) })
	mux.HandleFunc("/"+mod+"/@v/"+version+".zip", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(p.zip) })
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.requests.Add(1); p.meanwhile != nil && strings.HasPrefix(r.URL.Path, "/sumdb/") {
			p.meanwhile()
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) client(dir string, more map[string]string) *Client {
	return New(Options{Dir: dir, Getenv: func(name string) string {
		if v, ok := more[name]; ok {
			return v
		}
		return map[string]string{"GOPROXY": p.URL + ",direct", "GOSUMDB": p.key}[name]
	}})
}

var files = map[string]string{"apps/v1/types.go": "package v1\n", "apps/v1/types_test.go": "package v1\n", "apps/v1/generated.pb.go": "package v1\n",
	"apps/v1/zz_generated.deepcopy.go": "package v1\n", "go.mod": "module " + mod + "\n", "../escape.go": "package x\n"}

// TestSource: the source is what the checksum database has signed; it is kept, and then needs nobody.
func TestSource(t *testing.T) {
	p, dir := start(t, files), t.TempDir()
	src, sum, err := p.client(dir, nil).Source(t.Context(), mod, version)
	if err != nil {
		t.Fatal(err)
	}
	if len(src) != 1 || len(src[mod+"/apps/v1"]) != 1 || src[mod+"/apps/v1"]["types.go"] == nil || !strings.HasPrefix(sum, "h1:") {
		t.Errorf("got %v %s", src, sum)
	}
	all, err := p.client(dir, nil).Versions(t.Context(), mod)
	if err != nil || !slices.Equal(all, []string{"v0.34.0", "v0.34.1"}) {
		t.Errorf("versions %v %v", all, err)
	}
	p.Close()
	if _, again, err := p.client(dir, nil).Source(t.Context(), mod, version); err != nil || again != sum {
		t.Errorf("without a proxy: %s %v", again, err)
	}
	if all, err := p.client(dir, nil).Versions(t.Context(), mod); err != nil || !slices.Equal(all, []string{version}) {
		t.Errorf("versions without a proxy: %v %v", all, err)
	}
}

// TestSourceRefuses: what was not signed is not used, and not kept.
func TestSourceRefuses(t *testing.T) {
	for _, c := range []struct {
		name, code string
		do         func(p *proxy, dir string) *Client
	}{
		{"another zip", mismatch, func(p *proxy, dir string) *Client {
			p.zip = zipped(t, map[string]string{"apps/v1/types.go": "package evil\n"})
			return p.client(dir, nil)
		}},
		{"the cache was changed", mismatch, func(p *proxy, dir string) *Client {
			at := filepath.Join(dir, mod, "@v", version+".zip")
			if err := keep(at, zipped(t, map[string]string{"apps/v1/types.go": "package evil\n"})); err != nil {
				t.Fatal(err)
			}
			return p.client(dir, nil)
		}},
		{"not a zip", "go-zip", func(p *proxy, dir string) *Client { p.zip = []byte("hello"); return p.client(dir, nil) }},
		{"another key", "go-sum", func(p *proxy, dir string) *Client {
			_, public, err := note.GenerateKey(rand.Reader, "sums.example.com")
			if err != nil {
				t.Fatal(err)
			}
			return p.client(dir, map[string]string{"GOSUMDB": public})
		}},
		{"no proxy", "go-proxy", func(p *proxy, dir string) *Client { return p.client(dir, map[string]string{"GOPROXY": "off"}) }},
		{"no TLS", "go-proxy", func(p *proxy, dir string) *Client {
			return p.client(dir, map[string]string{"GOPROXY": "http://proxy.example.com"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, _, err := c.do(start(t, files), dir).Source(t.Context(), mod, version)
			fs := diag.From(err, "none")
			if len(fs) != 1 || fs[0].Code != c.code {
				t.Errorf("error %v, want %s", err, c.code)
			}
			if _, err := os.Stat(filepath.Join(dir, mod, "@v", version+".zip")); c.code == mismatch && err == nil {
				t.Error("it was kept")
			}
		})
	}
}

// TestCacheThatIsWrittenMeanwhile: what is used is what was compared with the sum, whatever others write in the cache in
// between.
func TestCacheThatIsWrittenMeanwhile(t *testing.T) {
	p, dir := start(t, files), t.TempDir()
	p.meanwhile = func() {
		if err := keep(filepath.Join(dir, mod, "@v", version+".zip"), zipped(t, map[string]string{"evil/evil.go": "package evil\n"})); err != nil {
			t.Error(err)
		}
	}
	src, _, err := p.client(dir, nil).Source(t.Context(), mod, version)
	if err != nil || len(src) != 1 || src[mod+"/apps/v1"] == nil {
		t.Errorf("%v %v", src, err)
	}
	if _, _, err := p.client(dir, nil).Source(t.Context(), mod, version); len(diag.From(err, "")) == 0 || diag.From(err, "")[0].Code != mismatch {
		t.Errorf("what is in the cache now: %v", err)
	}
}

// TestUnchecked: GOSUMDB=off and GONOSUMDB mean what they mean to the go command.
func TestUnchecked(t *testing.T) {
	for name, value := range map[string]string{"GOSUMDB": "off", "GONOSUMDB": "example.com/*", "GOPRIVATE": "example.com"} {
		p := start(t, files)
		p.zip = zipped(t, map[string]string{"a/a.go": "package a\n"})
		p.meanwhile = func() { t.Errorf("%s=%s: the checksum database is asked", name, value) }
		src, sum, err := p.client("", map[string]string{name: value}).Source(t.Context(), mod, version)
		if err != nil || len(src) != 1 || len(src[mod+"/a"]) != 1 || src[mod+"/a"]["a.go"] == nil || !strings.HasPrefix(sum, "h1:") {
			t.Errorf("%s=%s: %v %s %v", name, value, src, sum, err)
		}
	}
}

// TestDownload: https, and this machine; nothing else.
func TestDownload(t *testing.T) {
	p := start(t, files)
	if data, err := p.client("", nil).Download(t.Context(), p.URL+"/"+mod+"/@v/list"); err != nil || len(data) == 0 {
		t.Errorf("%q %v", data, err)
	}
	for _, address := range []string{p.URL + "/none", "http://example.com/crd.yaml", "ftp://example.com/x", "::"} {
		if _, err := p.client("", nil).Download(t.Context(), address); err == nil {
			t.Errorf("%s was read", address)
		}
	}
}
