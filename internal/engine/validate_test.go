package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render/plain"
)

const widgetDefinition = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.NAME.example.com}
spec:
  group: NAME.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [size], properties: {size: {type: integer}, colour: {type: string, enum: [red, green]}}}
---
apiVersion: NAME.example.com/v1
kind: Widget
metadata: {name: one}
spec:
  size: 3
  color: red
`

// said is what findings of a code say, each with its line.
func told(findings diag.Findings, code string) []string {
	var out []string
	for _, f := range findings {
		if f.Code == code {
			text := filepath.Base(f.Pos.String()) + " " + f.Path + ": " + f.What
			if f.Severity != diag.Error {
				text = string(f.Severity) + " " + text
			}
			out = append(out, text)
		}
	}
	return out
}

func (r *rig) withSchemas() *rig {
	r.Documents, r.Locate = cache.Open(cache.Options{Dir: r.t.TempDir()}).Document, plain.Position
	return r
}

// TestPlanChecksObjects: what the cluster's own schemas do not allow is said at the user's own line, before anything is
// written, of new objects and of changed ones, and of custom ones by the definition that comes with them.
func TestPlanChecksObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t).withSchemas()
	good := r.deployment("web")
	bad := strings.NewReplacer("replicas: 1", `replicas: "1"`, "image: example.com/web:1", "imagee: example.com/web:1").Replace(good)
	want := []string{
		"app.yaml:6:3 spec.replicas: wants a whole number, and is a text",
		"app.yaml:10:38 spec.template.spec.containers[name=main].imagee: is not a field that Deployment has"}
	r.write("bundle.yaml", r.bundle(bad))
	fp := r.plan(r.request())
	if got := told(fp.Findings, answer.CodeInvalidObject); !slices.Equal(got, want) {
		t.Errorf("new: %q", got)
	}
	r.write("bundle.yaml", r.bundle(good))
	req := r.request()
	req.Wait = false
	r.applied(req)
	for _, diff := range []bool{false, true} { // with diffs the server is asked too, and says the same once more
		r.write("bundle.yaml", r.bundle(bad))
		req := r.request()
		req.ShowDiff = diff
		fp = r.plan(req)
		if got := told(fp.Findings, answer.CodeInvalidObject); !slices.Equal(got, want) {
			t.Errorf("changed, diff %v: %q", diff, got)
		}
	}
	definition := strings.ReplaceAll(widgetDefinition, "NAME", r.name)
	r.write("bundle.yaml", r.bundle(good+definition))
	fp = r.plan(r.request())
	if got, want := told(fp.Findings, answer.CodeInvalidObject), []string{"app.yaml:34:3 spec.color: is not a field that Widget has"}; !slices.Equal(got, want) {
		t.Errorf("custom: %q", got)
	}
	r.write("bundle.yaml", r.bundle(good+strings.Replace(definition, "color: red", "colour: red", 1)))
	fp = r.plan(r.request())
	if len(fp.Findings.Errors()) > 0 {
		t.Errorf("as it should be: %v", fp.Findings.Errors())
	}
}

// TestVetChecksObjects: vet says the same of a fleet's clusters, and of those in a facts file without asking anybody; what is missing is a warning there, since the object may
// be in the cluster already.
func TestVetChecksObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t).withSchemas()
	r.write("fleet.yaml", "fleet: {apiVersion: v1alpha1, name: "+r.name+", clusters: {one: {group: g, kubeContext: "+here+"}}}")
	r.write("bundle.yaml", r.bundle("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports:\n  - {name: http, prot: 80}\n"))
	report, err := r.Vet(t.Context(), r.request())
	if err == nil {
		t.Error("vet finds nothing")
	}
	want := []string{"app.yaml:6:18 spec.ports[0].prot: is not a field that Service has", "warning app.yaml:6:5 spec.ports[0].port: is missing"}
	if got := told(report.Findings, answer.CodeInvalidObject); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	req := r.request()
	file := filepath.Join(r.dir, "facts.json")
	for n := range 10 { // other tests make definitions: the server may publish its schemas anew between the two
		if n > 0 {
			_, _ = r.Vet(t.Context(), r.request())
		}
		snap, err := r.Snapshot(t.Context(), r.request())
		if err != nil {
			t.Fatal(err)
		}
		data, err := snap.Marshal()
		if err := errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		docs(&req).Facts = file
		if report, err = r.Vet(t.Context(), req); err != nil {
			break
		}
	}
	if got := told(report.Findings, answer.CodeInvalidObject); !slices.Equal(got, want) {
		t.Errorf("from facts: %q", got)
	}
}

// What a chart renders of the user's values and the schema does not allow is said at the user's line, with the object's.
func TestPlanChecksObjectsOfAChart(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "")
	r.withSchemas()
	r.write("chart/templates/a.yaml", strings.NewReplacer("replicas: 1", "replicas: {{ .Values.count | quote }}",
		"image: example.com/web:1", "image: example.com/web:1, imagePullPolicy: {{ .Values.image.pull }}").Replace(r.deployment("web")))
	r.values(`count: three, image: {pull: 5}`)
	fp, err := r.Plan(t.Context(), r.request())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bundle.yaml:8:16 spec.replicas: wants a whole number, and is a text",
		"bundle.yaml:8:38 spec.template.spec.containers[name=main].imagePullPolicy: wants a text, and is a number"}
	if got := told(fp.Findings, answer.CodeInvalidObject); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, f := range fp.Findings {
		if f.Code == answer.CodeInvalidObject && !strings.HasPrefix(f.Why, "values.") {
			t.Errorf("%+v", f)
		}
	}
}
