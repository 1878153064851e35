package charts

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
)

// repository is an HTTP repository of the chart "app" on loopback.
type repository struct {
	*httptest.Server
	index    string
	archives map[string][]byte // by path
	requests atomic.Int64
	// answer, when set, may take a request over.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func (s *repository) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if s.answer != nil && s.answer(w, r) {
		return
	}
	if r.URL.Path == "/charts/index.yaml" {
		fmt.Fprint(w, s.index)
		return
	}
	data, ok := s.archives[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// serve starts a repository with the versions of "app".
func serve(t *testing.T, versions ...string) *repository {
	t.Helper()
	s := &repository{archives: map[string][]byte{}}
	var b strings.Builder
	b.WriteString("apiVersion: v1\nentries:\n  app:\n")
	for _, v := range versions {
		data := pack(t, v)
		s.archives["/charts/files/app-"+v+".tgz"] = data
		fmt.Fprintf(&b, "  - {name: app, version: %q, digest: %s, urls: [files/app-%s.tgz]}\n", v, hexOf(data), v)
	}
	b.WriteString("  other: []\n")
	s.index = b.String()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func hexOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func pack(t *testing.T, version string) []byte {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: v2\nname: app\nversion: " + version + "\n"
	if err := os.WriteFile(filepath.Join(root, "app", "Chart.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(archive.Write(t.Context(), z, root, []string{"app/Chart.yaml"}), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *repository) ref(version string) module.Reference {
	return module.Reference{URL: module.ChartScheme + s.URL + "/charts", Chart: "app", Version: version}
}

func fetcher(dir string) *Fetcher {
	return New(Options{Cache: cache.Open(cache.Options{Dir: dir}), HTTP: httpclient.Options{Wait: time.Millisecond}})
}

func wantFinding(t *testing.T, err error, code string, texts ...string) {
	t.Helper()
	fs := diag.From(err, "")
	if len(fs) != 1 || fs[0].Code != code {
		t.Fatalf("got %v, want %s", fs, code)
	}
	for _, text := range texts {
		if !strings.Contains(fs[0].String(), text) {
			t.Errorf("%q is not in %s", text, fs[0])
		}
	}
}

func TestVersions(t *testing.T) {
	s := serve(t, "1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "0.5.0", "1.10.1-beta.2", "v3.0.0-alpha")
	f := fetcher(t.TempDir())
	for want, got := range map[string]string{
		"": "1.10.0", "*": "1.10.0", "1.x": "1.10.0", "~1.9": "1.9.0", "<1.0.0": "0.5.0", "1.0.0": "1.0.0", "^0.5": "0.5.0",
		">=2.0.0-0": "v3.0.0-alpha", "2.0.0-rc.1": "2.0.0-rc.1", "^1.10.1-0": "1.10.1-beta.2", "v3.0.0-alpha": "v3.0.0-alpha",
	} {
		t.Run(want, func(t *testing.T) {
			res, err := f.Resolve(t.Context(), s.ref(want))
			digest := "sha256:" + hexOf(s.archives["/charts/files/app-"+got+".tgz"])
			if diff := cmp.Diff(module.Resolved{Version: got, Digest: digest}, res); diff != "" || err != nil {
				t.Errorf("%v -want +got\n%s", err, diff)
			}
		})
	}
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want one for the index", n)
	}
	_, err := f.Resolve(t.Context(), s.ref("4.x"))
	wantFinding(t, err, "chart-version", `no version "4.x"`, "the newest are v3.0.0-alpha, 2.0.0-rc.1, 1.10.1-beta.2")
	ref := s.ref("")
	ref.Chart = "othre"
	_, err = f.Resolve(t.Context(), ref)
	wantFinding(t, err, "chart-not-found", `no chart "othre"`, `did you mean "other"?`)
	ref.Chart = "other"
	_, err = f.Resolve(t.Context(), ref)
	wantFinding(t, err, "chart-version", "no stable version")
}

// TestVersionsThatAreNone: what is left out of an index is told where something is not found in it.
func TestVersionsThatAreNone(t *testing.T) {
	ix, err := parseIndex([]byte("entries: {app: [{version: latest}, {version: 1.0.0}, {version: one.two}], other: [{version: 1.0.0}]}"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ix.choose(repo{chart: "app", version: "4.x"})
	wantFinding(t, err, "chart-version", `no version "4.x"`, "of its versions in the repository's index 2 have no usable number", "the newest are 1.0.0")
	if _, err = ix.choose(repo{chart: "other", version: "4.x"}); err == nil || strings.Contains(err.Error(), "usable") {
		t.Errorf("%v", err)
	}
}

func TestFetchAndWarmCache(t *testing.T) {
	s := serve(t, "1.0.0", "1.1.0")
	dir := t.TempDir()
	c, err := fetcher(dir).Fetch(t.Context(), s.ref("1.x"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(c.Root, "Chart.yaml"))
	if err != nil || !strings.Contains(string(data), "1.1.0") || c.Version != "1.1.0" {
		t.Errorf("got %+v with %q, %v", c, data, err)
	}
	// The repository is gone: what is pinned comes from the cache, without a request, and not from a tree that somebody
	// else put there.
	s.Close()
	if err := os.RemoveAll(filepath.Join(dir, "trees")); err != nil {
		t.Fatal(err)
	}
	evil, err := cache.Open(cache.Options{Dir: dir}).Tree(t.Context(), cache.Key{Digest: c.Digest, Variant: "chart"}, nil, func(_ context.Context, to string) ([]byte, error) {
		return nil, errors.Join(os.MkdirAll(filepath.Join(to, "app"), 0o755), os.WriteFile(filepath.Join(to, "app", "Chart.yaml"), []byte("evil"), 0o644))
	})
	if err != nil || evil.Root == "" {
		t.Fatalf("%+v %v", evil, err)
	}
	ref := s.ref("1.1.0")
	ref.Digest = c.Digest
	again, err := fetcher(dir).Fetch(t.Context(), ref)
	if err != nil || again.Version != "1.1.0" {
		t.Errorf("from the cache: %+v, %v", again, err)
	}
	if now, err := os.ReadFile(filepath.Join(again.Root, "Chart.yaml")); err != nil || string(now) != string(data) {
		t.Errorf("the chart is now %q, %v", now, err)
	}
	if res, err := fetcher(dir).Resolve(t.Context(), ref); err != nil || res.Digest != c.Digest {
		t.Errorf("resolved %+v, %v", res, err)
	}
	_, err = fetcher(dir).Fetch(t.Context(), s.ref("1.x"))
	wantFinding(t, err, "chart-repository", "cannot be asked for index.yaml", "pin them")
}

func TestDigests(t *testing.T) {
	s := serve(t, "1.0.0", "1.1.0")
	pinned := "sha256:" + strings.Repeat("a", 64)
	ref := s.ref("1.0.0")
	ref.Digest = pinned
	_, err := fetcher(t.TempDir()).Fetch(t.Context(), ref)
	wantFinding(t, err, "digest-mismatch", pinned, hexOf(s.archives["/charts/files/app-1.0.0.tgz"]))

	// The archive is not what the index says.
	honest := s.archives["/charts/files/app-1.0.0.tgz"]
	s.archives["/charts/files/app-1.0.0.tgz"] = pack(t, "6.6.6")
	_, err = fetcher(t.TempDir()).Fetch(t.Context(), s.ref("1.0.0"))
	wantFinding(t, err, "digest-mismatch", hexOf(honest), hexOf(s.archives["/charts/files/app-1.0.0.tgz"]))

	// An index without digests: that of the archive counts, and a digest in the reference finds its version.
	s.archives["/charts/files/app-1.0.0.tgz"] = honest
	s.index = "entries:\n  app:\n  - {version: 1.0.0, urls: [files/app-1.0.0.tgz]}\n"
	res, err := fetcher(t.TempDir()).Resolve(t.Context(), s.ref(""))
	if err != nil || res.Digest != "sha256:"+hexOf(honest) {
		t.Errorf("got %+v, %v", res, err)
	}
	ref.Digest = "sha256:" + hexOf(honest)
	if _, err := fetcher(t.TempDir()).Fetch(t.Context(), ref); err != nil {
		t.Errorf("by its digest: %v", err)
	}
	ref.Digest = "md5:1"
	_, err = fetcher(t.TempDir()).Fetch(t.Context(), ref)
	wantFinding(t, err, "chart-digest", "md5:1")
}

const canary = "canary-password"

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) bool
		texts  []string
	}{
		"missing": {func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true }, []string{"404 Not Found", "address of the repository"}},
		"broken":  {func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true }, []string{"500"}},
		"for ever elsewhere": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}, []string{"the redirect from ", "there are more than 5"}},
		"silent": {func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, []string{"cannot be asked"}},
		"stops in the middle": {func(w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, "entries:\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}, []string{"sent no more than"}},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "entries:\n")
			return true
		}, []string{"unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, "1.0.0")
			s.answer = c.answer
			f := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}),
				HTTP: httpclient.Options{Wait: time.Millisecond, Stall: 200 * time.Millisecond}})
			_, err := f.Fetch(t.Context(), s.ref(""))
			wantFinding(t, err, "chart-repository", c.texts...)
		})
	}
	t.Run("busy, then not", func(t *testing.T) {
		var n atomic.Int64
		s := serve(t, "1.0.0")
		s.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1) > 2 {
				return false
			}
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		if _, err := fetcher(t.TempDir()).Fetch(t.Context(), s.ref("")); err != nil {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := fetcher(t.TempDir()).Fetch(ctx, serve(t, "1.0.0").ref("")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAddresses(t *testing.T) {
	for url, code := range map[string]string{
		"chart+http://charts.example.dev/x": "chart-plain-http", "chart+ftp://h/x": "chart-url", "https://h/x": "chart-url", "chart+https://": "chart-url",
	} {
		_, err := fetcher("").Resolve(t.Context(), module.Reference{URL: url, Chart: "app"})
		wantFinding(t, err, code)
	}
	_, err := fetcher("").Resolve(t.Context(), module.Reference{URL: "chart+https://h/x"})
	wantFinding(t, err, "chart-url", "no chart of https://h/x is named")

	repo, err := parse(module.Reference{URL: "chart+https://u:p@h.dev/x?token=1", Chart: "app"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"files/a.tgz": "https://h.dev/x/files/a.tgz?token=1", "/a.tgz": "https://h.dev/a.tgz?token=1", "https://o.dev/a.tgz": "https://o.dev/a.tgz",
	} {
		got, err := repo.resolve(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got.User = nil
		if got.String() != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for text, code := range map[string]string{"http://o.dev/a.tgz": "chart-plain-http", "oci://o.dev/a": "chart-index", "file:///etc/passwd": "chart-plain-http", "%zz": "chart-index"} {
		_, err := repo.resolve(text)
		wantFinding(t, err, code)
	}
}

// TestRedirectRules: an archive may be elsewhere, but neither without TLS nor where only this machine gets to, by whatever name; the
// credentials stay with the server that was asked.
func TestRedirectRules(t *testing.T) {
	s := serve(t, "1.0.0")
	secure := httptest.NewUnstartedServer(s)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	addresses := map[string]string{"a.example": "198.51.100.1", "x.a.example": "198.51.100.2", "b.example": "198.51.100.3", "inside.example": "10.0.0.1", "localhost": "127.0.0.1"}
	for _, c := range []struct {
		to   string
		ok   bool
		kept bool
	}{
		{to: "/moved", ok: true, kept: true}, {to: "https://a.example:443/moved", ok: true, kept: true},
		{to: "https://b.example/moved", ok: true}, {to: "https://x.a.example/moved", ok: true}, {to: "https://a.example:8443/moved", ok: true},
		{to: "http://a.example/moved"}, {to: "https://10.0.0.1/moved"}, {to: "https://169.254.169.254/moved"}, {to: "https://localhost/moved"},
		{to: "https://[::1]/moved"}, {to: "https://inside.example/moved"}, {to: "https://unknown.example/moved"},
	} {
		var sent atomic.Pointer[string]
		s.answer = func(w http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/charts/files/app-1.0.0.tgz":
				http.Redirect(w, r, c.to, http.StatusFound)
			case "/moved":
				given := r.Header.Get("Authorization")
				sent.Store(&given)
				_, _ = w.Write(s.archives["/charts/files/app-1.0.0.tgz"])
			default:
				return false
			}
			return true
		}
		f := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), HTTP: httpclient.Options{AnyCertificate: true, Retries: -1,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, secure.Listener.Addr().String())
			}, Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
				a, err := netip.ParseAddr(addresses[host])
				return []netip.Addr{a}, err
			}}})
		_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+https://me:" + canary + "@a.example/charts", Chart: "app"})
		got := sent.Load()
		if (err == nil) != c.ok || (got != nil) != c.ok {
			t.Errorf("to %s: %v", c.to, err)
		} else if c.ok && (*got != "") != c.kept {
			t.Errorf("%s is given %q", c.to, *got)
		}
	}
}

