package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/openapi"
	"hawser.dev/hawser/internal/plan"
)

// Objects of a definition, or in a namespace, that comes with a required bundle of the same run are planned before that
// one is done, also when it only changes the definition.
func TestPlanOfWhatComesWithARequiredBundle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group, other := r.name+".example", r.name+"-other"
	crd := strings.ReplaceAll(thingDefinition, "GROUP", group)
	namespace, thing := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: "+other+"}\n", "---\napiVersion: "+group+"/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 1}\n"
	elsewhere := strings.Replace(r.configMap("there", "a: b"), "{name: there}", "{name: there, namespace: "+other+"}", 1)
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, b := r.pair("", crd+namespace, thing+elsewhere)
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "    name: "+b.Bundle+"\n", "    name: "+b.Bundle+"\n    requires: [{bundle: "+a.Bundle+"}]\n", 1))
	both := func(req Request, asking bool) Request {
		req.Among = []string{a.Bundle, b.Bundle}
		req.ShowDiff, req.ServerCheck = asking, asking
		return req
	}
	deferred := func(fp *Prepared, kind string) string {
		if err := fp.Findings.Err(); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fp.Clusters[0].Plan.Changes, func(ch plan.Change) bool { return ch.Ref.Kind == kind })
		if i < 0 {
			t.Fatalf("%s is not planned", kind)
		}
		return fp.Clusters[0].Plan.Changes[i].Deferred
	}
	comes := "the definition of Thing comes with bundle " + a.Bundle + ", which is required"
	if got := deferred(r.plan(both(b, true)), "Thing"); got != comes {
		t.Errorf("new: %q", got)
	}
	if got := deferred(r.plan(both(b, true)), "ConfigMap"); got != "namespace "+other+" comes with bundle "+a.Bundle+", which is required" {
		t.Errorf("new: %q", got)
	}
	deferred(r.plan(both(b, false)), "Thing")
	r.write("second.yaml", strings.Replace(thing, "size: 1", "size: none", 1)) // what the coming definition does not allow
	if fp := r.plan(both(b, false)); !slices.Equal(codes(fp), []string{answer.CodeInvalidObject}) {
		t.Errorf("%v", fp.Findings)
	}
	r.write("second.yaml", thing+elsewhere)
	r.applied(both(a, false))
	r.applied(both(b, false))

	r.write("first.yaml", strings.Replace(crd, "size: {", "colour: {type: string}, size: {", 1)+namespace)
	r.write("second.yaml", strings.Replace(thing, "size: 1", "colour: red", 1)+elsewhere)
	if got := deferred(r.plan(both(b, true)), "Thing"); got != comes {
		t.Errorf("changed: %q", got)
	}
	if got := deferred(r.plan(both(b, false)), "Thing"); got != comes { // only what needs it is asked about
		t.Errorf("changed, without field changes: %q", got)
	}
	if fp := r.plan(b); !slices.Equal(codes(fp), []string{answer.CodeInvalidObject}) { // done alone, it is refused
		t.Errorf("alone: %v", fp.Findings)
	}
	r.applied(both(a, false))
	r.applied(both(b, false))
	if fp := r.plan(both(b, false)); !fp.Clusters[0].Plan.Empty() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}

// A server publishes the schema of a changed definition a while after it goes by it: what the published document does not
// know yet is asked of the definition itself, and what that does not know is refused.
func TestPublishedSchemaBehindItsDefinition(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group := r.name + ".example"
	crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, colour: {type: string}}}}}}}]
`
	var former atomic.Int64
	r.Documents = func(ctx context.Context, _ string, fetch func(context.Context) ([]byte, error)) ([]byte, error) {
		data, err := fetch(ctx)
		out := bytes.ReplaceAll(data, []byte(`"colour":{"type":"string"},`), nil)
		former.Add(int64(len(data) - len(out)))
		return out, err
	}
	gadget := func(spec string) string {
		return "---\napiVersion: " + group + "/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {" + spec + "}\n"
	}
	a, b := r.pair("", crd, gadget("size: 1"))
	r.applied(a)
	r.applied(b)
	r.soon(func() bool { // the server publishes it about once a second
		index, err := r.admin.Discovery().RESTClient().Get().AbsPath(openapi.Root).DoRaw(t.Context())
		return err == nil && bytes.Contains(index, []byte(group+"/v1"))
	})
	r.write("second.yaml", gadget("size: 1, colour: red"))
	r.applied(b)
	if former.Load() == 0 {
		t.Error("the published document knows the field: nothing was shown")
	}
	r.write("second.yaml", gadget("size: 1, shape: round"))
	if fp := r.plan(b); !slices.Equal(codes(fp), []string{answer.CodeInvalidObject}) || !strings.Contains(fp.Findings[0].What+fp.Findings[0].Path, "shape") {
		t.Errorf("%v", fp.Findings)
	}
}
