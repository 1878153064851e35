package fleetplan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// The Namespaces that apply makes for an instance are built without our marks, and are nothing that is pruned.
func TestNamespaces(t *testing.T) {
	ns := func(name, instance string, own bool) plan.Desired {
		return plan.Desired{Ref: object.Ref{Kind: "Namespace", Name: name}, Instance: instance, OwnNamespace: own}
	}
	got := Namespaces("api", []plan.Desired{ns("shop", "api", true), ns("other", "web", true), ns("declared", "api", false), ns("default", "api", true),
		{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "c"}, Instance: "api"}})
	if len(got) != 1 || got[0].Ref() != (object.Ref{Kind: "Namespace", Name: "shop"}) {
		t.Fatalf("%+v", got)
	}
	u := got[0].Unstructured()
	if u.GetAnnotations()["hawser.dev/prune"] != "disabled" || u.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"] != "disabled" || len(u.GetLabels()) > 0 {
		t.Errorf("%+v", u.Object)
	}
}
