package engine

import (
	"slices"
	"strings"
	"testing"
)

// TestBuildNamespaces: what is built for others to apply has each Namespace that apply would make once, with the first instance
// that uses it, and none that somebody declares.
func TestBuildNamespaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("app.yaml", r.configMap("app", "key: one"))
	r.write("spaces.yaml", "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: declared}\n")
	r.write("bundle.yaml", `bundle:
  apiVersion: v1alpha1
  name: shop
  instances:
    one: {namespace: used, manifests: {paths: [app.yaml]}}
    two: {namespace: declared, manifests: {paths: [app.yaml]}}
    three: {namespace: used, manifests: {paths: [spaces.yaml]}}
`)
	req := r.request()
	req.Access.Context = ""
	out, err := r.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range out.Items {
		for _, o := range item.Namespaces {
			got = append(got, item.Instance+" "+o.Ref().Name)
		}
	}
	if !slices.Equal(got, []string{"one used"}) {
		t.Errorf("%q", got)
	}
}

// TestBuildMarksWhatIsSecret: what a build makes of a value of a store is marked in objects of every kind: who writes files
// warns of it and keeps them to their owner.
func TestBuildMarksWhatIsSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Redactor.Add("Zz9CANARY-k")
	r.write("app.yaml", r.configMap("app", "dsn: user:Zz9CANARY-k@db")+r.configMap("plain", "a: b"))
	r.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: shop, instances: {one: {namespace: used, manifests: {paths: [app.yaml]}}}}\n")
	req := r.request()
	req.Access.Context = ""
	out, err := r.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, o := range out.Items[0].Objects {
		got[o.Ref().Name] = o.Sensitive
	}
	if len(got) != 2 || len(got["app"]) != 1 || !strings.Contains(got["app"][0], "dsn") || len(got["plain"]) != 0 {
		t.Errorf("%q", got)
	}
}
