package rights

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func bodies(t *testing.T, text string) map[object.Ref]object.Object {
	t.Helper()
	out := map[object.Ref]object.Object{}
	for _, doc := range strings.Split(text, "---\n") {
		var body map[string]any
		if err := yaml.Unmarshal([]byte("apiVersion: rbac.authorization.k8s.io/v1\n"+doc), &body); err != nil {
			t.Fatal(err)
		}
		o := object.Object{Body: body}
		out[o.Ref()] = o
	}
	return out
}

const giving = `kind: Role
metadata: {name: app, namespace: ns}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [list]}]
---
kind: RoleBinding
metadata: {name: app, namespace: ns}
roleRef: {kind: Role, name: app}
---
kind: RoleBinding
metadata: {name: view, namespace: ns}
roleRef: {kind: ClusterRole, name: view}
---
kind: ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{}]}
`

// TestGiven: a role gives its rules, a binding those of its role, where the bundle declares it; what a plan does not write, or the server
// has taken in a dry run, is not asked for.
func TestGiven(t *testing.T) {
	objects := bodies(t, giving)
	var got []string
	for _, g := range Given(objects) {
		got = append(got, g.line())
	}
	rules := "get on secrets; list on deployments.apps in namespace ns, which "
	want := []string{"escalate on clusterroles.rbac.authorization.k8s.io (all) in the cluster, for ClusterRole/all", rules + "Role ns/app gives", rules + "RoleBinding ns/app gives",
		"bind on clusterroles.rbac.authorization.k8s.io (view) in namespace ns, for RoleBinding ns/view"}
	for i := range want {
		want[i] = strings.Replace(want[i], "ClusterRole/all", object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "all"}.String(), 1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p := &plan.Plan{}
	for ref := range objects {
		action, checked := plan.Unchanged, false
		switch {
		case ref.Kind == "Role":
			action = plan.Create
		case ref.Kind == "ClusterRole":
			action, checked = plan.Update, true
		}
		p.Changes = append(p.Changes, plan.Change{Ref: ref, Action: action, Checked: checked})
	}
	if given := GivenBy(p, objects); len(given) != 1 || given[0].Object.Kind != "Role" {
		t.Errorf("%+v", given)
	}
}

// TestGiving: who has the rules himself, or the right to give them, lacks nothing; a role that cannot be read is not judged.
func TestGiving(t *testing.T) {
	rule := func(verbs, group, resource string, names ...string) Rule {
		return Rule{Verbs: strings.Split(verbs, " "), APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
	}
	const rbac = "rbac.authorization.k8s.io"
	own := []Rule{rule("get list", "", "secrets"), rule("*", "apps", "*")}
	escalate, bind := rule("escalate", rbac, "clusterroles", "all"), rule("bind", rbac, "clusterroles", "view")
	view := Role{Rules: []Rule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics/x"}}, rule("get", "", "pods/log", "web")}}
	for name, c := range map[string]struct {
		known   Known
		allowed bool
		role    error
		want    []string
	}{
		"nothing":                            {Known{Whole: true}, false, nil, []string{"ClusterRole/all", "Role/app", "RoleBinding/app", "RoleBinding/view"}},
		"the rules, and may give the others": {Known{Rules: append(own, escalate, bind), Whole: true}, false, nil, nil},
		"the rules alone":                    {Known{Rules: own, Whole: true}, false, nil, []string{"ClusterRole/all", "RoleBinding/view"}},
		"what is not declared, too":          {Known{Rules: append(own, escalate, rule("get", "", "*/log"), Rule{Verbs: []string{"*"}, NonResourceURLs: []string{"/metrics*"}}), Whole: true}, false, nil, nil},
		"of one name only":                   {Known{Rules: append(own, escalate, rule("get", "", "pods/log", "api"), Rule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}), Whole: true}, false, nil, []string{"RoleBinding/view"}},
		"one that cannot be read":            {Known{Rules: append(own, escalate), Whole: true}, false, errors.New("forbidden"), nil},
		"part of a rule":                     {Known{Rules: []Rule{rule("get", "", "secrets", "one"), rule("list", "apps", "deployments"), escalate, bind}, Whole: true}, false, nil, []string{"Role/app", "RoleBinding/app"}},
		"another says so":                    {Known{Rules: own[:1]}, true, nil, nil},
		"nobody knows":                       {Known{}, false, nil, nil},
	} {
		a := Asker{Known: func(context.Context, string) Known { return c.known }, Allowed: func(context.Context, Right) bool { return c.allowed },
			Role: func(context.Context, object.Ref) (Role, error) { return view, c.role }}
		missing, lacking := a.Without(t.Context(), nil, Given(bodies(t, giving)))
		var got []string
		for _, g := range lacking {
			got = append(got, g.Object.Kind+"/"+g.Object.Name)
		}
		if !slices.Equal(got, c.want) || len(missing) > 0 {
			t.Errorf("%s: %q, want %q; %v", name, got, c.want, missing)
		}
	}
}

// What is given and missing is told with the other rights.
func TestMissingGiven(t *testing.T) {
	given := Given(bodies(t, giving))
	one := Missing("eu", nil, given[1])
	if len(one) != 1 || one[0].Code != Code || !strings.Contains(one[0].What, "Role ns/app: it gives rights") || !strings.Contains(one[0].Fix, "escalate on roles."+given[1].Group+" (app)") ||
		!slices.Equal(Texts(one), []string{given[1].line()}) {
		t.Errorf("%+v", one)
	}
	if both := Missing("eu", []Right{{"patch", "", "pods", "Pod", "ns", "a"}}, given[1]); len(Texts(both)) != 2 || both[0].Fix != Roles {
		t.Errorf("%+v", both)
	}
}
