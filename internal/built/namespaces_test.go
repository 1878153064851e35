package built

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// The Namespaces that apply makes are among the files, for whoever applies those; the stream has what the sources declare.
func TestNamespacesAreFiles(t *testing.T) {
	of := func(kind, name string) []object.Object {
		return []object.Object{{Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}}
	}
	r := &fleetplan.BuildResult{Bundle: "shop", Clusters: []string{"eu"}, Whole: true,
		Items: []fleetplan.BuildItem{{Instance: "api", Cluster: "eu", Objects: of("ConfigMap", "c"), Namespaces: of("Namespace", "shop")}}}
	dir := t.TempDir()
	var said, stream bytes.Buffer
	if err := Files([]*fleetplan.BuildResult{r}, dir, &said); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "api", "v1_namespace_shop.yaml")); err != nil || !strings.Contains(string(data), "kind: Namespace") {
		t.Errorf("%s, %v", data, err)
	}
	if err := Stream(&stream, r, false); err != nil || strings.Contains(stream.String(), "Namespace") || !strings.Contains(stream.String(), "ConfigMap") {
		t.Errorf("%s, %v", &stream, err)
	}
}
