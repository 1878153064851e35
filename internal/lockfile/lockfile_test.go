package lockfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f, err := Read(path)
	if err != nil {
		t.Fatalf("a missing file is empty: %v", err)
	}
	f.Sources["file://./web"] = Pin{Digest: "sha256:1"}
	f.Sources["oci://r/web 1.x"] = Pin{Version: "1.4.2", Digest: "sha256:2"}
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

// A file of version 1 is read, and written as version 2.
func TestVersion1(t *testing.T) {
	f, err := Parse([]byte(`{"v":1,"sources":{"file://./web":"sha256:1"},"clusters":{"shop":{"eu":"u1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := File{V: 2, Sources: map[string]Pin{"file://./web": {Digest: "sha256:1"}}, Clusters: map[string]map[string]string{"shop": {"eu": "u1"}}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("version 1 (-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), Name)
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || !cmp.Equal(got, want) {
		t.Errorf("written again it is %v, %v", got, err)
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{"version": `{"v":3}`, "pin": `{"v":2,"sources":{"a":{"hash":"x"}}}`, "number": `{"v":2,"sources":{"a":7}}`, "field": `{"v":1,"x":1}`, "text": `hello`, "empty": ``, "null": `null`} {
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
	f.Add([]byte(`{"v":2,"sources":{"oci://r/a 1.x":{"version":"1.4.2","digest":"sha256:1"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := Parse(data)
		if err == nil {
			lock.Learn("f", map[string]string{"c": "u"})
			if text, err := json.Marshal(lock); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			} else if again, err := Parse(text); err != nil || !cmp.Equal(again, lock) {
				t.Errorf("%s reads back as %v, %v", text, again, err)
			}
		}
	})
}
