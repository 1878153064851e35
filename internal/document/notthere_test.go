package document

import (
	"os"
	"strings"
	"testing"
)

// TestFleetThatIsNotThere: what was perhaps meant by a fleet is one, and no bundle beside it.
func TestFleetThatIsNotThere(t *testing.T) {
	for files, want := range map[string]string{"shop.yaml prod.yaml": "there is: prod.yaml", "shop.yaml flet.yaml prod.yaml": "did you mean \"flet.yaml\"?", "shop.yaml": "name a file or a directory that is there"} {
		dir := t.TempDir()
		t.Chdir(dir)
		for name := range strings.FieldsSeq(files) {
			text := "fleet:\n  apiVersion: v1alpha1\n  name: f\n"
			if name == "shop.yaml" {
				text = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances: {}\n"
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, fs := Load(t.Context(), Options{Files: []string{"shop.yaml"}, Fleet: []string{"fleet.yaml"}}); len(fs) != 1 || !strings.Contains(fs[0].Fix, want) || strings.Contains(fs[0].Fix, "shop") {
			t.Errorf("%s: %v", files, fs)
		}
	}
}
