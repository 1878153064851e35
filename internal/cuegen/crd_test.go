package cuegen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/diag"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares files with one text that shows them all.
func golden(t *testing.T, name string, files []File, fs diag.Findings) {
	t.Helper()
	var b bytes.Buffer
	for _, f := range fs {
		fmt.Fprintf(&b, "%s %s\n", f.Severity, f)
	}
	for _, f := range files {
		fmt.Fprintf(&b, "-- %s --\n%s", f.Path, f.Data)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

func widgets(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/widgets.crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFromCRDsGolden(t *testing.T) {
	files, fs := FromCRDs("widgets.crd.yaml", widgets(t))
	golden(t, "widgets.golden", files, fs)
}

// compiled is a generated file as a value.
func compiled(t *testing.T, files []File, path string) cue.Value {
	t.Helper()
	for _, f := range files {
		if f.Path == path {
			v := cuecontext.New().CompileBytes(f.Data, cue.Filename(path))
			if err := v.Err(); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s was not made", path)
	return cue.Value{}
}

// TestFromCRDsValidates: what the API server takes is taken, what it refuses is refused.
func TestFromCRDsValidates(t *testing.T) {
	files, _ := FromCRDs("widgets.crd.yaml", widgets(t))
	def := compiled(t, files, "example.com/widget/v1/types_gen.cue").LookupPath(cue.ParsePath("#Widget"))
	for _, c := range []struct{ spec, refused string }{
		{`{}`, ""},
		{`{any: {deep: [1, "x"]}}`, ""},
		{`{bounded: 10}`, "bounded"},
		{`{bounded: 9}`, ""},
		{`{choice: left: "l"}`, ""},
		{`{choice: {left: "l", right: "r"}}`, "choice"},
		{`{choice: {}}`, "choice"},
		{`{even: 3}`, "even"},
		{`{even: 4}`, ""},
		{`{free: {known: "k", other: 1}}`, ""},
		{`{free: known: 1}`, "free.known"},
		{`{"if": "x"}`, ""},
		{`{intOrString: 5}`, ""},
		{`{intOrString: "50%"}`, ""},
		{`{intOrString: "half"}`, "intOrString"},
		{`{labels: {a: "1", b: "2"}}`, ""},
		{`{labels: {a: 1}}`, "labels.a"},
		{`{labels: {a: "1", b: "2", c: "3", d: "4"}}`, "labels"},
		{`{list: ["a", "b"]}`, ""},
		{`{list: ["a", "a"]}`, "list"},
		{`{list: []}`, "list"},
		{`{list: ["toolong"]}`, "list.0"},
		{`{mode: "Medium"}`, "mode"},
		{`{name: "Upper"}`, "name"},
		{`{nested: [{port: 80}]}`, ""},
		{`{nested: [{}]}`, "nested.0.port"},
		{`{nested: [{port: 80, protocol: "SCTP"}]}`, "protocol"},
		{`{not: "allowed"}`, ""},
		{`{not: "forbidden"}`, "not"},
		{`{nullable: null}`, ""},
		{`{number: 0.25}`, "number"},
		{`{resource: {apiVersion: "v1", kind: "Pod", metadata: name: "x", spec: 1}}`, ""},
		{`{resource: kind: "Pod"}`, "resource.apiVersion"},
		{`{when: "2026-11-21T10:00:00Z"}`, ""},
		{`{when: "yesterday"}`, "when"},
		{`{"with-dash": size: 5}`, ""},
		{`{"with-dash": depth: 5}`, "depth"},
		{`{unknown: 1}`, "unknown"},
	} {
		text := `{metadata: {name: "w", namespace: "d"}, spec: ` + c.spec + ` & {mode: _ | *"Fast", string: "s"}}`
		if strings.Contains(c.spec, "mode") {
			text = `{metadata: {name: "w", namespace: "d"}, spec: ` + c.spec + ` & {string: "s", ...}}`
		}
		v := def.Unify(cuecontext.New().CompileString(text))
		err := v.Validate(cue.Concrete(true), cue.Final())
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: error %v, want one of %q", c.spec, err, c.refused)
		}
	}
}

// TestFromCRDsRefuses: input that cannot be converted is a finding with its source.
// TestPatternsAreBounded: a pattern that takes too long is left out, with a warning that does not tell it; so are those of one file altogether.
func TestPatternsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.g.io}\nspec: {group: g.io, names: {kind: K}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {\n")
	b.WriteString("  long: {type: string, pattern: '[" + strings.Repeat(`\pL`, 100_000) + "]'}, a: {type: string, pattern: '^[a-z]+$'},\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  p%d: {type: string, pattern: '.{1000}.{1000}.{1000}.{1000}.{1000}%d'},\n", i, i)
	}
	b.WriteString("}}}}]}\n")
	start := time.Now()
	files, fs := FromCRDs("x.yaml", []byte(b.String()))
	if took := time.Since(start); took > 30*time.Second || len(files) != 1 || fs.HasErrors() {
		t.Fatalf("%d files in %s, %v", len(files), took, fs.Errors())
	}
	if text := string(files[0].Data); strings.Contains(text, `\pL`) || !strings.Contains(text, `"^[a-z]+$"`) {
		t.Error("the long pattern is kept, or the short one is not")
	}
	told := 0
	for _, f := range fs {
		if told++; len(f.What) > 300 || strings.Contains(f.What, `pL`) {
			t.Fatalf("a warning is %.400s", f.What)
		}
	}
	if told < 1000 {
		t.Errorf("%d patterns are left out", told)
	}
}

func TestFromCRDsRefuses(t *testing.T) {
	crd := func(version, group, kind, name string) string {
		return "apiVersion: " + version + "\nkind: CustomResourceDefinition\nspec: {group: " + group + ", names: {kind: " + kind +
			"}, versions: [{name: " + name + ", served: true, schema: {openAPIV3Schema: {type: object}}}]}\n"
	}
	for _, c := range []struct{ name, text, code string }{
		{"nothing", "", "no-crd"},
		{"another object", "kind: Pod\n", "no-crd"},
		{"a scalar", "hello\n", "no-crd"},
		{"syntax", "a: [\n", "crd-syntax"},
		{"binary", "\x00\x01", "crd-syntax"},
		{"old version", crd("apiextensions.k8s.io/v1beta1", "g.io", "K", "v1"), "crd-version"},
		{"group climbs", crd("apiextensions.k8s.io/v1", "../../etc", "K", "v1"), "crd-name"},
		{"kind is a path", crd("apiextensions.k8s.io/v1", "g.io", "K/../..", "v1"), "crd-name"},
		{"version is code", crd("apiextensions.k8s.io/v1", "g.io", "K", `"v1 // x"`), "crd-name"},
		{"wrong type", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: 1\n", "crd-syntax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, fs := FromCRDs("x.yaml", []byte(c.text))
			if len(files) > 0 || len(fs) == 0 || fs[0].Severity != diag.Error || fs[0].Code != c.code || fs[0].Pos.File != "x.yaml" {
				t.Errorf("got %d files and %+v, want %s", len(files), fs, c.code)
			}
		})
	}
}

// FuzzFromCRDs: whatever is read, generated files have safe paths and parse.
func FuzzFromCRDs(f *testing.F) {
	data, err := os.ReadFile("testdata/widgets.crd.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		files, fs := FromCRDs("fuzz.yaml", data)
		for _, file := range files {
			if !importable(file.Path) {
				t.Errorf("path %q", file.Path)
			}
			if v := cuecontext.New().CompileBytes(file.Data); v.Err() != nil {
				t.Errorf("%v\n%s", v.Err(), file.Data)
			}
		}
		for _, f := range fs {
			if f.Code == "crd-convert" {
				t.Errorf("%v", f)
			}
		}
	})
}

// A file that becomes gigabytes when it is understood is refused before.
func TestDefinitionsThatGrow(t *testing.T) {
	for _, again := range []string{",1", ",{}", ",[]"} {
		_, fs := FromCRDs("crd.yaml", []byte("spec: [1"+strings.Repeat(again, 1_100_000)+"]\n"))
		if err := fs.Err(); err == nil || !strings.Contains(err.Error(), "more than 1000000 values") {
			t.Errorf("%s: %v", again, err)
		}
	}
	for text, want := range map[string]string{"x:\n" + strings.Repeat("-\u0085", 1_100_000): "more than 1000000 values", "\xff\xfe" + strings.Repeat("-\x00\n\x00", 1_100_000): "this is not a text file in UTF-8"} {
		_, fs := FromCRDs("crd.yaml", []byte(text))
		if err := fs.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.5q: %v", text, err)
		}
	}
}