func TestTLS(t *testing.T) {
	s := serve(t, "1.0.0")
	secure := httptest.NewTLSServer(s)
	t.Cleanup(secure.Close)
	ref := s.ref("")
	ref.URL = module.ChartScheme + secure.URL + "/charts"
	_, err := fetcher(t.TempDir()).Fetch(t.Context(), ref)
	wantFinding(t, err, "chart-repository", "certificate")
	f := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), HTTP: httpclient.Options{AnyCertificate: true}})
	if _, err := f.Fetch(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

func TestBombs(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'j'; i++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", i-1), 9), ","))
	}
	for name, text := range map[string]string{"aliases": "entries:\n  app: *i\n", "aliases in entries": "entries: {app: [{version: *i}]}\n", "deep": strings.Repeat("[", 1<<20)} {
		if _, err := parseIndex([]byte(bomb + text)); err == nil {
			t.Errorf("%s: no error", name)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		"entries:\n  app:\n  - {version: 1.0.0, digest: ab, urls: [a.tgz]}\n", "{}", "entries: {a: null}", `{"entries":{"a":[{"version":"v1"}]}}`,
		"entries: {a: [{version: 1.0.0+b}, {version: 1.0.0+a}]}", "a: &a {b: *a}", "entries: []", "\xff",
	} {
		f.Add(seed, "app", ">=1")
	}
	f.Fuzz(func(t *testing.T, text, chart, want string) {
		ix, err := parseIndex([]byte(text))
		if err != nil {
			return
		}
		r, err := parse(module.Reference{URL: "chart+https://h.dev", Chart: "x" + chart, Version: want})
		if err != nil {
			t.Fatal(err)
		}
		r.chart = chart
		v, err := ix.choose(r)
		if err != nil {
			return
		}
		again, err := ix.choose(r)
		if err != nil || again.Version != v.Version {
			t.Errorf("chosen %q, then %q, %v", v.Version, again.Version, err)
		}
		if v.Digest != "" && !cache.ValidDigest(v.Digest) {
			t.Errorf("digest %q", v.Digest)
		}
	})
}

// A repository whose certificate nobody vouches for is refused, and the finding says how to trust it.
func TestUntrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := fetcher(t.TempDir()).Resolve(t.Context(), module.Reference{URL: module.ChartScheme + s.URL, Chart: "app", Version: "1.x"})
	wantFinding(t, err, "chart-repository", "certificate", "SSL_CERT_FILE")
}
