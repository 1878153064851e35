package helm

import (
	"strings"
	"testing"
)

// TestKindsOfItsOwnDefinitions: a chart that asks for a kind of its own crds folder, or of a dependency's that is enabled, is told
// yes, as Helm tells it when it has installed them: else its second apply would change what the first one wrote.
func TestKindsOfItsOwnDefinitions(t *testing.T) {
	crd := func(group string) string {
		return strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true}, {name: v1alpha1, served: false}]
`, "GROUP", group)
	}
	const has = `apiVersion: v1
kind: ConfigMap
metadata: {name: has}
data:
  own: '{{ .Capabilities.APIVersions.Has "own.example/v1" }} {{ .Capabilities.APIVersions.Has "own.example/v1/Widget" }}'
  unserved: '{{ .Capabilities.APIVersions.Has "own.example/v1alpha1" }}'
  enabled: '{{ .Capabilities.APIVersions.Has "on.example/v1" }}'
  disabled: '{{ .Capabilities.APIVersions.Has "off.example/v1" }}'
  cluster: '{{ .Capabilities.APIVersions.Has "apps/v1" }}'
`
	files := map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: on, version: 1.0.0}\n- {name: off, version: 1.0.0, condition: off.enabled}\n",
		"values.yaml":      "off: {enabled: false}\n", "chart/crds/own.yaml": crd("own.example"), "chart/templates/has.yaml": has,
	}
	for _, sub := range []string{"on", "off"} {
		files["chart/charts/"+sub+"/Chart.yaml"] = "apiVersion: v2\nname: " + sub + "\nversion: 1.0.0\n"
		files["chart/charts/"+sub+"/crds/x.yaml"] = crd(sub + ".example")
	}
	for flags, want := range map[string]map[string]string{
		"":         {"own": "true true", "unserved": "false", "enabled": "true", "disabled": "false", "cluster": "true"},
		"noAPIs":   {"own": "true true", "unserved": "false", "enabled": "true", "disabled": "false", "cluster": "true"},
		"skipCRDs": {"own": "false false", "unserved": "false", "enabled": "false", "disabled": "false", "cluster": "true"},
	} {
		files["flags"] = flags
		res, err := New(Options{}).Render(t.Context(), request(t, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range res.Objects {
			if o.Ref().Name != "has" {
				continue
			}
			for key, value := range want {
				if got := o.Body["data"].(map[string]any)[key]; got != value {
					t.Errorf("%q: %s is %v, want %s", flags, key, got, value)
				}
			}
		}
	}
}
