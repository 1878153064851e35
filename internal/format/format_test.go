package format

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// Every case is "before\n====\nafter"; what comes out stays as it is when formatted again.
var layouts = map[string]string{
	"indentation":               "bundle:\n    name: shop\n    instances:\n        api:\n            namespace: shop\n====\nbundle:\n  name: shop\n  instances:\n    api:\n      namespace: shop\n",
	"comments stay":             "# head\na:   # of a\n    # of b\n    b: 1   # line\n    # c: 2\n# of d\nd: 1\n# end\n====\n# head\na:   # of a\n  # of b\n  b: 1   # line\n  # c: 2\n# of d\nd: 1\n# end\n",
	"blank lines":               "\n\na: 1\n\n\n\nb: 2   \n\n\n====\na: 1\n\nb: 2\n",
	"lists below their key":     "a:\n- x: 1\n  y: 2\n-   x: 3\n    y: 4\nb:\n  - 1\n====\na:\n- x: 1\n  y: 2\n- x: 3\n  y: 4\nb:\n- 1\n",
	"lists are indented":        "a:\n    - x:   1\n      y:\n          - z\nb:\n- 1\n====\na:\n  - x: 1\n    y:\n      - z\nb:\n  - 1\n",
	"lists in lists":            "- - a\n  -   b\n-\n    - c\n====\n- - a\n  - b\n-\n  - c\n",
	"block values":              "a:\n    text: |\n        one\n          two\n\n        three  \n    fold: >-\n      x\n      y\n\n\n    c: 1\n====\na:\n  text: |\n    one\n      two\n\n    three  \n  fold: >-\n    x\n    y\n\n  c: 1\n",
	"block value keeps its end": "a:\n    t: |+\n        x\n\n\n    b: 1\n====\na:\n  t: |+\n    x\n\n\n  b: 1\n",
	"block value with a number": "a:\n    t: |2\n        x\n      y\n====\na:\n  t: |2\n      x\n    y\n",
	"comments in block values":  "a:\n    t: |\n        # no comment\n        x\n    # comment\n    b: 1\n====\na:\n  t: |\n    # no comment\n    x\n  # comment\n  b: 1\n",
	"quotes over lines":         "a:\n    t: \"one\n        two\n\n        three\"\n    u: 'it''s # not: a comment'\n====\na:\n  t: \"one\n      two\n\n      three\"\n  u: 'it''s # not: a comment'\n",
	"brackets over lines":       "a:\n    t: [1, # one\n        {b: \"]\"},\n    ]   # end\n    u: {a: [1, 2], b: don't}\n====\na:\n  t: [1, # one\n      {b: \"]\"},\n  ]   # end\n  u: {a: [1, 2], b: don't}\n",
	"plain over lines":          "a:\n    t: one\n       two\n\n       three\n    b: 1\n====\na:\n  t: one\n     two\n\n     three\n  b: 1\n",
	"anchors and tags":          "a: &x\n    b: !!str 1\n    c:   &y 2\nd:\n    <<: *x\n    \"e f\":   *y\n====\na: &x\n  b: !!str 1\n  c: &y 2\nd:\n  <<: *x\n  \"e f\": *y\n",
	"documents":                 "a:\n    b: 1\n---   # next\n\nc:\n    - d\n...\n====\na:\n  b: 1\n---   # next\n\nc:\n  - d\n...\n",
	"windows":                   "\ufeffa:\r\n    b: 1\r\n====\na:\n  b: 1\n",
	"urls are no keys":          "url:   oci://registry:5000/x\ntime:  12:30:45\n====\nurl: oci://registry:5000/x\ntime: 12:30:45\n",
	"value on the next line":    "a:\n      text here\nb:\n    \"quoted\"\n====\na:\n  text here\nb:\n  \"quoted\"\n",
	"empty values":              "a:\nb:   ~\nc:\n    d:\n    e: {}\n====\na:\nb: ~\nc:\n  d:\n  e: {}\n",
	"only comments":             "\n# a\n\n\n# b\n====\n# a\n\n# b\n",
}

func TestYAMLLayout(t *testing.T) {
	for name, c := range layouts {
		t.Run(name, func(t *testing.T) {
			before, want, _ := strings.Cut(c, "====\n")
			got, err := Source("x.yaml", []byte(before))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again, err := Source("x.yaml", got); err != nil || !bytes.Equal(again, got) {
				t.Errorf("again: %v\n%s", err, again)
			}
		})
	}
}

