package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatHawserFetched: the cache of each way to name one, and the directory for state, hold no kubeconfigs of who runs it.
func TestWhatHawserFetched(t *testing.T) {
	top := t.TempDir()
	for name, value := range map[string]string{"HOME": top, "XDG_CACHE_HOME": filepath.Join(top, "c"), "XDG_STATE_HOME": filepath.Join(top, "s"), "HAWSER_CACHE_DIR": filepath.Join(top, "env")} {
		t.Setenv(name, value)
	}
	was := cacheDir
	t.Cleanup(func() { cacheDir = was })
	cacheDir = filepath.Join(top, "flag")
	for name, want := range map[string]bool{"env/x": true, "flag/x": true, "s/hawser/x": true, ".kube/x": false, "s/other/x": false} {
		at := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := filled(at); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	kept := filepath.Dir(usualCache())
	at := filepath.Join(kept, "hawser", "x")
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if !filled(at) || filled(filepath.Join(kept, "x")) {
		t.Errorf("%s: what was kept without the variable", at)
	}
}
