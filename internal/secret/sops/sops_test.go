package sops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/sopstest"
)

// The files in testdata were written by sops 3.13.3, for the key in key.txt. Their plain values are these.
var plain = map[string]string{
	"db.password":          `hunter2-ü-"quoted"`,
	"db.port":              "5432",
	"db.ratio":             "0.25",
	"db.big":               "123456789012",
	"db.tls":               "true",
	"db.off":               "false",
	"db.empty":             "",
	"db.since":             "2026-11-21T10:00:00Z",
	"db.many.0":            "first",
	"db.many.1":            "second",
	"db.many.2.name":       "third",
	"db.pem":               "-----BEGIN KEY-----\nabc\n-----END KEY-----\n",
	"db.note_unencrypted":  "in the clear",
	"db.n_unencrypted":     "7",
	"db.f_unencrypted":     "1.5",
	"db.b_unencrypted":     "true",
	"big":                  "9007199254740993",
	"PASSWORD":             "hunter2",
	"PEM":                  "-----BEGIN\nabc",
	"EMPTY":                "",
	"URL":                  "postgres://u:p@h/db?x=1",
	"plain.json/db.many.1": "second",
	"plain.json/db.port":   "5432",
	"two.json/db.password": "hunter2",
	"plain.json/db.ratio":  "0.25",
	"plain.json/db.tls":    "true",
	"two.json/db.many.0":   "first",
	"plain.json/db.many.0": "first",
}

func testStore(t *testing.T, o Options) *Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = "testdata"
	}
	s := New(o)
	s.system = system{env: func(string) (string, bool) { return "", false }, configDir: func() (string, error) { return t.TempDir(), nil }}
	return s
}

// What sops encrypts is read, in every form and under every rule of what is encrypted; what is empty is told as that.
func TestReadsWhatSOPSWrites(t *testing.T) {
	s := testStore(t, Options{KeyFile: "testdata/key.txt"})
	yamls := []string{"db.password", "db.port", "db.ratio", "db.big", "db.tls", "db.off", "db.empty", "db.since", "db.many.0",
		"db.many.1", "db.many.2.name", "db.pem", "db.note_unencrypted", "db.n_unencrypted", "db.f_unencrypted", "db.b_unencrypted"}
	files := map[string][]string{
		"plain.yaml": yamls, "regex.yaml": yamls, "unregex.yaml": yamls, "suffix.yaml": yamls, "maconly.yaml": yamls,
		"comment.yaml": yamls, "uncomment.yaml": yamls,
		"plain.json": {"plain.json/db.port", "plain.json/db.many.0", "plain.json/db.many.1", "plain.json/db.ratio", "plain.json/db.tls", "big"},
		"two.json":   {"two.json/db.password", "two.json/db.many.0"},
		"plain.env":  {"PASSWORD", "PEM", "EMPTY", "URL"},
	}
	for file, properties := range files {
		for _, p := range properties {
			want, ok := plain[p]
			if !ok {
				t.Fatalf("%s is not in the table", p)
			}
			property := strings.TrimPrefix(p, file+"/")
			got, err := s.Get(t.Context(), secret.Ref{Path: file, Property: property})
			if empty := err != nil && strings.HasSuffix(err.Error(), property+`" is empty`); empty != (want == "") || !empty && err != nil || got != want {
				t.Errorf("%s %s: %q, %v, want %q", file, property, got, err, want)
			}
		}
	}
	got, err := s.Get(t.Context(), secret.Ref{Path: "tls.key"})
	if err != nil || got != "line one\nline two\n" {
		t.Errorf("binary: %q, %v", got, err)
	}
}