func TestSourceRefuses(t *testing.T) {
	for name, c := range map[string]struct{ file, src, want string }{
		"tab":         {"x.yaml", "a:\n\tb: 1\n", "x.yaml:2:1: a tab in the indentation"},
		"template":    {"x.yaml", "a: {{ .Values.x }}\nb: }\n", "x.yaml:"},
		"complex key": {"x.yaml", "a: 1\n? b\n: c\n", "x.yaml:2:1: the file is not formatted: it is laid out in a way that is left alone: a complex key (?)"},
		"behind":      {"x.yaml", "a: 1\n--- {b: 1}\n", "x.yaml:2:1: the file is not formatted: it is laid out in a way that is left alone: content behind ---"},
		"line break":  {"x.yaml", "a: 1\nb: 2\u2028c\n", "x.yaml:2:1: the file is not formatted: it is laid out in a way that is left alone: a line break that only YAML has"},
		"behind ---":  {"x.yaml", "--- {a: 1}\n", "left alone"},
		"cue":         {"x.cue", "a: {\n", "x.cue:"},
		"json":        {"x.json", "{\"a\": }\n", "x.json:1"},
		"binary":      {"x.cue", "a: \x00\n", "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Source(c.file, []byte(c.src))
			if err == nil {
				t.Fatalf("no error; got\n%s", got)
			}
			if text := diag.From(err, "")[0].String(); !strings.Contains(text, c.want) {
				t.Errorf("%s\nhas no %q", text, c.want)
			}
		})
	}
}

func TestOtherSyntaxes(t *testing.T) {
	for _, c := range [][3]string{
		{"x.cue", "a:   {b: 1,\nc:2} // c\n", "a: {b: 1\n\tc: 2\n} // c\n"},
		{"x.json", `{"b":1.50,"a":[1,{}]}`, "{\n  \"b\": 1.50,\n  \"a\": [\n    1,\n    {}\n  ]\n}\n"},
		{"-", "bundle: {name:   \"x\"}\n", "bundle: {name: \"x\"}\n"},
		{"-", `{"a":1}`, "{\n  \"a\": 1\n}\n"},
		{"-", "bundle:\n    name: shop\n", "bundle:\n  name: shop\n"},
		{"x.yaml", " ----\n", "----\n"},
		{"x.yaml", "----\n", "----\n"},
	} {
		got, err := Source(c[0], []byte(c[1]))
		if err != nil || string(got) != c[2] {
			t.Errorf("%s %q: %v\n%s", c[0], c[1], err, got)
		}
	}
}

func FuzzYAML(f *testing.F) {
	for _, c := range layouts {
		before, _, _ := strings.Cut(c, "====\n")
		f.Add([]byte(before))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		once, err := Source("x.yaml", src)
		if err != nil {
			return
		}
		again, err := Source("x.yaml", once)
		if err != nil || !bytes.Equal(once, again) {
			t.Errorf("again: %v\n%q\n%q\n%q", err, src, once, again)
		}
	})
}

// A document that cannot be parsed is told of, by its first words; a template is not.
func TestOwnThatCannotBeParsed(t *testing.T) {
	for src, want := range map[string]bool{
		"bundle:\n\tname: x\n":                 true,
		"# ours\nfleet:\n  a: [\n":             true,
		"bundles: {\n":                         true,
		"kind: ConfigMap\ndata: [\n":           false,
		"bundled: [\n":                         false,
		"fleet:\n  {{- if .Values.a }}\n  b\n": false,
	} {
		if got := isOwn("a.yaml", []byte(src)); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "out.yaml")
	write := func(name, text string) string {
		t.Helper()
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write(".git/HEAD", "ref: x\n")
	write("shop.yaml", "bundle:\n    name: x\n")
	write("deployment.yaml", "kind:   Deployment\n")
	write("hawser.yaml", "files: [shop.yaml]\n")
	write("more/fleet.yml", "fleet: {}\n")
	write("cue.mod/pkg/x.cue", "a: 1\n")
	write("web.cue", "a: 1\n")
	write(outside, "a:    1\n")
	t.Chdir(dir)
	if got, err := Files([]string{"."}); err != nil || strings.Join(got, " ") != "hawser.yaml shop.yaml web.cue" {
		t.Errorf("of a directory: %v %v", got, err)
	}
	if got, err := Files([]string{"./..."}); err != nil || filepath.ToSlash(strings.Join(got, " ")) != "hawser.yaml more/fleet.yml shop.yaml web.cue" {
		t.Errorf("below a directory: %v %v", got, err)
	}
	for _, bad := range []string{"gone.yaml", "README.md"} {
		if bad == "README.md" {
			write(bad, "x")
		}
		if _, err := Files([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, to := range map[string]string{"out.yaml": outside, "in.yaml": "shop.yaml"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read("out.yaml"); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("a link out of the repository is read: %v", err)
	}
	if err := os.Symlink(filepath.Dir(outside), "dir"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join("dir", filepath.Base(outside))); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("a directory link out of the repository is read through: %v", err)
	}
	if err := Write("out.yaml", []byte("gone")); err == nil {
		t.Error("a link out of the repository is written through")
	}
	if err := Write("in.yaml", []byte("bundle: {}\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat("in.yaml")
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v %v", info, err)
	}
	info, _ = os.Stat("shop.yaml")
	if data, _ := os.ReadFile("shop.yaml"); string(data) != "bundle: {}\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, mode %v", data, info.Mode())
	}
	if left, _ := filepath.Glob(".*hawser-fmt"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if data, _ := os.ReadFile(outside); string(data) != "a:    1\n" {
		t.Errorf("the file outside: %q", data)
	}
}
