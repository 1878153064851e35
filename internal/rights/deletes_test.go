package rights

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestUndeletable: who may not list what is in a Namespace or of a definition's kind is warned that he could not delete it; where not all is known of a
// namespace, nothing is said.
func TestUndeletable(t *testing.T) {
	ns, crd := object.Ref{Kind: "Namespace", Name: "shop"}, object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.x.dev"}
	holders := Lasting([]plan.Desired{{Ref: ns}, {Ref: crd}, {Ref: object.Ref{Kind: "Namespace", Name: "own"}, OwnNamespace: true},
		{Ref: object.Ref{Kind: "Namespace", Name: "kept"}, Keep: true}, {Ref: object.Ref{Kind: "ConfigMap", Name: "a"}}})
	if !slices.Equal(holders, []object.Ref{ns, crd}) {
		t.Fatalf("%v", holders)
	}
	inside := []Right{{Verb: "list", Resource: "secrets"}, {Verb: "list", Group: "apps", Resource: "deployments"}}
	rule := func(group, resource string) Rule {
		return Rule{Verbs: []string{"list"}, APIGroups: []string{group}, Resources: []string{resource}}
	}
	for name, c := range map[string]struct {
		rules []Rule
		whole bool
		want  []string
	}{
		"everything": {[]Rule{rule("*", "*")}, true, nil},
		"one kind":   {[]Rule{rule("apps", "deployments")}, true, []string{"list on secrets in namespace shop", "list on widgets.x.dev in the cluster"}},
		"all kinds":  {[]Rule{rule("apps", "deployments"), rule("", "secrets"), rule("x.dev", "widgets")}, true, nil},
		"not known":  {[]Rule{rule("apps", "deployments")}, false, []string{"list on widgets.x.dev in the cluster"}},
		"nothing":    {nil, false, nil},
	} {
		asked := 0
		a := Asker{Known: func(context.Context, string) Known { asked++; return Known{Rules: c.rules, Whole: c.whole} },
			Allowed: func(context.Context, Right) bool { return false }}
		var got []string
		for _, f := range a.Undeletable(t.Context(), append(holders, crd), inside) {
			if got = append(got, f.Why); f.Severity != diag.Warning || f.Code != CodeDelete || !strings.Contains(f.Fix, "--print-rbac") {
				t.Errorf("%+v", f)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, c.want) || asked != 2 {
			t.Errorf("%s: %q, want %q, asked %d times", name, got, c.want, asked)
		}
	}
}
