package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func fetcher(dir string) *Fetcher {
	return New(Options{Cache: cache.Open(cache.Options{Dir: dir}), HTTP: httpclient.Options{Retries: 1, Wait: time.Millisecond}})
}

const yaml = "kind: ConfigMap\n"

// serve serves a YAML file and an archive with two.
func serve(t *testing.T, o testregistry.Options) (r *testregistry.Registry, tgz string) {
	t.Helper()
	source := t.TempDir()
	o.Files = t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(os.MkdirAll(filepath.Join(source, "sub"), 0o755), os.WriteFile(filepath.Join(source, "a.yaml"), []byte(yaml), 0o600),
		os.WriteFile(filepath.Join(source, "sub", "b.yaml"), []byte(yaml), 0o600), os.WriteFile(filepath.Join(o.Files, "crds.yaml"), []byte(yaml), 0o600),
		archive.Write(t.Context(), z, source, []string{"a.yaml", "sub/b.yaml"}), z.Close(), os.WriteFile(filepath.Join(o.Files, "x.tgz"), b.Bytes(), 0o600),
		os.WriteFile(filepath.Join(o.Files, "binary"), []byte("\x00\x01"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return testregistry.Start(t, o), digestOf(b.Bytes())
}

func wantCode(t *testing.T, err error, code string, texts ...string) {
	t.Helper()
	found := diag.From(err, "not-a-finding")
	if len(found) != 1 || found[0].Code != code {
		t.Fatalf("error %v, want one finding %s", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(found[0].String(), text) {
			t.Errorf("%q does not say %q", found[0], text)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error has the credentials: %v", err)
	}
}

func TestFetch(t *testing.T) {
	r, tgz := serve(t, testregistry.Options{})
	dir := t.TempDir()
	for url, c := range map[string]struct {
		digest string
		files  []string
	}{
		"/crds.yaml": {digestOf([]byte(yaml)), []string{"crds.yaml"}}, "/crds.yaml?download=1": {digestOf([]byte(yaml)), []string{"crds.yaml"}},
		"/x.tgz": {tgz, []string{"a.yaml", "sub/b.yaml"}},
	} {
		ref := module.Reference{URL: r.URL + url, Digest: c.digest}
		got, err := fetcher(dir).Fetch(t.Context(), ref)
		if d := cmp.Diff(c.files, got.Files); d != "" || err != nil || got.Digest != c.digest {
			t.Fatalf("%s: %+v %v %s", url, got, err, d)
		}
		for _, f := range got.Files {
			if data, err := os.ReadFile(filepath.Join(got.Root, f)); err != nil || string(data) != yaml {
				t.Errorf("%s: %s is %q, %v", url, f, data, err)
			}
		}
	}
	// Everything is in the cache now: another process needs no server, and takes no tree that somebody else put there.
	if err := os.RemoveAll(filepath.Join(dir, "trees")); err != nil {
		t.Fatal(err)
	}
	for name, digest := range map[string]string{"web-crds.yaml": digestOf([]byte(yaml)), "web-manifests.yaml": tgz} {
		if _, err := cache.Open(cache.Options{Dir: dir}).Tree(t.Context(), cache.Key{Digest: digest, Variant: name}, nil, func(_ context.Context, to string) ([]byte, error) {
			return nil, errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(to, "crds.yaml"), []byte("evil"), 0o644))
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.Forget()
	r.Stop()
	if _, err := fetcher(dir).Fetch(t.Context(), module.Reference{URL: r.URL + "/x.tgz", Digest: tgz}); err != nil || len(r.Requests()) > 0 {
		t.Errorf("from the cache: %v, asked %v", err, r.Requests())
	}
	for url, digest := range map[string]string{"/crds.yaml": digestOf([]byte(yaml)), "/x.tgz": tgz} {
		got, err := fetcher(dir).Fetch(t.Context(), module.Reference{URL: r.URL + url, Digest: digest})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Files {
			if data, err := os.ReadFile(filepath.Join(got.Root, f)); err != nil || string(data) != yaml {
				t.Errorf("%s: %s is %q, %v", url, f, data, err)
			}
		}
	}
	_, err := fetcher(t.TempDir()).Fetch(t.Context(), module.Reference{URL: r.URL + "/x.tgz", Digest: tgz})
	wantCode(t, err, "web-unreachable", r.URL+"/x.tgz")
}

func TestReferences(t *testing.T) {
	digest := digestOf([]byte(yaml))
	for _, c := range []struct{ url, digest, code string }{
		{"http://example.com/x.yaml", digest, "insecure-url"}, {"https://example.com/x.yaml", "", "digest-required"},
		{"https://me:canary@example.com/x.yaml?token=canary", "", "digest-required"}, {"https://example.com/x.yaml", "sha256:1", "digest-syntax"},
		{"ftp://example.com/x", digest, "module-url"}, {"https://", digest, "module-url"}, {"https://me:canary@[::1/x", digest, "module-url"},
	} {
		_, err := fetcher("").Fetch(t.Context(), module.Reference{URL: c.url, Digest: c.digest})
		wantCode(t, err, c.code)
		_, err = fetcher("").Resolve(t.Context(), module.Reference{URL: c.url, Digest: c.digest})
		wantCode(t, err, c.code)
	}
	got, err := fetcher("").Resolve(t.Context(), module.Reference{URL: "https://example.com/x.yaml", Digest: digest})
	if err != nil || got.Digest != digest {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	r, tgz := serve(t, testregistry.Options{User: "me", Password: "canary"})
	secure := strings.Replace(r.URL, "//", "//me:canary@", 1)
	redirect := func(to string) testregistry.Fault {
		return func(w http.ResponseWriter, req *http.Request) bool {
			http.Redirect(w, req, to, http.StatusFound)
			return true
		}
	}
	if _, err := fetcher("").Fetch(t.Context(), module.Reference{URL: secure + "/x.tgz", Digest: tgz}); err != nil {
		t.Fatalf("credentials in the URL: %v", err)
	}
	for name, c := range map[string]struct {
		url, digest, code string
		fault             testregistry.Fault
		texts             []string
	}{
		"wrong credentials": {r.URL + "/x.tgz", tgz, "web-unauthorized", nil, []string{r.Host}},
		"missing":           {secure + "/none?token=canary", tgz, "web-not-found", nil, []string{r.URL + "/none"}},
		"another digest":    {secure + "/crds.yaml", tgz, "digest-mismatch", nil, []string{tgz, digestOf([]byte(yaml))}},
		"no text":           {secure + "/binary", digestOf([]byte("\x00\x01")), "web-failed", nil, []string{"neither"}},
		"broken":            {secure + "/x.tgz", tgz, "web-failed", testregistry.Status(502, -1), []string{"502"}},
		"away from HTTP":    {secure + "/x.tgz", tgz, "web-redirect", redirect("ftp://127.0.0.1/x"), nil},
		"in a circle":       {secure + "/x.tgz", tgz, "web-redirect", redirect(secure + "/x.tgz?secret=canary"), []string{"more than 5"}},
		"cut off": {secure + "/x.tgz", tgz, "web-failed", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			return true
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r.Fail(c.fault)
			_, err := fetcher(t.TempDir()).Fetch(t.Context(), module.Reference{URL: c.url, Digest: c.digest})
			wantCode(t, err, c.code, c.texts...)
		})
	}
	r.Fail(r.HangIn())
	hasty := New(Options{HTTP: httpclient.Options{Stall: 50 * time.Millisecond}})
	_, err := hasty.Fetch(t.Context(), module.Reference{URL: secure + "/x.tgz", Digest: tgz})
	wantCode(t, err, "web-timeout", "sent no more than")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hasty.Fetch(ctx, module.Reference{URL: secure + "/x.tgz", Digest: tgz}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A hostile archive is refused, a server whose certificate nobody knows too.
func TestHostile(t *testing.T) {
	r, _ := serve(t, testregistry.Options{})
	bad := append([]byte{0x1f, 0x8b}, make([]byte, 100)...)
	r.Fail(func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write(bad)
		return true
	})
	_, err := fetcher("").Fetch(t.Context(), module.Reference{URL: r.URL + "/x.tgz", Digest: digestOf(bad)})
	wantCode(t, err, "archive-refused")
	secure, tgz := serve(t, testregistry.Options{TLS: true})
	_, err = fetcher("").Fetch(t.Context(), module.Reference{URL: secure.URL + "/x.tgz", Digest: tgz})
	wantCode(t, err, "web-tls", "SSL_CERT_FILE")
}
