package rights

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestOf: each change needs the verbs that carry it out; what comes with the plan has the resource that its kind suggests,
// and a custom one is not asked about before it is there.
func TestOf(t *testing.T) {
	cm := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	served := func(object.Ref) string { return "configmaps" }
	for name, tt := range map[string]struct {
		ch   plan.Change
		want []string
	}{
		"create":   {plan.Change{Action: plan.Create, Ref: cm}, []string{"create", "patch"}},
		"update":   {plan.Change{Action: plan.Update, Ref: cm}, []string{"patch"}},
		"delete":   {plan.Change{Action: plan.Delete, Ref: cm}, []string{"delete"}},
		"recreate": {plan.Change{Action: plan.Recreate, Ref: cm}, []string{"create", "delete", "patch"}},
		"adopt":    {plan.Change{Action: plan.Adopt, Ref: cm}, []string{"get", "patch"}},
		"let go":   {plan.Change{Action: plan.Release, Ref: cm}, nil},
		"a hook":   {plan.Change{Action: plan.Create, Ref: cm, Hook: &plan.HookTask{IfSucceeded: true}}, []string{"create", "delete", "patch"}},
	} {
		var verbs []string
		for _, r := range Of(&plan.Plan{Changes: []plan.Change{tt.ch, tt.ch}}, served) {
			verbs = append(verbs, r.Verb)
			if r.Resource != "configmaps" || r.Namespace != "ns" || r.Name != "a" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if !slices.Equal(verbs, tt.want) {
			t.Errorf("%s: %v, want %v", name, verbs, tt.want)
		}
	}
	unserved := func(object.Ref) string { return "" }
	p := &plan.Plan{Changes: []plan.Change{{Action: plan.Delete, Ref: cm}, {Action: plan.Delete, Ref: object.Ref{Group: "x.dev", Kind: "Widget"}}}}
	if got := Of(p, unserved); len(got) != 1 || got[0].Resource != "configmaps" {
		t.Errorf("%+v", got)
	}
}

func TestAllows(t *testing.T) {
	r := Right{Verb: "patch", Group: "apps", Resource: "deployments", Name: "web"}
	for _, tt := range []struct {
		rule Rule
		want bool
	}{
		{Rule{[]string{"*"}, []string{"*"}, []string{"*"}, nil, nil}, true},
		{Rule{[]string{"get", "patch"}, []string{"apps"}, []string{"deployments"}, []string{"web"}, nil}, true},
		{Rule{[]string{"patch"}, []string{"apps"}, []string{"deployments"}, []string{"api"}, nil}, false},
		{Rule{[]string{"patch"}, []string{""}, []string{"deployments"}, nil, nil}, false},
		{Rule{[]string{"get"}, []string{"apps"}, []string{"deployments"}, nil, nil}, false},
	} {
		if tt.rule.Allows(r) != tt.want {
			t.Errorf("%+v: %v", tt.rule, !tt.want)
		}
	}
}

// TestMissing: one finding, with all verbs and what to grant; several kinds or namespaces are lines of it.
func TestMissing(t *testing.T) {
	deployments := []Right{{"patch", "apps", "deployments", "Deployment", "ns", "a"}, {"create", "apps", "deployments", "Deployment", "ns", "b"},
		{"patch", "apps", "deployments", "Deployment", "ns", "b"}}
	one := Missing("eu", deployments)
	if len(one) != 1 || one[0].Cluster != "eu" || one[0].What != "you may not create or patch Deployment in namespace ns" ||
		one[0].Fix != "grant create, patch on deployments.apps; "+Roles || !slices.Equal(Texts(one), []string{one[0].What}) {
		t.Errorf("%+v", one)
	}
	several := Missing("eu", append(deployments, Right{"delete", "", "namespaces", "Namespace", "", "x"}))
	want := []string{"create, patch on deployments.apps in namespace ns", "delete on namespaces in the cluster"}
	if len(several) != 1 || several[0].Cluster != "eu" || several[0].Fix != Roles || !slices.Equal(Texts(several), want) || several[0].Code != Code {
		t.Errorf("%+v", several)
	}
	if got := Missing("eu", nil); got != nil {
		t.Errorf("%+v", got)
	}
}

// TestWhole: all verbs of a bundle's kinds, what is waited for below workloads, and those of record and lock.
func TestWhole(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}
	got := Whole("abc", []object.Ref{web, web, {Group: "x.dev", Kind: "Widget"}}, func(object.Ref) string { return "" })
	for _, want := range []Right{{"watch", "apps", "deployments", "Deployment", "ns", "web"}, {"delete", "apps", "deployments", "Deployment", "ns", "web"},
		{"list", "", "pods", "Pod", "ns", ""}, {"create", "", "secrets", "Secret", object.SystemNamespace, "hawser-abc"}} {
		if !slices.Contains(got, want) {
			t.Errorf("no %+v in %+v", want, got)
		}
	}
	if n := len(Own("abc")) + len(Managed) + 2*len(Seen); len(got) != n {
		t.Errorf("%d, want %d", len(got), n)
	}
}

// TestNeeded: whatever a plan does, its record and its lock are written, under their names.
func TestNeeded(t *testing.T) {
	got := Needed(&plan.Plan{Owner: "abc"}, func(object.Ref) string { return "" })
	if !slices.Contains(got, Right{"update", "", "secrets", "Secret", object.SystemNamespace, "hawser-abc"}) ||
		!slices.Contains(got, Right{"create", "coordination.k8s.io", "leases", "Lease", object.SystemNamespace, "hawser-abc"}) {
		t.Errorf("%+v", got)
	}
}

// Who may keep the record of one bundle has what any bundle needs; who may nothing has not.
func TestOwnOfAnyBundle(t *testing.T) {
	one := Rule{Verbs: []string{"*"}, APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "leases"}, ResourceNames: []string{"hawser-1"}}
	all := Own(AnyName)
	if len(all) == 0 {
		t.Fatal("nothing")
	}
	for _, r := range all {
		if !one.Allows(r) || (Rule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}).Allows(r) || r.Namespace != "hawser-system" {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range Own("2") {
		if one.Allows(r) {
			t.Errorf("%+v", r)
		}
	}
}
