package release

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestBelieved: what gives rights and what is hidden because a kept release says so is named; what is not written is not.
func TestBelieved(t *testing.T) {
	binding, config := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding", Name: "evil"}, object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	secret, hook := object.Ref{Kind: "Secret", Namespace: "n", Name: "s"}, object.Ref{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration", Name: "w"}
	bodies := map[object.Ref]object.Object{binding: {}, config: {Sensitive: []string{"data.a", "data.a", "data.b"}}, secret: {Sensitive: []string{"data.a"}}, hook: {}}
	p := &plan.Plan{Changes: []plan.Change{{Ref: binding, Action: plan.Create}, {Ref: config, Action: plan.Update}, {Ref: secret, Action: plan.Update}, {Ref: hook, Action: plan.Unchanged}}}
	fs := Believed(p, bodies)
	text := fmt.Sprint(fs)
	if len(fs) != 2 || !strings.Contains(text, "ClusterRoleBinding evil (create)") || !strings.Contains(text, "ConfigMap n/a (2)") || strings.Contains(text, "Secret n/s") || strings.Contains(text, "Webhook") {
		t.Errorf("%s", text)
	}
	if fs := Believed(&plan.Plan{Changes: []plan.Change{{Ref: binding, Action: plan.Delete}}}, bodies); len(fs) > 0 {
		t.Errorf("%v", fs)
	}
	if f := Unkept(&Record{Release: 4, Rollout: "R"}, fmt.Errorf("cluster a: %w", ErrDamaged)); f[0].Code != "damaged-release" || f[0].Fix == "" || !strings.Contains(f[0].What, "4 (R)") {
		t.Errorf("%+v", f)
	}
	if Unkept(nil, nil) != nil || Unkept(&Record{}, errors.New("no route"))[0].Code != "record" {
		t.Error("an error that is no damage is said to be one")
	}
	one, two := Record{SetDigest: "x"}, []object.Object{{Hook: &object.Hook{Weight: 1}}}
	if Copy(one, two) == Copy(one, []object.Object{{}}) || Copy(one, two) == Copy(one, []object.Object{{Hook: two[0].Hook, Sensitive: []string{"a"}}}) {
		t.Error("what is said about objects is not told apart")
	}
}
