package secret

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A property is a key, or keys and indices joined by dots; scalars come as they are written.
func TestLookup(t *testing.T) {
	const text = `
base: &base {user: admin, pin: 0123}
db:
  <<: *base
  password: "a\tb"
  version: 1.10
  tls: yes
  hosts: [a.example, {name: b.example}]
  none:
  empty: ""
  bin: !!binary aHVudGVyMg==
tls.key: one
tls: {key: two, crt: three}
same: *base
odd: {"admin pw": hunter2}
`
	doc, err := ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ property, want, err string }{
		{"db.password", "a\tb", ""},
		{"db.user", "admin", ""},
		{"db.pin", "0123", ""},
		{"same.pin", "0123", ""},
		{"db.version", "1.10", ""},
		{"db.tls", "yes", ""},
		{"db.bin", "hunter2", ""},
		{"db.hosts.0", "a.example", ""},
		{"db.hosts.1.name", "b.example", ""},
		{"tls.key", "one", ""}, // the longest key counts
		{"tls.crt", "three", ""},
		{"db.hosts", "", "is a list of 2"},
		{"db.hosts.2", "", "there is no"},
		{"db.hosts.01", "", "there is no"},
		{"db.none", "", "null"},
		{"db.empty", "", "\"db.empty\" is empty"},
		{"db", "", "it has the keys bin, empty, hosts, none, password, tls, version"},
		{"nothing", "", "it has the keys base, db, odd, same, tls, tls.key"},
		{"db.password.x", "", `there is no "db.password.x"; "db.password" is a single value`},
		{"db.pasword", "", `there is no "db.pasword"; "db" has the keys bin, empty, hosts, none, password, tls, version`},
		{"db.hosts.1.nam", "", `there is no "db.hosts.1.nam"; "db.hosts.1" has the keys name`},
		{"db.hosts.7", "", `"db.hosts" is a list of 2`},
		{"tls.crl", "", `there is no "tls.crl"; "tls" has the keys crt, key`},
		{"tls.key.x", "", `"tls.key" is a single value`},
		{"odd.x", "", `there is no "odd.x"; "odd" has no such key`},
	} {
		got, err := doc.Lookup(c.property)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.property, got, err, c.want, c.err)
		}
	}
}

// What is there instead of what is missing is told by its whole path, so that the nearest of it can be named; of what may be no document nothing is.
func TestMissing(t *testing.T) {
	doc, err := ParseYAML([]byte("a: {tok: x, other: y}\nb: z\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = doc.Lookup("a.tik")
	missing, ok := errors.AsType[*MissingError](err)
	if !ok || missing.Name != "a.tik" || len(missing.Have) != 2 || !slices.Contains(missing.Have, "a.tok") {
		t.Errorf("%+v", err)
	}
	_, err = doc.LookupIn("a.tik")
	if missing, ok = errors.AsType[*MissingError](err); ok && (missing.Have != nil || strings.Contains(missing.Text, "tok")) {
		t.Errorf("%+v", missing)
	}
}

func TestLookupJSON(t *testing.T) {
	doc, err := ParseJSON([]byte("{\n\t\"a\": {\"b\": [1.10, true, null, \"\\ud83d\\ude00\"], \"b.c\": \"x\"}, \"d\": 1, \"d\": 2}"))
	if err != nil {
		t.Fatal(err)
	}
	for property, want := range map[string]string{"a.b.0": "1.10", "a.b.1": "true", "a.b.3": "😀", "a.b.c": "x"} {
		if got, err := doc.Lookup(property); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", property, got, err, want)
		}
	}
	if _, err := doc.Lookup("d"); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a key that is given twice: %v", err)
	}
}

