package engine

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/secret"
	secretkube "hawser.dev/hawser/internal/secret/kube"
	"hawser.dev/hawser/internal/values"
)

const unreadFleet = `fleet:
  apiVersion: v1alpha1
  name: f
  clusters:
    engine: {group: a, kubeContext: engine}
  secretStores: {vault: {kube: {namespace: NS}}}
  values:
    - {query: "k8s:v1:ConfigMap:NS:cluster-info", for: {REGION: obj.data.region}}
    - {query: "k8s:v1:Secret:NS:cluster-secrets", for: {TOKEN: obj.data.token}, optional: true}
`

// TestRolesWithoutReading: who may read nothing is told the roles all the same, with those for what the fleet's queries read, and
// what could not be read. What the files do not say without it is known when that is granted.
func TestRolesWithoutReading(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web, annotations: {x: {{ .Values.password | quote }}}}\nspec: {ports: [{port: 80}]}\n")
	r.write("fleet.yaml", strings.ReplaceAll(unreadFleet, "NS", r.name))
	r.Stores = func(spec v1alpha1.SecretStore, secrets values.Secrets) (secret.Store, error) {
		return secretkube.New(spec.Kube.Namespace, secretkube.Getter(secrets)), nil
	}
	head := `bundle: {apiVersion: "v1alpha1", name: "` + r.name + `", instances: web: {namespace: "` + r.name + `", helm: chart: "./chart", values: {password: "ref://vault:db/password", region: `
	for value, known := range map[string]bool{`"plain"`: true, `string @timoni(runtime:string:REGION)`: false} {
		file := r.write("bundle.cue", head+value+"\n}}}")
		req := r.request()
		docs(&req).Files = []string{file}
		req.Access.As, req.Placeholders, req.Recorded = "nobody-in-particular", true, true
		out, err := r.Build(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		for _, ref := range []object.Ref{{Kind: "ConfigMap", Namespace: r.name, Name: "cluster-info"}, {Kind: "Secret", Namespace: r.name, Name: "cluster-secrets"}} {
			if !slices.Contains(out.Reads, ref) {
				t.Errorf("%s: no %s in %v", value, ref, out.Reads)
			}
		}
		codes := map[string]bool{}
		for _, f := range out.Findings {
			codes[f.Code] = true
		}
		if has := len(out.Items) > 0 && len(out.Items[0].Objects) > 0; out.Bundle != r.name || has != known || !codes["query"] || codes["unknown-rights"] == known ||
			codes["secret-not-read"] != known || !codes["unrecorded-rights"] || slices.Contains(out.Reads, object.Ref{Kind: "Secret", Namespace: r.name, Name: "db"}) != known {
			t.Errorf("%s: %+v", value, out)
		}
	}
}
