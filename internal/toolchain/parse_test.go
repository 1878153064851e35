package toolchain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// TestReadValues: values from several files, the later over the earlier, in every syntax.
func TestReadValues(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name  string
		files []string
		stdin string
		want  string
		fault string
	}{
		{"none", nil, "", "", ""},
		{"cue", []string{file("a.cue", "package main\nvalues: {a: 1, b: \"\\(x)-y\"}\nx: \"z\"\n")}, "", `{"a":1,"b":"z-y"}`, ""},
		{"yaml over cue", []string{file("b.cue", "values: {a: 1, b: {c: 2, d: 3}}"), file("b.yaml", "values: {b: {c: 4}, e: [1]}\n")}, "", `{"a":1,"b":{"c":4,"d":3},"e":[1]}`, ""},
		{"json", []string{file("c.json", `{"values": {"a": 1.5}}`)}, "", `{"a":1.5}`, ""},
		{"stdin", []string{"-"}, "values: a: true", `{"a":true}`, ""},
		{"no values", []string{file("d.yaml", "replicas: 2\n")}, "", "", "there is no field values"},
		{"not concrete", []string{file("e.cue", "values: a: int")}, "", "", "a"},
		{"syntax", []string{file("f.cue", "values: {")}, "", "", "f.cue:1"},
		{"duplicate keys", []string{file("g.yaml", "values: {a: 1, a: 2}\n")}, "", "", "g.yaml:1"},
		{"another kind of file", []string{file("h.toml", "values = 1")}, "", "", ".cue, .yaml"},
		{"no file", []string{filepath.Join(dir, "none.yaml")}, "", "", "no such file"},
		{"too deep", []string{file("i.cue", "values: a: "+strings.Repeat("{a:", 2000))}, "", "", "i.cue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := new(Tools).readValues(c.files, strings.NewReader(c.stdin))
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := oneLine(t, got); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

func oneLine(t *testing.T, s v1alpha1.Values) string {
	t.Helper()
	if s.Struct == nil {
		return ""
	}
	v, err := s.Struct.Any()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCheckImages: what a runtime would refuse is an error, what may change a warning.
func TestCheckImages(t *testing.T) {
	sum := "@sha256:" + strings.Repeat("0", 64)
	for image, want := range map[string]string{
		"nginx:1.2": "",
		"registry.example.com:5000/a/b-c/d_e:v1.2.3": "",
		"localhost/x" + sum:                          "",
		"r.example.com/x:1.0" + sum:                  "",
		"nginx":                                      "warning image-moves",
		"r.example.com/x:latest":                     "warning image-moves",
		"r.example.com/X/y:1":                        "error image",
		"r.example.com/x:-1":                         "error image",
		"r.example.com/x@sha256:abc":                 "error image",
		"https://r.example.com/x:1":                  "error image",
	} {
		got := ""
		if fs := checkImages([]string{image}); len(fs) > 0 {
			got = string(fs[0].Severity) + " " + fs[0].Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

func TestExactVersion(t *testing.T) {
	for version, ok := range map[string]bool{"1.0.0": true, "0.1.0-rc.1": true, "": false, "1.0": false, "v1.0.0": false, "1.0.0+build": false, "latest": false, "01.0.0": false} {
		if _, err := exactVersion(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// FuzzParseValues: any text gives data or findings.
func FuzzParseValues(f *testing.F) {
	f.Add("a.cue", []byte("values: {a: 1, b: \"x\"}"))
	f.Add("a.yaml", []byte("values: {a: [1, {b: c}]}\n"))
	f.Add("a.json", []byte(`{"values": {"a": null}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		x, err := parseValues(name, data)
		if err == nil && x == nil {
			t.Error("neither values nor an error")
		}
		if err != nil && len(diag.From(err, "other")) == 0 {
			t.Errorf("an error without words: %#v", err)
		}
	})
}

// FuzzRename: whatever a module's files hold, renaming ends, and vendored files stay as they are.
func FuzzRename(f *testing.F) {
	f.Add("module: \"a.b/c@v0\"\n", "import \"a.b/c/x\"\n", "# c\n")
	f.Add("module: 1", "", "")
	f.Fuzz(func(t *testing.T, moduleFile, text, readme string) {
		files := map[string][]byte{"cue.mod/module.cue": []byte(moduleFile), "x.cue": []byte(text), "README.md": []byte(readme), "cue.mod/pkg/y.cue": []byte(text)}
		if rename(files, "new", "example.com/new") == nil && string(files["cue.mod/pkg/y.cue"]) != text {
			t.Error("a vendored file was changed")
		}
	})
}
