package engine

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// instances is a bundle of instances in one namespace, each of the manifests in its file NAME.yaml.
func (r *rig) instances(bundle, namespace string, names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %[1]s:\n    apiVersion: v1alpha1\n    name: %[1]s\n    instances:\n", bundle)
	for _, name := range names {
		fmt.Fprintf(&b, "      %s:\n        namespace: %s\n        manifests: {paths: [%[1]s.yaml]}\n", name, namespace)
	}
	return b.String()
}

// enforced is a manifest of a Namespace with a label that its user wants, and the value of that label in the cluster.
const enforce = "pod-security.kubernetes.io/enforce"

func enforced(namespace string) string {
	return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + ", labels: {" + enforce + ": baseline}}\n"
}

func (r *rig) labelsOf(namespace string) map[string]string {
	r.t.Helper()
	ns, err := r.admin.CoreV1().Namespaces().Get(r.t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return ns.Labels
}

// A declared Namespace moves to another bundle of the same files while the former one still uses it, in either order; what it
// is labelled with stays, and nobody is refused.
func TestNamespaceMovesToItsDeclarer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	space, a, b := r.name+"-moves", r.name+"-a", r.name+"-b"
	for _, f := range []string{"uses", "other"} {
		r.write(f+".yaml", r.configMap(f, "k: v"))
	}
	r.write("declares.yaml", enforced(space)+r.configMap("two", "k: v"))
	at := func(inA, inB []string, order ...string) {
		t.Helper()
		r.write("bundle.yaml", "bundles:\n"+r.instances(a, space, inA...)+r.instances(b, space, inB...))
		for range 2 {
			for _, name := range order {
				req := r.request()
				req.Bundle = name
				r.applied(req)
			}
		}
		for _, name := range order {
			req := r.request()
			req.Bundle = name
			if fp := r.plan(req); !fp.Clusters[0].Plan.Empty() {
				t.Errorf("%s, left to do: %+v", name, fp.Clusters[0].Plan.Changes)
			}
		}
	}
	for _, order := range [][]string{{a, b}, {b, a}} {
		at([]string{"uses", "declares"}, []string{"other"}, order...)
		at([]string{"uses"}, []string{"other", "declares"}, order...)
		if got := r.labelsOf(space); got[enforce] != "baseline" || got[object.LabelOwner] != object.OwnerID("", "", b) {
			t.Errorf("%v: %v", order, got)
		}
	}
}

// A Namespace that one instance uses and another declares is that one's, whichever of them came first: its labels stay with
// the next apply, the one that merely uses it takes over when the other goes, and a delete leaves it then.
func TestNamespaceDeclaredLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	space := r.name + "-late"
	r.write("uses.yaml", r.configMap("one", "k: v"))
	r.write("declares.yaml", enforced(space)+r.configMap("two", "k: v"))
	files := func(names ...string) {
		r.write("bundle.yaml", "bundles:\n"+r.instances(r.name, space, names...))
	}
	settled := func(when string) {
		t.Helper()
		if fp := r.plan(r.request()); !fp.Clusters[0].Plan.Empty() {
			t.Errorf("%s, the same again: %+v", when, fp.Clusters[0].Plan.Changes)
		}
	}
	files("uses")
	r.applied(r.request())
	for _, when := range []string{"declared later", "declared again"} {
		files("uses", "declares")
		r.applied(r.request())
		if got := r.labelsOf(space)[enforce]; got != "baseline" {
			t.Fatalf("%s: %q", when, got)
		}
		settled(when)
		files("uses")
		r.applied(r.request())
		if _, labelled := r.labelsOf(space)[enforce]; labelled {
			t.Error("the label of a declaration that is gone stays")
		}
		settled("dropped")
	}
	gone, err := r.Plan(t.Context(), r.request().For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.run.close)
	for _, ch := range gone.Clusters[0].Plan.Changes {
		if ch.Ref == (object.Ref{Kind: "Namespace", Name: space}) && ch.Action != plan.Release {
			t.Errorf("a delete would %s a Namespace that is merely used", ch.Action)
		}
	}
}
