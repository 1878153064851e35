package lockfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/diag"
)

func TestWriteRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f, err := Read(path)
	if err != nil {
		t.Fatalf("a missing file is empty: %v", err)
	}
	f.Sources["file://./web"] = "sha256:1"
	if !f.Learn("shop", map[string]string{"eu": "u1", "us": ""}) {
		t.Error("a new uid is news")
	}
	if f.Learn("shop", map[string]string{"eu": "u1"}) {
		t.Error("a known uid is no news")
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Errorf("read differs (-want +got):\n%s", diff)
	}
	if got.UID("shop", "eu") != "u1" || got.UID("other", "eu") != "" {
		t.Error("uids are kept by fleet")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestStale(t *testing.T) {
	f := File{Sources: map[string]string{"a": "1", "b": "2"}}
	now := map[string]string{"a": "1", "b": "3", "c": "4"}
	if got := f.Stale(now, false); len(got) != 1 || got[0].Severity != diag.Warning {
		t.Errorf("a changed source is one warning, got %v", got)
	}
	if got := f.Stale(now, true); len(got) != 2 || !got.HasErrors() {
		t.Errorf("strictly, changed and unpinned sources are errors, got %v", got)
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{"version": `{"v":2}`, "field": `{"v":1,"x":1}`, "text": `hello`, "empty": ``, "null": `null`} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), Name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil {
				t.Errorf("%q is not a lock file", text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"sources":{"a":"b"},"clusters":{"f":{"c":"u"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := Parse(data)
		if err == nil {
			lock.Learn("f", map[string]string{"c": "u"})
			lock.Stale(map[string]string{"a": "b"}, true)
		}
	})
}
