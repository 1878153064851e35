package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

// named is a checker whose verdict names the expression it was asked.
type named struct{}

func (named) Vet(Check) error { return nil }

func (named) Check(c Check, _ map[string]any) (Status, bool, error) {
	if c.CEL == nil {
		return Status{State: Ready, Reason: "cue " + c.Name}, true, nil
	}
	return Status{State: Ready, Reason: c.CEL.Ready}, true, nil
}

// The rule nearest to the object decides, one for its name before one for all.
func TestPrecedence(t *testing.T) {
	rule := func(name, ready string) v1alpha1.HealthRule {
		return v1alpha1.HealthRule{Group: "cert-manager.io", Kind: "Certificate", Name: name, Ready: ready}
	}
	obj := body(t, "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web-tls}")
	instance := []v1alpha1.HealthRule{rule("", "instance"), rule("web-*", "instance by name"), rule("api-*", "instance by another name")}
	module := []v1alpha1.HealthRule{rule("", "module")}
	own := []Check{{Name: "own", Group: "cert-manager.io"}}
	bundle := []v1alpha1.HealthRule{rule("", "bundle")}
	fleet := []v1alpha1.HealthRule{rule("*", "fleet")}
	for _, c := range []struct {
		want   string
		checks []Check
	}{
		{"instance by name", Ordered(instance, module, own, bundle, fleet)},
		{"instance", Ordered(instance[:1], module, own, bundle, fleet)},
		{"module", Ordered(instance[2:], module, own, bundle, fleet)},
		{"cue own", Ordered(nil, nil, own, bundle, fleet)},
		{"bundle", Ordered(nil, nil, nil, bundle, fleet)},
		{"fleet", Ordered(nil, nil, nil, nil, fleet)},
		{`condition(self, "Ready").status == "True"`, nil},
	} {
		got := Of(obj, Rules{Checks: c.checks, Checker: Checkers{CUE: named{}, CEL: named{}}})
		if got.Reason != c.want {
			t.Errorf("%q, want %q", got.Reason, c.want)
		}
	}
	if got := Of(obj, Rules{Checker: Checkers{}}); got.State != Ready {
		t.Errorf("without a checker kstatus decides: %+v", got)
	}
	kept := ModuleOwn(Ordered(instance, module, own, bundle, fleet))
	if want := Ordered(nil, module, own, nil, nil); !Same(kept, want) {
		t.Error(cmp.Diff(want, kept))
	}
	if Same(Ordered(instance[:1], nil, nil, nil, nil), Ordered(nil, instance[:1], nil, nil, nil)) {
		t.Error("rules of other layers are others")
	}
}

// A rule makes objects wait that do not by their kind, and a status of an older generation tells nothing.
// A rule that names no group is for every group, as one of ignore is.
func TestRuleWithoutGroup(t *testing.T) {
	for _, c := range []struct {
		group, apiVersion string
		want              bool
	}{
		{"", "monitoring.coreos.com/v1", true}, {"", "v1", true}, {"*", "v1", true}, {"apps", "v1", false}, {"*.coreos.com", "monitoring.coreos.com/v1", true},
	} {
		ref := object.Object{Body: body(t, "apiVersion: "+c.apiVersion+"\nkind: Alertmanager\nmetadata: {name: main}")}.Ref()
		rules := []v1alpha1.HealthRule{{Group: c.group, Kind: "Alertmanager", Ready: "true"}}
		if got := Ordered(rules, nil, nil, nil, nil)[0].For(ref); got != c.want {
			t.Errorf("group %q for %s: %v, want %v", c.group, c.apiVersion, got, c.want)
		}
	}
}

