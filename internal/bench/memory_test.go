//go:build bench

package bench

import (
	"fmt"
	"strings"
	"testing"
)

// The shapes of row 11: so many small objects as manifests and of a chart, and so many definitions with so many fields.
const (
	tenThousand = 10_000
	definitions = 20
	fields      = 3_000
)

// memoryBudget is for the whole process, in any shape.
const memoryBudget = 300 << 20

// TestMemory is row 11: the most memory that a plan, a first apply, an unchanged apply and a delete take.
func TestMemory(t *testing.T) {
	f := fleetOf(t, 3)
	for shape, files := range map[string]map[string]string{
		"10,000 ConfigMaps":              nil,
		"10,000 ConfigMaps of a chart":   bigChart(),
		"20 definitions of 3,000 fields": {"objects/definitions.yaml": bigDefinitions()},
	} {
		t.Run(shape, func(t *testing.T) {
			u := newUser(t, f.Kubeconfig())
			one := f.Names()[:1]
			ns := namespaceIn(t, f, one, "memory")
			if files == nil {
				u.manifests("objects", configMaps(tenThousand, 0))
			}
			for name, text := range files {
				u.write(name, text)
			}
			bundle := plainBundle(ns, "objects", ns)
			if _, chart := files["chart/Chart.yaml"]; chart {
				bundle = strings.Replace(bundle, "manifests: {paths: [./objects]}", "helm: {chart: ./chart}", 1)
			}
			u.write("bundle.yaml", bundle)
			apply := []string{"apply", "-f", "bundle.yaml", "--kube-context", one[0], "--yes"}
			weigh := func(what string, codes []int, args ...string) {
				r := u.watched(nil, args...)
				ok := false
				for _, code := range codes {
					ok = ok || r.Code == code
				}
				if !ok {
					t.Fatalf("%s: exit %d\n%s", what, r.Code, tail(r.Stderr))
				}
				timed(t, 11, "greatest memory, "+shape+": "+what, fmt.Sprintf("%.0f MiB", float64(r.RSS)/(1<<20)), "300 MiB", r.RSS <= memoryBudget)
			}
			weigh("plan", []int{0, 2}, "plan", "-f", "bundle.yaml", "--kube-context", one[0])
			weigh("first apply", []int{0}, apply...)
			weigh("unchanged apply", []int{0}, apply...)
			weigh("delete", []int{0}, "delete", ns, "--kube-context", one[0], "--yes")
		})
	}
}

// bigChart makes its objects in a loop.
func bigChart() map[string]string {
	return map[string]string{
		"chart/Chart.yaml":  "apiVersion: v2\nname: big\nversion: 1.0.0\n",
		"chart/values.yaml": fmt.Sprintf("count: %d\n", tenThousand),
		"chart/templates/all.yaml": `{{- range $i := until (int .Values.count) }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ printf "settings-%05d" $i }}}
data: {name: "service-{{ $i }}.example.com", text: {{ repeat 8 (printf "line %d of a configuration file; " $i) | quote }}}
{{- end }}
`}
}

// bigDefinitions are CustomResourceDefinitions of some hundred KiB each.
func bigDefinitions() string {
	var b strings.Builder
	for i := range definitions {
		fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bigs.g%[1]d.bench.example.com}
spec:
  group: g%[1]d.bench.example.com
  names: {kind: Big, plural: bigs, singular: big, listKind: BigList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`, i)
		for j := range fields {
			fmt.Fprintf(&b, "              field%04d: {type: string, description: \"Field number %d of definition %d, and what it is good for.\"}\n", j, j, i)
		}
	}
	return b.String()
}
