package document

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// TestValueOfBundlesWithoutName: a bundle in a list is called by its key, also where its value is printed with the schema (vet); a name that is another one is
// refused with a way out.
func TestValueOfBundlesWithoutName(t *testing.T) {
	const one = `{apiVersion: "v1alpha1", NAME instances: {a: {namespace: "x", module: {url: "file:///m"}}}}`
	for name, want := range map[string]string{"": "", `name: "shop",`: "", `name: "other",`: `differs from "shop"`} {
		for _, file := range []string{"b.yaml", "b.cue"} {
			p, fs := loadText(t, file, "bundles: {shop: "+strings.Replace(one, "NAME", name, 1)+"}\n")
			if fs.HasErrors() {
				t.Fatal(fs)
			}
			text, fs := p.Value(fleet.Facts{Name: "one"})
			if want == "" && (fs.HasErrors() || !strings.Contains(text, `"shop"`)) {
				t.Errorf("%s, %q: %s, %v", file, name, text, fs)
			}
			if _, fs := p.Evaluate(fleet.Facts{Name: "one"}); (len(fs.Errors()) > 0) != (want != "") || want != "" && !strings.Contains(fs.Errors()[0].What, want) {
				t.Errorf("%s, %q: %v", file, name, fs)
			}
		}
	}
}
