package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// unpack writes the archive into a new directory and makes it the current one.
func unpack(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(text)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

const tree = `
-- repo/.git/HEAD --
-- repo/shop/shop.yaml --
-- repo/shop/values.yaml --
region: eu
list: [{name: a, n: 1.0}, {name: b}]
nested: {from: {file: ../common/base.json, path: a}}
late: {from: {instance: db, object: v1/Secret/x, path: data.a}}
secret: ref://a/b
-- repo/shop/data.cue --
package x

a: b: 4.0
c: ["x", 'y']
-- repo/shop/code.cue --
a: b
b: 1
-- repo/shop/twice.yaml --
a: 1
a: 2
-- repo/shop/cert.pem --
---- CERT ----
-- repo/shop/list.yaml --
- a
-- repo/shop/loop1.yaml --
a: {from: {file: loop2.yaml}}
-- repo/shop/loop2.yaml --
a: {from: {file: loop1.yaml}}
-- repo/shop/innerbad.yaml --
a: {from: {file: gone.yaml}}
-- repo/shop/sub/deep.yaml --
here: {from: {file: ../cert.pem}}
-- repo/common/base.json --
{"a": {"z": 1, "b": 2}}
-- outside.yaml --
stolen: true
`

func TestFiles(t *testing.T) {
	dir := unpack(t, tree)
	for link, to := range map[string]string{"out.yaml": filepath.Join(dir, "outside.yaml"), "inside.yaml": "../common/base.json", "up": "../.."} {
		if err := os.Symlink(to, filepath.Join(dir, "repo/shop", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("repo/shop/bin", []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ reason, from, want, fail string }{
		{"data keeps order and number types, takes values of other files, leaves late ones", `{file: values.yaml}`,
			`{region: "eu", list: [{name: "a", n: 1.0}, {name: "b"}], nested: {z: 1, b: 2}, ` +
				`late: ({from: {instance: "db", object: "v1/Secret/x", path: "data.a"}}), secret: "ref://a/b"}`, ""},
		{"a path with a selector", `{file: ./values.yaml, path: "list[name=a].n"}`, "1.0", ""},
		{"an index", `{file: values.yaml, path: "list[1].name"}`, `"b"`, ""},
		{"a file of the same repository", `{file: ../common/base.json, path: a.z}`, "1", ""},
		{"CUE data", `{file: data.cue}`, `{a: {b: 4.0}, c: ["x", 'y']}`, ""},
		{"a text", `{file: cert.pem}`, `"---- CERT ----\n"`, ""},
		{"data as text", `{file: list.yaml, as: text}`, `"- a\n"`, ""},
		{"a text as data", `{file: cert.pem, as: yaml}`, `"---- CERT ----"`, ""},
		{"a list", `{file: list.yaml}`, `["a"]`, ""},
		{"from a directory below", `{file: sub/deep.yaml, path: here}`, `"---- CERT ----\n"`, ""},
		{"a link that stays inside", `{file: inside.yaml, path: a.b}`, "2", ""},

		{"a link out", `{file: out.yaml}`, "", "v: out.yaml cannot be read: shop/out.yaml is a link that leads out of " + filepath.Join(dir, "repo")},
		{"a directory that is a link out", `{file: up/outside.yaml}`, "", "v: up/outside.yaml cannot be read: shop/up/outside.yaml is a link that leads out of " + filepath.Join(dir, "repo")},
		{"a path out", `{file: ../../outside.yaml}`, "", "v: ../../outside.yaml lies outside of what may be read: the root is the nearest directory with .git or cue.mod, else the directory of the file that names it"},
		{"an absolute path", `{file: /etc/passwd}`, "", "v: /etc/passwd must be a relative path: values are read from beside the bundle"},
		{"a url", `{file: "https://example.com/x.yaml"}`, "", "v: https://example.com/x.yaml must be a relative path: values are read from beside the bundle"},
		{"a missing file", `{file: gone.yaml}`, "", "v: gone.yaml cannot be read: no such file or directory"},
		{"a directory", `{file: sub}`, "", "v: sub cannot be read: not a regular file"},
		{"a missing path", `{file: values.yaml, path: regoin}`, "", `v: values.yaml has no regoin: there is no regoin; there is: late, list, nested, region, secret (did you mean "region"?)`},
		{"a path in a text", `{file: cert.pem, path: a}`, "", "v: cert.pem is read as text, there is no a in it"},
		{"CUE that is no data", `{file: code.cue}`, "", "not data: reference b (a file of values holds data only: fields, lists and literals)"},
		{"a field twice", `{file: twice.yaml}`, "", `field "a" is given twice: see repo/shop/twice.yaml:1:1`},
		{"files in a circle", `{file: loop1.yaml}`, "", "v.a.a.a.a.a.a.a.a: loop1.yaml: more than 8 files take values of one another"},
		{"an error in a file that a file names", `{file: innerbad.yaml}`, "", "v.a: gone.yaml cannot be read: no such file or directory"},
		{"no text", `{file: bin}`, "", "NUL byte: this is not a text file in UTF-8"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var files Files
			froms, fs := Froms(values(t, "repo/shop/shop.yaml", "{v: {from: "+c.from+"}}"))
			if len(fs) > 0 || len(froms) != 1 {
				t.Fatal(lines(fs))
			}
			x, n := files.Value(froms[0])
			if n == nil {
				same(t, "value", c.want, show(x))
				return
			}
			if !n.Pos.IsValid() || n.Pos.Line == 0 {
				t.Errorf("no position: %s", n)
			}
			n.Pos = diag.Pos{}
			if c.fail == "" || !strings.HasSuffix(n.String(), c.fail) {
				t.Errorf("finding %q, want %q", n, c.fail)
			}
		})
	}
}

// TestFilesPositions: what a file says has its place in that file, and files are read once.
func TestFilesPositions(t *testing.T) {
	dir := unpack(t, tree)
	var files Files
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "db"}, {Name: "api",
		Values:    values(t, "repo/shop/shop.yaml", "{from: {file: values.yaml}}"),
		ValuesFor: []v1alpha1.ValuesFor{{Name: "x", Values: values(t, filepath.Join(dir, "repo/shop/shop.yaml"), "{from: {file: data.cue}}")}},
	}}}
	got, fs := Spec(spec, files.Value)
	same(t, "findings", "", lines(fs))
	region := got.Instances[1].Values.Struct.Lookup("region")
	if p := region.Pos; p.File != "repo/shop/values.yaml" || p.Line != 1 {
		t.Errorf("region stands at %v", p)
	}
	b := got.Instances[1].ValuesFor[0].Values.Struct.Lookup("a", "b")
	if p := b.Pos; p.File != filepath.Join(dir, "repo/shop/data.cue") || p.Line != 3 {
		t.Errorf("b stands at %v", p)
	}
	same(t, "depends", "db", depends(got.Instances[1].Values))
	read := files.Read()
	for _, name := range []string{"repo/shop/values.yaml", "repo/shop/data.cue", "repo/common/base.json"} {
		if !strings.HasPrefix(read[filepath.Join(dir, name)], "sha256:") {
			t.Errorf("%s is not among %v", name, read)
		}
	}
	if len(read) != 3 {
		t.Errorf("read: %v", read)
	}
	if err := os.WriteFile("repo/shop/values.yaml", []byte("region: us\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, fs := Spec(spec, files.Value)
	same(t, "findings", "", lines(fs))
	same(t, "region", `"eu"`, show(again.Instances[1].Values.Struct.Lookup("region")))
}

// TestFilesRoots: without a mark the naming file's directory is the root; standard input names no file.
func TestFilesRoots(t *testing.T) {
	unpack(t, "-- a/b/shop.yaml --\n-- a/b/x.yaml --\nx: 1\n-- a/x.yaml --\nx: 2\n")
	for _, c := range []struct{ file, src, want string }{
		{"a/b/shop.yaml", "x.yaml", "1"},
		{"a/b/shop.yaml", "../x.yaml", "lies outside"},
		{"-", "x.yaml", "standard input"},
	} {
		var files Files
		froms, _ := Froms(values(t, c.file, "{v: {from: {file: "+c.src+", path: x}}}"))
		x, n := files.Value(froms[0])
		got := ""
		if n != nil {
			got = n.String()
		} else {
			got = show(x)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s in %s gives %s, want %s", c.src, c.file, got, c.want)
		}
	}
	var big Files
	big.Limits.SourceBytes = 3
	froms, _ := Froms(values(t, "a/b/shop.yaml", "{v: {from: {file: x.yaml}}}"))
	if _, n := big.Value(froms[0]); n == nil || !strings.Contains(n.String(), "more than 3 bytes") {
		t.Error(n)
	}
}

func FuzzFile(f *testing.F) {
	f.Add("x.yaml", "a: {from: {file: x}}", "a[0]")
	f.Add("x.json", `{"a": [1, {"b": null}]}`, "a[b=1]")
	f.Add("x.cue", "package p\na: b: 'x'", "a.b")
	f.Add("x", "text", "")
	f.Fuzz(func(t *testing.T, name, src, path string) {
		if len(src) > 4000 {
			return
		}
		from := From{File: name, node: &v1alpha1.Value{Kind: v1alpha1.KindStruct}}
		if p, err := v1alpha1.ParsePath(path); err == nil {
			from.Path = p
		}
		x, n := from.parse([]byte(src), name)
		if (x == nil) == (n == nil) {
			t.Fatalf("%v and %v", x, n)
		}
		if n != nil {
			return
		}
		if _, err := x.Any(); err != nil {
			t.Fatalf("not data: %v", err)
		}
		if x, n = from.choose(x); (x == nil) == (n == nil) {
			t.Fatalf("%v and %v", x, n)
		}
	})
}
