package charts

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// What authenticates in a repository's address is in no file of the cache, which several users may read.
func TestCacheKeepsNoCredentials(t *testing.T) {
	s := serve(t, "1.0.0")
	dir := t.TempDir()
	ref := s.ref("")
	ref.URL = strings.Replace(ref.URL, "http://", "http://me:"+canary+"@", 1) + "?token=" + canary
	if _, err := fetcher(dir).Fetch(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	files := 0
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(path+string(data), canary) {
			t.Errorf("%s: %s", path, data)
		}
		return err
	}); err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestCredentials go to the repository's host alone, and into no text.
func TestCredentials(t *testing.T) {
	s := serve(t, "1.0.0")
	var mu sync.Mutex
	leaked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		leaked = leaked || r.Header.Get("Authorization") != ""
		mu.Unlock()
		_, _ = w.Write(s.archives["/charts/files/app-1.0.0.tgz"])
	}))
	t.Cleanup(elsewhere.Close)
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user != "me" || password != canary {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if strings.HasPrefix(r.URL.Path, "/charts/files/") {
			http.Redirect(w, r, elsewhere.URL+"/x.tgz", http.StatusFound)
			return true
		}
		return false
	}
	_, err := fetcher(t.TempDir()).Fetch(t.Context(), s.ref(""))
	wantFinding(t, err, "chart-repository", "401 Unauthorized", "user and password")

	var hosts []string // what is kept for a host is asked for once, when the host asks, and goes nowhere else
	kept := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), OfHost: func(_ context.Context, host string) (string, string, error) {
		hosts = append(hosts, host)
		return "me", canary, nil
	}})
	if _, err := kept.Fetch(t.Context(), s.ref("")); err != nil || !slices.Equal(hosts, []string{strings.TrimPrefix(s.URL, "http://")}) {
		t.Errorf("asked for %q: %v", hosts, err)
	}
	unread := New(Options{Cache: cache.Open(cache.Options{Dir: t.TempDir()}), OfHost: func(context.Context, string) (string, string, error) {
		return "", "", errors.New("config.json is no JSON")
	}})
	_, err = unread.Fetch(t.Context(), s.ref(""))
	wantFinding(t, err, "chart-repository", "config.json is no JSON", "")

	ref := s.ref("")
	ref.URL = strings.Replace(ref.URL, "http://", "http://me:"+canary+"@", 1)
	if _, err := fetcher(t.TempDir()).Fetch(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if leaked {
		t.Error("another host is given the password")
	}
	s.index = "{"
	for _, change := range []func(*module.Reference){
		func(*module.Reference) {}, func(r *module.Reference) { r.Version = "9.x" }, func(r *module.Reference) { r.Chart = "none" },
		func(r *module.Reference) { r.Digest = "sha256:" + strings.Repeat("b", 64) },
		func(r *module.Reference) { r.URL += "/no-such" }, func(r *module.Reference) { r.URL = strings.Replace(r.URL, "127.0.0.1", "a b", 1) },
		func(r *module.Reference) { r.URL = strings.Replace(r.URL, "127.0.0.1", "192.0.2.1", 1) },
	} {
		r := ref
		change(&r)
		_, err := fetcher(t.TempDir()).Fetch(t.Context(), r)
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", strings.ReplaceAll(r.URL, canary, "..."), err)
		}
	}
}

// A repository that gives back what it was sent, as a version or in one, is refused: versions stand in hawser.lock, records and every list.
func TestVersionsThatAreCredentials(t *testing.T) {
	const token = "c4naryPw77Zp31Lm"
	for what, ref := range map[string]func(*repository, *module.Reference){
		"a password": func(_ *repository, r *module.Reference) {
			r.URL = strings.Replace(r.URL, "http://", "http://me:"+token+"@", 1)
		},
		"a token": func(_ *repository, r *module.Reference) { r.URL += "?token=" + token },
	} {
		s := serve(t, "1.0.0")
		s.index = "apiVersion: v1\nentries:\n  app:\n  - {name: app, version: 1.0.0-" + token + ", urls: [x.tgz]}\n"
		r := s.ref("")
		ref(s, &r)
		_, err := fetcher(t.TempDir()).Resolve(t.Context(), r)
		if wantFinding(t, err, "chart-index", "gives back credentials"); strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
