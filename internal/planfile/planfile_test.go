package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

func sample() File {
	return File{Request: json.RawMessage(`{"files":["a<b>.yaml"]}`), Plan: json.RawMessage(`{"verb":"apply","n":1}`), Salt: []byte("0123456789abcdef")}
}

func encoded(t *testing.T, f File, key Key) []byte {
	t.Helper()
	text, err := f.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What a seal says of a file that is as it was, that was changed anywhere, and that another key or none sealed.
func TestSeal(t *testing.T) {
	key, other := Key(strings.Repeat("k", keySize)), Key(strings.Repeat("o", keySize))
	text := string(encoded(t, sample(), key))
	for _, c := range []struct {
		reason string
		text   string
		key    Key
		want   Seal
	}{
		{"as it was", text, key, Sound},
		{"other white space is no change", strings.ReplaceAll(text, "\n", "\n\t "), key, Sound},
		{"a change in the plan", strings.Replace(text, `"n": 1`, `"n": 2`, 1), key, Edited},
		{"a key twice in the plan", strings.Replace(text, `"n": 1`, `"n": 1, "n": 2`, 1), key, Edited},
		{"a change in the request", strings.Replace(text, "a\\u003cb", "c\\u003cb", 1), key, Edited},
		{"another salt", strings.Replace(text, "3031", "3131", 1), key, Edited},
		{"a cut MAC", strings.Replace(text, `"mac": "`, `"mac": "00`, 1), key, Edited},
		{"a MAC that is none", strings.Replace(text, `"mac": "`, `"mac": "x`, 1), key, Edited},
		{"another user's", text, other, Unknown},
		{"no key here", text, nil, Unknown},
		{"not sealed", string(encoded(t, sample(), nil)), key, Unknown},
		{"the key's name was changed", strings.Replace(text, key.ID(), "0000", 1), key, Unknown},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f, err := Decode(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Sealed(c.key); got != c.want {
				t.Errorf("the seal is %s, want %s", got, c.want)
			}
		})
	}
}

// A file is named by all that is read of it, whoever sealed it: white space and the seal are no part, everything else is.
func TestID(t *testing.T) {
	id := func(text string) string {
		f, err := Decode(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		name, err := f.ID()
		if err != nil || !strings.HasPrefix(name, "sha256:") {
			t.Fatalf("%q, %v", name, err)
		}
		return name
	}
	text := string(encoded(t, sample(), Key(strings.Repeat("k", keySize))))
	for _, same := range []string{string(encoded(t, sample(), nil)), strings.ReplaceAll(text, "\n", "\n\t ")} {
		if id(same) != id(text) {
			t.Errorf("another name: %s", same)
		}
	}
	for _, other := range []string{strings.Replace(text, `"n": 1`, `"n": 2`, 1), strings.Replace(text, "a\\u003cb", "c\\u003cb", 1), strings.Replace(text, "3031", "3131", 1)} {
		if other == text || id(other) == id(text) {
			t.Errorf("the same name: %s", other)
		}
	}
}

// Files that are no plans: each says what it looks like, names the file and says what to do.
func TestNotAPlan(t *testing.T) {
	whole := string(encoded(t, sample(), nil))
	for _, c := range []struct{ reason, text, want string }{
		{"empty", " \n", "it is empty"},
		{"a bundle", "bundle:\n  name: shop\n", "hawser apply -f "},
		{"a manifest", `{"apiVersion":"v1","kind":"ConfigMap"}`, "hawser apply -f "},
		{"Terraform's", "PK\x03\x04xyz", "Terraform"},
		{"cut", whole[:len(whole)/2], "ends in the middle"},
		{"another document", `{"kind":"canary"}`, "another kind than hawser.dev/plan"},
		{"a list", `[1]`, "is not a plan file"},
		{"some text", "canary\n", "no JSON of that kind"},
		{"another type", `{"kind":"hawser.dev/plan","v":"canary"}`, "no JSON of that kind"},
		{"an older one", `{"kind":"hawser.dev/plan","v":1,"salt":"00","request":{},"plan":{}}`, "version 1"},
		{"a newer one", `{"kind":"hawser.dev/plan","v":9,"salt":"00","request":{},"plan":{}}`, "version 9"},
		{"no plan", `{"kind":"hawser.dev/plan","v":3,"salt":"00","request":{},"plan":null}`, "holds no plan"},
		{"no salt", `{"kind":"hawser.dev/plan","v":3,"request":{},"plan":{}}`, "salt"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "shop.plan")
			if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			_, err = Decode(file)
			fe, ok := errors.AsType[*diag.FindingsError](err)
			if !ok || len(fe.Findings) != 1 || fe.Findings[0].Fix == "" {
				t.Fatalf("no finding with a way out: %v", err)
			}
			if got := fe.Error(); strings.Contains(got, "canary") || strings.Contains(got, "'c'") || !strings.Contains(got, c.want) || !strings.Contains(got, name) {
				t.Errorf("%s\nwant %q and the file's name", got, c.want)
			}
		})
	}
}

func TestKeyedDigests(t *testing.T) {
	a, b := NewDigests([]byte("salt-1")), NewDigests([]byte("salt-2"))
	if a.Key("sha256:1") == b.Key("sha256:1") || !strings.HasPrefix(a.Key("sha256:1"), "keyed:") || a.Key(a.Key("sha256:1")) != a.Key("sha256:1") {
		t.Error("digests are keyed by their file's salt, once")
	}
	for _, c := range []struct {
		saved, now string
		want       bool
	}{
		{"sha256:1", "sha256:1", true}, {"sha256:1", "sha256:2", false}, {"", "", true}, {"", "sha256:1", false},
		{a.Key("sha256:1"), "sha256:1", true}, {a.Key("sha256:1"), "sha256:2", false}, {b.Key("sha256:1"), "sha256:1", false},
		{a.Key("sha256:1"), "", false}, {"keyed:unavailable", "sha256:1", false},
	} {
		if got := a.Same(c.saved, c.now); got != c.want {
			t.Errorf("%q and %q: %t", c.saved, c.now, got)
		}
	}
}

// The key is made once, for its user alone, also by many processes at once; one that others may read is refused.
func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	file := DefaultKeyFile(func(name string) string {
		if name == "XDG_STATE_HOME" {
			return dir
		}
		return ""
	})
	if key, err := file.Read(); key != nil || err != nil {
		t.Fatalf("no key was made yet: %v %v", key, err)
	}
	keys := make([]Key, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := file.Make()
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != keySize || !bytes.Equal(k, keys[0]) {
			t.Fatal("not one key")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "hawser", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(file.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v %v", info.Mode(), err)
	}
	if err := os.Chmod(file.Path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("a key that others may read: %v", err)
	}
	if err := errors.Join(os.Chmod(file.Path, 0o600), os.WriteFile(file.Path, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Make(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged key: %v", err)
	}
	if _, err := (KeyFile{}).Make(); err == nil {
		t.Error("a key without a place")
	}
}

func FuzzDecode(f *testing.F) {
	text, err := sample().Encode(Key(strings.Repeat("k", keySize)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"kind":"hawser.dev/plan","v":3,"salt":"00","request":{},"plan":{},"seal":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		if file.Sealed(Key("x")) == Sound {
			t.Error("a key that never sealed anything finds a seal sound")
		}
		again, err := file.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(bytes.NewReader(again)); err != nil {
			t.Errorf("what was read is not what is written: %v", err)
		}
	})
}
