package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// asking renders manifests as a chart does that asks for the kinds of the cluster: they are an input, and an object whose
// name begins with "with-things" is left out where the kind Thing is not served.
type asking struct {
	render.Renderer
	group string
}

func (a asking) Key(ctx context.Context, req render.Request) (string, error) {
	key, err := a.Renderer.Key(ctx, req)
	return key + object.DigestJSON(a.things(req)), err
}

// things are the kinds of this test alone that the cluster serves: others come and go beside it.
func (a asking) things(req render.Request) []string {
	return slices.DeleteFunc(slices.Clone(req.APIs), func(api string) bool { return !strings.HasPrefix(api, a.group+"/") })
}

func (a asking) Render(ctx context.Context, req render.Request) (render.Result, error) {
	res, err := a.Renderer.Render(ctx, req)
	if len(a.things(req)) == 0 {
		res.Objects = slices.DeleteFunc(slices.Clone(res.Objects), func(o object.Object) bool { return strings.HasPrefix(o.Ref().Name, "with-things") })
	}
	return res, err
}

// A run that installs definitions, or removes them, and whose instances ask for the kinds that the cluster serves, leaves
// nothing to learn: the same applied again writes nothing. What comes out differently with them is made by the next run.
func TestKindsThatTheRunItselfBrings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group := r.name + ".example"
	r.Renderers["manifests"] = asking{r.Renderers["manifests"], group}
	crd := "---\n" + strings.ReplaceAll(thingDefinition, "GROUP", group)
	version := func() string {
		t.Helper()
		s, err := r.admin.CoreV1().Secrets(object.SystemNamespace).Get(t.Context(), "hawser-"+object.OwnerID("", "", r.name), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s.ResourceVersion
	}
	again := func(when string) {
		t.Helper()
		before := version()
		if fp := r.plan(r.request()); !fp.Clusters[0].Plan.Empty() {
			t.Errorf("%s: left to do: %+v", when, fp.Clusters[0].Plan.Changes)
		}
		r.applied(r.request())
		if version() != before {
			t.Errorf("%s: the same applied again writes the record", when)
		}
	}
	// other is not rendered by the second apply, and learns all the same
	r.write("bundle.yaml", r.bundle(r.configMap("one", "a: b"), "    other:\n      namespace: "+r.name+"\n      manifests: {paths: [other.yaml]}\n"))
	r.write("other.yaml", r.configMap("two", "a: b"))
	r.applied(r.request())
	r.write("app.yaml", r.configMap("one", "a: b")+crd)
	r.applied(r.request())
	again("installed")

	r.write("app.yaml", r.configMap("one", "a: b"))
	removing := r.request()
	number := 1
	removing.ConfirmDelete = &number
	r.applied(removing)
	again("removed")

	r.write("app.yaml", crd+r.configMap("one", "a: b")+r.configMap("with-things", "a: b"))
	r.applied(r.request())
	if fp := r.plan(r.request()); len(fp.Clusters[0].Plan.Changes) != 1 {
		t.Errorf("what is different with the new kind is not planned: %+v", fp.Clusters[0].Plan.Changes)
	}
	r.applied(r.request())
	again("twice")
}
