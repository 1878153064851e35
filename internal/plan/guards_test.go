package plan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestFirst: a guard that is dropped goes before the writes, unless something takes its place or hooks come before it.
func TestFirst(t *testing.T) {
	of := func(kind string) object.Ref {
		return object.Ref{Group: "admissionregistration.k8s.io", Kind: kind, Name: "deny"}
	}
	policy, binding, webhooks := of("ValidatingAdmissionPolicy"), of("MutatingAdmissionPolicyBinding"), of("MutatingWebhookConfiguration")
	write := Change{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, Instance: "web", Action: Create}
	gone := func(r object.Ref) Change { return Change{Ref: r, Instance: "guard", Action: Delete} }
	other := func(kind string, a Action) Change {
		r := of(kind)
		r.Name = "other"
		return Change{Ref: r, Instance: "guard", Action: a}
	}
	hook := func(e object.HookPhase, instance string) Change {
		return Change{Ref: object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "h"}, Instance: instance, Action: Create, Hook: &HookTask{Event: e}}
	}
	left := gone(policy)
	left.Hook = &HookTask{}
	for _, c := range []struct {
		reason  string
		changes []Change
		want    string
	}{
		{"all sorts", []Change{write, gone(policy), gone(binding), gone(webhooks), {Ref: object.Ref{Kind: "Secret", Name: "s"}, Action: Delete}},
			"ValidatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration"},
		{"nothing is written", []Change{gone(policy), gone(webhooks)}, ""},
		{"another policy is made", []Change{write, gone(policy), gone(webhooks), other("ValidatingAdmissionPolicy", Create)}, "MutatingWebhookConfiguration"},
		{"another policy is changed", []Change{write, gone(policy), other("ValidatingAdmissionPolicyBinding", Update)}, "ValidatingAdmissionPolicy"},
		{"other webhooks are taken over", []Change{write, gone(policy), gone(webhooks), other("ValidatingWebhookConfiguration", Adopt)}, "ValidatingAdmissionPolicy"},
		{"its instance goes with hooks", []Change{write, gone(policy), hook(object.PreDelete, "guard")}, ""},
		{"another instance goes with hooks", []Change{write, gone(policy), hook(object.PreDelete, "web")}, "ValidatingAdmissionPolicy"},
		{"only hooks of a removal write", []Change{gone(policy), hook(object.PreDelete, "web")}, ""},
		{"a hook writes", []Change{gone(policy), hook(object.PreUpgrade, "web")}, "ValidatingAdmissionPolicy"},
		{"it is what a hook left", []Change{write, left}, ""},
	} {
		p := &Plan{Changes: c.changes}
		var got []string
		for _, r := range p.First() {
			got = append(got, r.Kind)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.reason, got, c.want)
		}
	}
}

// TestRefusedBy: a refusal counts unless who refuses is changed or goes first.
func TestRefusedBy(t *testing.T) {
	const denied = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'deny' with binding 'bind' denied request: no`
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	change := func(kind, name string, a Action) Change {
		return Change{Ref: object.Ref{Group: "admissionregistration.k8s.io", Kind: kind, Name: name}, Action: a}
	}
	for _, c := range []struct {
		reason, refusal string
		ch              Change
		want            bool
	}{
		{"the policy goes", denied, change("ValidatingAdmissionPolicy", "deny", Delete), true},
		{"its binding goes", denied, change("ValidatingAdmissionPolicyBinding", "bind", Delete), true},
		{"the policy is changed", denied, change("ValidatingAdmissionPolicy", "deny", Update), true},
		{"the policy is there as declared", denied, change("ValidatingAdmissionPolicy", "deny", Unchanged), false},
		{"another policy goes", denied, change("ValidatingAdmissionPolicy", "den", Delete), false},
		{"something else of that name goes", denied, Change{Ref: object.Ref{Kind: "Secret", Name: "deny"}, Action: Delete}, false},
		{"a webhook denies, and webhooks go", `admission webhook "a.b.c" denied the request: no`, change("ValidatingWebhookConfiguration", "x", Delete), true},
		{"a webhook does not answer, and webhooks go", `Internal error occurred: failed calling webhook "a.b.c": refused`, change("MutatingWebhookConfiguration", "x", Delete), true},
		{"a webhook denies, and a policy goes", `admission webhook "deny" denied the request`, change("ValidatingAdmissionPolicy", "deny", Delete), false},
		{"something else is wrong", `spec.x: Invalid value: "deny"`, change("ValidatingAdmissionPolicy", "deny", Delete), false},
	} {
		p := &Plan{Changes: []Change{{Ref: ref, Action: Create}, c.ch}}
		if got := p.RefusedBy(c.refusal); (got != "") != c.want {
			t.Errorf("%s: %q", c.reason, got)
		}
		f := diag.Errorf("forbidden", "the change is forbidden")
		f.Why = c.refusal
		if got := p.putOff(Preview{Finding: &f}); (got.Finding == nil) != c.want || (got.Deferred != "") != c.want {
			t.Errorf("%s: %+v", c.reason, got)
		}
	}
}