func TestRulesWaitAndDistrustOldStatus(t *testing.T) {
	rules := Rules{Checker: Checkers{CEL: named{}}, Checks: Ordered([]v1alpha1.HealthRule{{Kind: "ConfigMap", Name: "a*", Ready: "x"}, {Group: "example.com", Kind: "Widget", Ready: "x"}}, nil, nil, nil, nil)}
	if !rules.Waits(object.Ref{Kind: "ConfigMap", Name: "abc"}, nil) || rules.Waits(object.Ref{Kind: "ConfigMap", Name: "b"}, nil) {
		t.Error("the rule is for names with a")
	}
	for text, want := range map[string]Status{
		widget + "status: {observedGeneration: 1}":                        {State: Progressing, Reason: "its controller has not seen the change yet"},
		widget + "spec: {suspend: true}\nstatus: {observedGeneration: 1}": {State: Ready, Reason: "x"},
		widget + "status: {observedGeneration: 2}":                        {State: Ready, Reason: "x"},
		widget + "status: {}":                                             {State: Ready, Reason: "x"},
		widget[:len(widget)-len("metadata: {name: x, generation: 2}\n")] + "metadata: {name: x, deletionTimestamp: '2026-01-01T00:00:00Z'}": {State: Terminating, Reason: "is being deleted"},
	} {
		if diff := cmp.Diff(want, Of(body(t, text), rules)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestVet(t *testing.T) {
	rule := []v1alpha1.HealthRule{{Kind: "Widget", Ready: "x", Pos: v1alpha1.Position{File: "fleet.yaml", Line: 3}}}
	fs := Vet(Checkers{}, Ordered(rule, nil, []Check{{Name: "own", Source: "x"}}, nil, rule), InBundle, InFleet)
	if len(fs) != 1 || fs[0].Code != "health-rule" || fs[0].Pos.Line != 3 || fs[0].What != "the fleet's health rule for Widget cannot be used" {
		t.Errorf("%+v", fs)
	}
}

func TestJobsAndPods(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
	for _, c := range []struct {
		object string
		state  State
		reason string
	}{
		{jobs + "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}", Failed, "the job failed: BackoffLimitExceeded: Job has reached the specified backoff limit"},
		{jobs + "status: {conditions: [{type: Failed, status: 'True', reason: DeadlineExceeded}]}", Failed, "the job failed: DeadlineExceeded"},
		{jobs + "status: {conditions: [{type: FailureTarget, status: 'True', reason: PodFailurePolicy, message: exit 42}]}", Progressing, "the job is about to fail: PodFailurePolicy: exit 42"},
		{jobs + "spec: {backoffLimit: 3}\nstatus: {active: 1, failed: 2}", Progressing, "0 of 1 completion, 2 pods failed (backoff limit 3)"},
		{jobs + "spec: {suspend: true}", Ready, "suspended"},
		{jobs + "spec: {suspend: true}\nstatus: {conditions: [{type: Complete, status: 'True'}, {type: Suspended, status: 'False'}]}", Ready, "completed"},
		{pod + "status: {phase: Succeeded}", Ready, "completed"},
		{pod + "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", Ready, "running"},
		{pod + "status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}", Progressing, "not ready yet"},
		{pod + "status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 0, reason: Completed}}}, {name: b, state: {terminated: {exitCode: 2, reason: Error}}}]}", Failed, "the pod failed: container b: Error, exit code 2"},
		{pod + "status: {phase: Failed, reason: Evicted, message: disk}", Failed, "the pod failed: Evicted disk"},
		{pod + "status: {phase: Failed}", Failed, "the pod failed: no container says why"},
	} {
		if got := Of(body(t, c.object), Rules{}); got.State != c.state || got.Reason != c.reason {
			t.Errorf("%s: %+v, want %s %q", c.object, got, c.state, c.reason)
		}
	}
	waiting := Of(body(t, pod+"status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ImagePullBackOff, message: not found}}}]}"), Rules{})
	if !waiting.Stalled || !cmp.Equal(waiting.Details, []string{"container a: ImagePullBackOff: not found"}) {
		t.Errorf("%+v", waiting)
	}
}
