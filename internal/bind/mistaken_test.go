package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestNoReference: a text that is meant as a reference and is none is told at its place, in a bundle, a layer and a file, and
// nothing of it is shown; a text that has nothing to do with references is not.
func TestNoReference(t *testing.T) {
	const within, so = "ref:// within a text", "this is no reference"
	for text, want := range map[string]string{
		`db: {url: "postgres://app:ref://C4NARY@db/x"}`: within,
		`db: "user=a password=Ref://C4NARY"`:            within,
		`db: "see ref:// C4NARY"`:                       within,
		`db: "ref://C4NARY in the text"`:                "error",
		`db: Ref://C4NARY`:                              so,
		`db: REF:/C4NARY`:                               so,
		`db: ref:/C4NARY/x`:                             so,
		`db: " ref://C4NARY"`:                           so,
		`db: [1, "\tref://C4NARY\n"]`:                   so,
		`db: ref://C4NARY`:                              "",
		`db: href://C4NARY`:                             "",
		`db: "git+ref://C4NARY"`:                        "",
		`db: "see ref:/C4NARY"`:                         "",
		`db: "ref: refs/heads/C4NARY"`:                  "",
		`db: "https://x/y"`:                             "",
		`db: "http://h/?ref://C4NARY"`:                  "",
		`db: "{$ref://C4NARY}"`:                         "",
		`db: "Ref:/ is a word"`:                         within,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("a: 1\n"+text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for place, in := range map[string]v1alpha1.Instance{
			"values.yaml:2:": {Name: "a", Helm: &v1alpha1.HelmSource{}, Values: values(t, filepath.Join(dir, "b.yaml"), "{from: {file: values.yaml}}")},
			"own.yaml:1:":    {Name: "a", Values: values(t, "own.yaml", text)},
			"layer.yaml:1:":  {Name: "a", ValuesFor: []v1alpha1.ValuesFor{{Name: "x", Values: values(t, "layer.yaml", text)}}},
		} {
			var files Files
			_, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, files.Value)
			if want == "error" {
				continue // whether a reference can be read is another test's
			}
			if want == "" && len(fs) == 0 {
				continue
			}
			if len(fs) != 1 || fs.HasErrors() || !strings.HasPrefix(fs[0].What, want) || want == "" || fs[0].Fix == "" || fs[0].Instance != "a" ||
				!strings.Contains(fs[0].Pos.String(), place) || !strings.Contains(fs[0].Path, "alues.db") || strings.Contains(fs[0].String(), "C4NARY") {
				t.Errorf("%s in %s: %v", text, place, fs)
			}
		}
	}
}