// What cannot be read says why, names file and key path, and no value.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	whole := read("plain.yaml")
	lines := strings.Split(whole, "\n")
	swapped := strings.NewReplacer("    password: ", "    port: ", "    port: ", "    password: ").Replace(whole)
	for _, c := range []struct{ reason, file, property, want string }{
		{"another key", "foreign.json", "big", "none of the age keys opens it: it is for age1wv"},
		{"key groups", "shamir.json", "big", "Shamir"},
		{"INI", "plain.ini", "db.password", "INI"},
		{"no property", "plain.yaml", "", "the reference names no property; it has the keys db"},
		{"no such key", "plain.yaml", "db.pass", `there is no "db.pass"`},
		{"a map", "plain.yaml", "db", `"db" is no single value`},
		{"no value", "plain.yaml", "db.nothing", "null"},
		{"not encrypted", write("open.yaml", "password: hunter2\n"), "password", "not encrypted by SOPS"},
		{"not encrypted dotenv", write("open.env", "PASSWORD=hunter2\n"), "PASSWORD", "not encrypted by SOPS"},
		{"no file", "none.yaml", "x", "there is no file none.yaml"},
		{"a value put in the clear", write("clear.yaml", strings.Replace(whole, lines[2], "    password: hunter2", 1)), "db.port", "db.password: the value is not encrypted"},
		{"a number put in the clear", write("number.yaml", strings.Replace(whole, lines[3], "    port: 1", 1)), "db.port", "db.port: the value is not encrypted"},
		{"a value left out", write("less.yaml", strings.Replace(whole, lines[3]+"\n", "", 1)), "db.password", "sops.mac"},
		{"a clear value changed", write("clear2.yaml", strings.Replace(whole, "in the clear", "by hand", 1)), "db.password", "sops.mac"},
		{"values swapped", write("swap.yaml", swapped), "db.tls", "moved here"},
		{"the time changed", write("time.yaml", strings.Replace(whole, "lastmodified: \"2026", "lastmodified: \"2025", 1)), "db.tls", "sops.mac"},
		{"no checksum", write("nomac.yaml", strings.Replace(whole, "    mac: ", "    cam: ", 1)), "db.tls", "sops.mac is missing"},
		{"other kinds of keys", write("pgp.yaml", "a: ENC[]\nsops: {pgp: [{fp: x}], kms: [{arn: y}], lastmodified: \"2026-11-21T10:00:00Z\", mac: x}\n"), "a", "encrypted for pgp, kms alone"},
		{"no keys", write("nokeys.yaml", "a: ENC[]\nsops: {mac: x}\n"), "a", "names no keys"},
		{"damaged key", write("armor.yaml", strings.Replace(whole, "YWdl", "YWdm", 1)), "db.tls", "is damaged"},
		{"two rules", write("rules.yaml", strings.Replace(whole, "    version: ", "    encrypted_suffix: x\n    version: ", 1)), "db.tls", "several rules"},
		{"a long expression", write("long.yaml", strings.Replace(whole, "    version: ", "    encrypted_regex: '["+strings.Repeat(`\pL`, 50_000)+"]'\n    version: ", 1)), "db.tls", "sops.encrypted_regex has more than 4096 bytes"},
		{"an expression that repeats", write("repeats.yaml", strings.Replace(whole, "    version: ", "    unencrypted_regex: '"+strings.Repeat(".{1000}", 500)+"'\n    version: ", 1)), "db.tls", "sops.unencrypted_regex is no regular expression that can be used"},
		{"an expression for long keys", write("keys.yaml", "? "+strings.Repeat("a", 300_000)+"\n: x\n"+strings.Replace(whole, "    unencrypted_suffix: _unencrypted\n", "    encrypted_regex: '(.{900}b|.{899}c|.{898}d|.{897}e|.{896}f)+'\n", 1)), "db.tls", "sops.encrypted_regex takes too long"},
		{"a long recipient", write("recipient.json", regexp.MustCompile(`"recipient": "`).ReplaceAllString(read("foreign.json"), `"recipient": "x`+strings.Repeat("a", 300_000))), "big", "aaa..."},
		{"two documents", write("docs.yaml", whole+"---\na: 1\n"), "db.tls", "several YAML documents"},
		{"no YAML", write("bad.yaml", "hunter2: [\n"), "db.tls", "not valid YAML"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := "testdata"
			if _, err := os.Stat(filepath.Join(dir, c.file)); err == nil {
				in = dir
			}
			s := testStore(t, Options{Dir: in, KeyFile: "testdata/key.txt"})
			got, err := s.Get(t.Context(), secret.Ref{Path: c.file, Property: c.property})
			if err == nil || got != "" {
				t.Fatalf("it gave %q", got)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
				t.Errorf("%v, want %q and the file", err, c.want)
			}
			_, unreadable := errors.AsType[*secret.UnreadableError](err)
			if about := !slices.Contains([]string{"no property", "no such key", "a map", "no value", "no file"}, c.reason); unreadable != about {
				t.Errorf("what is to be done is about the file or its key: %v", unreadable)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "5432") {
				t.Errorf("the error shows a value: %v", err)
			}
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// Keys come from where the store says, else from where sops looks; what is named must be there.
func TestKeys(t *testing.T) {
	key, err := os.ReadFile("testdata/key.txt")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile("testdata/other.txt")
	if err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	if err := os.MkdirAll(filepath.Join(config, "sops", "age"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "sops", "age", "keys.txt"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(broken, []byte("AGE-SECRET-KEY-1BROKEN"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(locked, []byte("age-encryption.org/v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		o      Options
		env    map[string]string
		dir    string
		want   string // of the error
	}{
		{reason: "a file", o: Options{KeyFile: "testdata/key.txt"}},
		{reason: "a variable", o: Options{KeyEnv: "K"}, env: map[string]string{"K": string(key)}},
		{reason: "sops's variable, several keys on a line", env: map[string]string{"SOPS_AGE_KEY": strings.TrimSpace(string(other)) + " " + strings.Split(string(key), "\n")[1]}},
		{reason: "sops's variable that names a file", env: map[string]string{"SOPS_AGE_KEY_FILE": "testdata/key.txt"}},
		{reason: "the user's file", dir: config},
		{reason: "all of sops's places together", dir: config, env: map[string]string{"SOPS_AGE_KEY": string(other)}},
		{reason: "nowhere", want: "there is no age key; looked in $SOPS_AGE_KEY (not set), $SOPS_AGE_KEY_FILE (not set)"},
		{reason: "the file is not there", o: Options{KeyFile: "testdata/none"}, want: "testdata/none"},
		{reason: "the named file is not there", env: map[string]string{"SOPS_AGE_KEY_FILE": "testdata/none"}, dir: config, want: "testdata/none"},
		{reason: "the variable is not set", o: Options{KeyEnv: "K"}, dir: config, want: "variable K with the age key is not set"},
		{reason: "another key alone", o: Options{KeyFile: "testdata/other.txt"}, dir: config, want: "looked in testdata/other.txt"},
		{reason: "no keys in it", o: Options{KeyFile: broken}, want: "something else than age keys"},
		{reason: "under a passphrase", o: Options{KeyFile: locked}, want: "passphrase"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := testStore(t, c.o)
			s.system.env = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
			if c.dir != "" {
				s.system.configDir = func() (string, error) { return c.dir, nil }
			}
			got, err := s.Get(t.Context(), secret.Ref{Path: "plain.yaml", Property: "db.many.0"})
			if c.want == "" && (err != nil || got != "first") {
				t.Errorf("%q, %v", got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, ok := errors.AsType[*secret.NoKeyError](err); c.want == "testdata/none" && !ok {
				t.Errorf("%v does not say that it is about the key", err)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET-KEY-1") {
				t.Errorf("the error shows a key: %v", err)
			}
		})
	}
}

// A file of the test writer reads back, and links out of the directory are refused.
func TestOwnWriterAndLinks(t *testing.T) {
	recipient, key := sopstest.Key(t)
	dir, keys := t.TempDir(), filepath.Join(t.TempDir(), "keys.txt")
	for name, text := range map[string]string{keys: key, filepath.Join(dir, "a.yaml"): sopstest.Encrypt(t, "a: {b: [x, 1, true, \"\"]}\nc: d\n", recipient)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(keys, filepath.Join(dir, "out.yaml")); err != nil {
		t.Fatal(err)
	}
	s := testStore(t, Options{Dir: dir, KeyFile: keys})
	for property, want := range map[string]string{"a.b.0": "x", "a.b.1": "1", "a.b.2": "true", "c": "d"} {
		if got, err := s.Get(t.Context(), secret.Ref{Path: "a.yaml", Property: property}); err != nil || got != want {
			t.Errorf("%s: %q, %v", property, got, err)
		}
	}
	if _, err := s.Get(t.Context(), secret.Ref{Path: "a.yaml", Property: "a.b.3"}); err == nil || !strings.Contains(err.Error(), `a.yaml: "a.b.3" is empty`) {
		t.Errorf("an empty value: %v", err)
	}
	if _, err := s.Get(t.Context(), secret.Ref{Path: "out.yaml", Property: "c"}); err == nil || !strings.Contains(err.Error(), "out.yaml") {
		t.Errorf("a link out of the directory: %v", err)
	}
	if _, err := s.Get(t.Context(), secret.Ref{Path: "a.yaml", Property: "c", Version: "2"}); err == nil {
		t.Error("a version was taken")
	}
}

// Whatever a file holds, reading it ends with a value or an error, and a changed file never gives a value.
func FuzzRead(f *testing.F) {
	entries, err := fs.Glob(os.DirFS("testdata"), "*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, data)
	}
	s := New(Options{KeyFile: "testdata/key.txt"})
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		value, err := s.value(name, "PASSWORD", data)
		if err == nil && value != plain["PASSWORD"] {
			t.Errorf("a changed file gave %q", value)
		}
	})
}

// What there is to do about a file that cannot be opened says key or file.
func TestUnreadable(t *testing.T) {
	for want, err := range map[string]error{
		"give the store a key of one of these recipients": fmt.Errorf("%w: it is for age1", errNoKey), "sops encrypt -i a.yaml": errNotEncrypted,
		"encrypt it for an age recipient": fmt.Errorf("sops: %w", unsupported("INI")), "restore a.yaml as SOPS wrote it": fmt.Errorf("db.password: %w", errDamaged),
	} {
		if got, ok := errors.AsType[*secret.UnreadableError](unreadable("a.yaml", err)); !ok || !strings.Contains(got.Fix, want) {
			t.Errorf("%v: %+v, want %q", err, got, want)
		}
	}
}
