package bind

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// A version or a tag that is a number and ends in zero is told at its place, with what to write; other numbers, and texts, are not.
func TestUnquotedVersion(t *testing.T) {
	for text, want := range map[string]string{
		"image: {tag: 1.10}":                         "1:14: 1.10 is a number, and 1.1",
		"a: 1\nimage:\n  imageTag: 1.20 # newest\n":  "3:13: 1.20 is a number, and 1.2",
		"appVersion: 2.0":                            "1:13: 2.0 is a number, and 2",
		"list: [{version: 1.30}]":                    "1:18: 1.30 is a number, and 1.3",
		"image: {tag: \"1.10\"}":                     "",
		"image: {tag: '1.10', ratio: 1.10, tag2: 1}": "",
		"image: {tag: 1.25}":                         "",
		"version: 10":                                "",
		"version: 1.10-rc1":                          "",
	} {
		for name, in := range map[string]v1alpha1.Instance{"a chart": {Helm: &v1alpha1.HelmSource{}}, "a module": {}} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			in.Name = "a"
			in.Values = values(t, filepath.Join(dir, "b.yaml"), "{from: {file: values.yaml}}")
			var files Files
			_, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, files.Value)
			got := lines(fs)
			if want == "" && len(fs) > 0 || want != "" && (len(fs) != 1 || !strings.Contains(fs[0].Pos.String()+": "+fs[0].What, "values.yaml:"+want) || fs[0].Instance != "a" || fs[0].Fix == "") || fs.HasErrors() {
				t.Errorf("%s, of %s: %q", text, name, got)
			}
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("a:\n  b: {tag: 3.0}\nversion: 4.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	part := v1alpha1.Instance{Name: "a", Values: values(t, filepath.Join(dir, "b.yaml"), "web: {image: {from: {file: values.yaml, path: a.b}}}")}
	var files Files
	if _, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{part}}, files.Value); len(fs) != 1 || fs[0].Path != "values.web.image.tag" {
		t.Errorf("of what is taken of a file: %v", fs)
	}
	own := v1alpha1.Instance{Name: "a", Values: values(t, "b.yaml", "image: {tag: 1.10}")}
	if _, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{own}}, nil); len(fs) != 1 || fs[0].Path != "values.image.tag" || fs[0].Fix != `quote it: tag: "1.10"` {
		t.Errorf("in the bundle: %v", fs)
	}
}

// A line of a file with very many numbers is taken apart once, and characters of several bytes are one column each.
func TestNumbersOnOneLine(t *testing.T) {
	const n = 20_000
	line := "é: {" + strings.Repeat("a: 1.10, ", n) + "b: 2.50}"
	written := inFile([]byte("first: 1.0\n" + line + "\n"))
	at := func(line, column int) string {
		return written(&v1alpha1.Value{Pos: v1alpha1.Position{Line: line, Column: column}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		if got := at(2, 8+9*i); got != "1.10" {
			t.Fatalf("%d: %q", i, got)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d MiB for a line of %d bytes", took>>20, len(line))
	}
	for place, want := range map[[2]int]string{{1, 8}: "1.0", {2, 8 + 9*n}: "2.50", {2, 9*n + 100}: "", {2, 0}: "", {0, 1}: "", {4, 1}: ""} {
		if got := at(place[0], place[1]); got != want {
			t.Errorf("%v: %q, want %q", place, got, want)
		}
	}
}
