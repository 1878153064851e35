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
	space, pod := object.Ref{Kind: "Namespace", Name: "open"}, object.Ref{Kind: "Pod", Namespace: "n", Name: "p"}
	body := func(r object.Ref, more string, what any) map[string]any {
		return map[string]any{"apiVersion": strings.TrimPrefix(r.Group+"/v1", "/"), "kind": r.Kind, "metadata": map[string]any{"name": r.Name, "namespace": r.Namespace, "labels": map[string]any{"pod-security.kubernetes.io/enforce": "privileged"}}, more: what}
	}
	bodies := map[object.Ref]object.Object{binding: {Body: body(binding, "", nil)}, space: {Body: body(space, "", nil)},
		pod:    {Body: body(pod, "spec", map[string]any{"containers": []any{map[string]any{"name": "c", "command": []any{"evil"}}}}), Sensitive: []string{`spec.containers[name="c"].command[0]`}},
		config: {Sensitive: []string{"data.a", "data.a", "data.b"}}, secret: {Sensitive: []string{"data.a"}}, hook: {}}
	p := &plan.Plan{Changes: []plan.Change{{Ref: binding, Action: plan.Create}, {Ref: config, Action: plan.Update}, {Ref: secret, Action: plan.Update}, {Ref: hook, Action: plan.Unchanged},
		{Ref: space, Action: plan.Update}, {Ref: pod, Action: plan.Create}}}
	plain := func(_, text string) string { return text }
	fs := Believed(p, bodies, plain)
	text := fmt.Sprint(fs)
	if len(fs) != 3 || len(fs.Warnings()) != 3 || !strings.Contains(text, "Namespace open (update)") || !strings.Contains(text, `Pod n/p: spec.containers[name="c"].command[0]`) || !strings.Contains(text, "ClusterRoleBinding evil (create)") || !strings.Contains(text, "ConfigMap n/a (2)") || strings.Contains(text, "Secret n/s") || strings.Contains(text, "Webhook") {
		t.Errorf("%s", text)
	}
	if fs := Believed(&plan.Plan{Changes: []plan.Change{{Ref: binding, Action: plan.Delete}}}, bodies, plain); len(fs) > 0 {
		t.Errorf("%v", fs)
	}
	if f := Unkept(&Record{Release: 4, Rollout: "R"}, fmt.Errorf("cluster a: %w", ErrDamaged)); f[0].Code != "damaged-release" || f[0].Fix == "" || !strings.Contains(f[0].What, "4 (R)") {
		t.Errorf("%+v", f)
	}
	lost := Unkept(&Record{Release: 4, Rollout: "R"}, fmt.Errorf("cluster a: read: %w", &MissingError{Secret: "hawser-system/hawser-x-r4-set-y-0", Err: errors.New("not found")}))
	if f := lost[0]; f.Code != CodeLostRelease || f.What != "the objects of release 4 (R) are no longer kept here: the Secret hawser-system/hawser-x-r4-set-y-0 is missing" || f.Why == "" || !strings.Contains(f.Fix, "--to") {
		t.Errorf("%+v", lost)
	}
	if Unkept(nil, nil) != nil || Unkept(&Record{}, errors.New("no route"))[0].Code != "record" {
		t.Error("an error that is no damage is said to be one")
	}
	one, two := Record{SetDigest: "x"}, []object.Object{{Hook: &object.Hook{Weight: 1}}}
	if Copy(one, two) == Copy(one, []object.Object{{}}) || Copy(one, two) == Copy(one, []object.Object{{Hook: two[0].Hook, Sensitive: []string{"a"}}}) {
		t.Error("what is said about objects is not told apart")
	}
}

// TestBelievedOfWhatChanges: of an object that is there nothing is told where nothing that is hidden changes, as the API server and the live object
// tell; the record's own word, of what is there too, does not do.
func TestBelievedOfWhatChanges(t *testing.T) {
	pod := object.Ref{Kind: "Pod", Namespace: "n", Name: "p"}
	bodies := map[object.Ref]object.Object{pod: {Sensitive: []string{`spec.containers[name="c"].command[0]`}, Body: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "n"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "b", "command": []any{"evil"}}}}}}}
	image := plan.FieldChange{Path: "spec.containers[c].image", Old: `"a"`, New: `"b"`}
	command := plan.FieldChange{Path: "spec.containers[c].command", Hidden: true}
	for name, c := range map[string]struct {
		change plan.Change
		quiet  bool
	}{
		"an image alone":                 {plan.Change{Action: plan.Update, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{image}}, true},
		"a command, too":                 {plan.Change{Action: plan.Update, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{image, command}}, false},
		"a part of a value":              {plan.Change{Action: plan.Update, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{{Path: "spec.containers[c]", New: `{"command":["***"]}`}}}, false},
		"a key":                          {plan.Change{Action: plan.Update, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{{Path: "metadata.annotations.***", New: `"x"`}}}, false},
		"what is hidden when it is told": {plan.Change{Action: plan.Update, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{{Path: "spec.a", New: `"word"`}}}, false},
		"compared with the record":       {plan.Change{Action: plan.Update, Checked: true, Fields: []plan.FieldChange{image}}, false},
		"nobody was asked":               {plan.Change{Action: plan.Update, AgainstLive: true, Fields: []plan.FieldChange{image}}, false},
		"it is new":                      {plan.Change{Action: plan.Create, Checked: true, AgainstLive: true}, false},
		"made anew":                      {plan.Change{Action: plan.Recreate, Checked: true, AgainstLive: true, Fields: []plan.FieldChange{image}}, false},
	} {
		c.change.Ref = pod
		fs := Believed(&plan.Plan{Changes: []plan.Change{c.change}}, bodies, func(_, text string) string { return strings.ReplaceAll(text, "word", "***") })
		if quiet := len(fs) == 0; quiet != c.quiet {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
