package bind

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// readValues gives all the values of an instance from a file, as JSON.
func readValues(t *testing.T, in v1alpha1.Instance, content string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	in.Name, in.Values = "a", values(t, filepath.Join(dir, "b.yaml"), "{from: {file: values.yaml}}")
	var files Files
	spec, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, files.Value)
	if len(fs) > 0 {
		return lines(fs)
	}
	x, err := spec.Instances[0].Values.Struct.Any()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestEmptyValuesFile: a file without data is no values.
func TestEmptyValuesFile(t *testing.T) {
	for _, content := range []string{"", "\n", "# nothing\n", "---\n", "null\n", "~\n", "{}\n", "--- # nothing\n...\n"} {
		same(t, content, "{}", readValues(t, v1alpha1.Instance{Helm: &v1alpha1.HelmSource{}}, content))
	}
}
