package lockfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/diag"
)

func TestWriteRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f, err := Read(path)
	if err != nil {
		t.Fatalf("a missing file is empty: %v", err)
	}
	f.Sources["file://./web"] = Pin{Digest: "sha256:1"}
	f.Sources["oci://r/web 1.x"] = Pin{Version: "1.4.2", Digest: "sha256:2"}
	news := News{Fleet: "shop", UIDs: map[string]string{"eu": "u1", "us": ""}, Servers: map[string]string{"asia": "s1"}, Lineages: map[string]string{"web": "l1"}}
	if !f.Learn(news) {
		t.Error("a new uid is news")
	}
	if f.Learn(news) {
		t.Error("what is known is no news")
	}
	if f.Learn(News{Lineages: map[string]string{"web": "l2"}}) || f.Lineages["web"] != "l1" {
		t.Error("a lineage stays")
	}
	if !f.Learn(News{Lineages: map[string]string{"web": "l2"}, TakenOver: true}) || f.Lineages["web"] != "l2" {
		t.Error("a lineage that was taken over is another one")
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
	if got.UID("shop", "eu") != "u1" || got.UID("other", "eu") != "" || got.Server("shop", "asia") != "s1" {
		t.Error("uids are kept by fleet")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file of version 1 is read, and written as the current one.
func TestVersion1(t *testing.T) {
	f, err := Parse([]byte(`{"v":1,"sources":{"file://./web":"sha256:1"},"clusters":{"shop":{"eu":"u1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := File{Sources: map[string]Pin{"file://./web": {Digest: "sha256:1"}}, Clusters: map[string]map[string]string{"shop": {"eu": "u1"}}}.filled()
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
	for name, c := range map[string]struct{ text, why string }{"version": {`{"v":4}`, "version 4"}, "no version": {`{"sources":{}}`, "version 0"}, "pin": {`{"v":2,"sources":{"a":{"hash":"x"}}}`, `unknown field "hash"`},
		"number": {`{"v":2,"sources":{"a":7}}`, "cannot unmarshal number"}, "field": {`{"v":1,"x":1}`, `unknown field "x"`}, "text": {`hello`, "invalid character 'h'"}, "empty": {``, "EOF"}, "null": {`null`, "version 0"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), Name)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), Name+" is not a lock file: ") || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%q: %v, want %s", c.text, err, c.why)
			}
		})
	}
}

// A file that cannot be read: its line, and the way out; that of a merge conflict is known.
func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		text, what, fix string
		line            int
	}{
		"a merge conflict":  {"{\n  \"v\": 3,\n  \"lineages\": {\n<<<<<<< HEAD\n    \"a\": \"1\"\n=======\n    \"b\": \"2\"\n>>>>>>> main\n  }\n}\n", "hawser.lock holds a merge conflict", "keep the lines of both sides", 4},
		"one of CRLF lines": {"{\r\n<<<<<<< HEAD\r\n", "hawser.lock holds a merge conflict", "keep the lines of both sides", 2},
		"a missing comma":   {"{\n  \"v\": 3\n  \"lineages\": {}\n}\n", "hawser.lock is not a lock file", "take it back from git", 3},
		"another version":   {"{\"v\": 99}", "hawser.lock is not a lock file", "take it back from git", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), Name)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Read(path)
			fs := diag.From(err, "x")
			if len(fs) != 1 || fs[0].What != c.what || fs[0].Pos.Line != c.line || fs[0].Pos.File != path || !strings.Contains(fs[0].Fix, c.fix) {
				t.Errorf("%+v", fs)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"sources":{"a":"b"},"clusters":{"f":{"c":"u"}}}`))
	f.Add([]byte(`{"v":3,"servers":{"f":{"c":"s"}},"lineages":{"b":"l"}}`))
	f.Add([]byte(`{"v":2,"sources":{"oci://r/a 1.x":{"version":"1.4.2","digest":"sha256:1"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := Parse(data)
		if err == nil {
			lock.Learn(News{Fleet: "f", UIDs: map[string]string{"c": "u"}, Lineages: map[string]string{"b": "l"}})
			if text, err := json.Marshal(lock); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			} else if again, err := Parse(text); err != nil || !cmp.Equal(again, lock) {
				t.Errorf("%s reads back as %v, %v", text, again, err)
			}
		}
	})
}

// TestUpdate: what others wrote since a run read the file stays, however many write at once.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	old, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	pinned := File{Sources: map[string]Pin{"oci://r/web 1.x": {Version: "1.4.2", Digest: "sha256:2"}}}
	if err := pinned.Write(path); err != nil { // by somebody else, in the meantime
		t.Fatal(err)
	}
	if len(old.Sources) != 0 {
		t.Fatal("the old file has pins already")
	}
	var wg sync.WaitGroup
	for _, name := range strings.Fields("a b c d e f g h") {
		wg.Go(func() {
			err := Update(path, func(f File) bool { return f.Learn(News{Fleet: "shop", UIDs: map[string]string{name: "u-" + name}}) })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := Read(path)
	if err != nil || len(got.Sources) != 1 || len(got.Clusters["shop"]) != 8 {
		t.Errorf("%+v, %v", got, err)
	}
	before, _ := os.Stat(path)
	if err := Update(path, func(File) bool { return false }); err != nil {
		t.Error(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("nothing was new, and the file was written")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Update(path, func(File) bool { return true }); err == nil {
		t.Error("a broken file was overwritten")
	}
}

// A process that died in an update keeps nobody out for ever.
func TestUpdateAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	busy := filepath.Join(filepath.Dir(path), "."+Name+".busy")
	if err := os.WriteFile(busy, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(busy, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := Update(path, func(f File) bool { f.Lineages["web"] = "1"; return true }); err != nil {
		t.Error(err)
	}
	if f, err := Read(path); err != nil || f.Lineages["web"] != "1" {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := os.Stat(busy); !os.IsNotExist(err) {
		t.Errorf("the mark of the crashed writer is still there: %v", err)
	}
}

// TestLinkStaysInTheRepository: a lock file that is a link out of its repository is not read, whatever is there; one that stays is.
func TestLinkStaysInTheRepository(t *testing.T) {
	repository, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(repository, ".git"), filepath.Join(repository, "a"), filepath.Join(repository, "b")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(outside, "lock"), filepath.Join(repository, "b", Name), filepath.Join(repository, ".git", "lock")} {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(repository, "a", Name)
	for to, want := range map[string]string{
		filepath.Join(outside, "lock"): "outside of", filepath.Join(outside, "none"): "outside of", "../.git/lock": ".git",
		"../b/" + Name: "not a lock file", "../b/none": "",
	} {
		_ = os.Remove(path)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if said := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(said, want) || want != "not a lock file" && strings.Contains(said, "'s'") {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
}