// What cannot be read is refused without a word of its content, and small files that mean large ones are.
func TestParseRefuses(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		ref := "*a" + string(rune('0'+i))
		bomb += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(ref+", ", 9) + ref + "]\n"
	}
	for _, c := range []struct {
		reason, text, want string
		json               bool
	}{
		{"bad YAML", "b: 1\na: hunter2: b\n", "near line 2", false},
		{"an alias that is not there", "a: *hunter2\n", "not valid YAML", false},
		{"several documents", "a: 1\n---\nb: 2\n", "several YAML documents", false},
		{"an alias bomb", bomb, "more than", false},
		{"an alias of itself", "a: &a [*a]\n", "more than", false},
		{"deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), "more than", false},
		{"large", "a: " + strings.Repeat("x", MaxDocument), "more than", false},
		{"a key that is a map", "{a: 1}: hunter2\n", "no text", false},
		{"bad JSON", "{\"a\":\n hunter2}", "near line 2", true},
		{"cut JSON", "{\"a\": \"hunter2\"", "not valid JSON", true},
		{"more than one JSON value", "{} {}", "not valid JSON", true},
		{"deep JSON", strings.Repeat("[", 200) + strings.Repeat("]", 200), "levels", true},
		{"large JSON", "\"" + strings.Repeat("x", MaxDocument) + "\"", "more than", true},
	} {
		parse := ParseYAML
		if c.json {
			parse = ParseJSON
		}
		_, err := parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no value", c.reason, err, c.want)
		}
	}
}

// A lookup never gives what is not in the document, whatever both are.
func FuzzLookup(f *testing.F) {
	f.Add("a: {b: [1, x]}\n", "a.b.1")
	f.Add("<<: {a: b}\n", "a")
	f.Add("{\"a\": [\"b\"]}", "a.0")
	f.Fuzz(func(t *testing.T, text, property string) {
		for _, parse := range []func([]byte) (*Node, error){ParseYAML, ParseJSON} {
			doc, err := parse([]byte(text))
			if err != nil {
				continue
			}
			if value, err := doc.Lookup(property); err != nil && value != "" {
				t.Errorf("a value beside the error: %q", value)
			}
		}
	})
}

// Entries are files below the directory and nothing else.
func TestReadEntry(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, "a.yaml"): "x", filepath.Join(dir, "certs", "tls.key"): "key", filepath.Join(outside, "s"): "hunter2",
		filepath.Join(dir, "large"): strings.Repeat("x", MaxDocument+1),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": filepath.Join(outside, "s"), "outdir": outside, "in": "a.yaml", "up": "../" + filepath.Base(outside) + "/s"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ref                  Ref
		name, property, text string
		err                  string
	}{
		{Ref{Path: "a.yaml", Property: "p"}, "a.yaml", "p", "x", ""},
		{Ref{Path: "certs", Property: "tls.key"}, "certs/tls.key", "", "key", ""},
		{Ref{Path: "certs/tls.key", Property: "p"}, "certs/tls.key", "p", "key", ""},
		{Ref{Path: "in"}, "in", "", "x", ""},
		{Ref{Path: "out"}, "", "", "", "out: "},
		{Ref{Path: "up"}, "", "", "", "up: "},
		{Ref{Path: "outdir", Property: "s"}, "", "", "", "outdir: "},
		{Ref{Path: "../" + filepath.Base(outside) + "/s"}, "", "", "", "escapes"},
		{Ref{Path: filepath.Join(outside, "s")}, "", "", "", "escapes"},
		{Ref{Path: "certs"}, "", "", "", "is no file"},
		{Ref{Path: "none", Property: "p"}, "", "", "", "there is no file none"},
		{Ref{Path: "large"}, "", "", "", "more than 1048576 bytes"},
	} {
		name, property, data, err := ReadEntry(dir, c.ref)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || data != nil {
				t.Errorf("%v: %q, %v, want %q", c.ref, data, err, c.err)
			}
			continue
		}
		if err != nil || name != c.name || property != c.property || string(data) != c.text {
			t.Errorf("%v: %q %q %q, %v", c.ref, name, property, data, err)
		}
	}
	if _, _, _, err := ReadEntry(filepath.Join(dir, "none"), Ref{Path: "a"}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("no directory: %v", err)
	}
}
