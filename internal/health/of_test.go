package health

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
)

func body(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	deploy = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, generation: 2}\n"
	sts    = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x, generation: 2}\n"
	ds     = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x, generation: 2}\n"
	jobs   = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, generation: 1}\n"
	widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 2}\n"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, object string
		state        State
		reason       string
		hopeless     bool
	}{
		{"deployment not seen", deploy + "spec: {replicas: 3}", Progressing, "its controller has not seen the change yet", false},
		{"deployment of an older generation", deploy + "spec: {replicas: 1}\nstatus: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}",
			Progressing, "its controller has not seen the change yet", false},
		{"deployment updating", deploy + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3}",
			Progressing, "1 of 3 pods updated", false},
		{"deployment with old pods", deploy + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2}",
			Progressing, "1 old pod to go", false},
		{"deployment unready", deploy + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2}",
			Progressing, "2 of 3 pods ready", false},
		{"deployment ready", deploy + "status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}", Ready, "1 of 1 pod ready", false},
		{"deployment scaled to nothing", deploy + "spec: {replicas: 0}\nstatus: {observedGeneration: 2}", Ready, "0 of 0 pods ready", false},
		{"deployment paused", deploy + "spec: {paused: true}\nstatus: {observedGeneration: 2}", Ready, "paused", false},
		{"deployment over its deadline", deploy + "status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}",
			Failed, "0 of 1 pod ready, its progress deadline is over", false},
		{"deployment over quota", deploy + "status: {observedGeneration: 2, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: exceeded quota}]}",
			Progressing, "0 of 1 pod ready", true},
		{"stateful set unready", sts + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 1, updatedReplicas: 2, currentReplicas: 2}", Progressing, "1 of 2 pods ready", false},
		{"stateful set updating", sts + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1, currentReplicas: 1, currentRevision: a, updateRevision: b}",
			Progressing, "1 of 2 pods updated", false},
		{"stateful set ready", sts + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentReplicas: 1, currentRevision: b, updateRevision: b}",
			Ready, "1 of 1 pod ready", false},
		{"daemon set unready", ds + "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}", Progressing, "1 of 2 pods ready", false},
		{"daemon set updating", ds + "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}", Progressing, "1 of 2 pods updated", false},
		{"daemon set ready", ds + "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}", Ready, "2 of 2 pods ready", false},
		{"daemon set without nodes", ds + "status: {observedGeneration: 2, desiredNumberScheduled: 0}", Ready, "0 of 0 pods ready", false},
		{"job running", jobs + "spec: {completions: 2}\nstatus: {active: 1, succeeded: 1}", Progressing, "1 of 2 completions", false},
		{"job completed", jobs + "status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}", Ready, "completed", false},
		{"job failed", jobs + "status: {conditions: [{type: Failed, status: 'True', message: too often}]}", Failed, "the job failed: too often", false},
		{"job suspended", jobs + "spec: {suspend: true}", Ready, "suspended", false},
		{"cron job", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}", Ready, "", false},
		{"service", "apiVersion: v1\nkind: Service\nspec: {type: ClusterIP}", Ready, "", false},
		{"load balancer waits", "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}", Progressing, "waiting for a load balancer's address", false},
		{"load balancer", "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}", Ready, "", false},
		{"claim waiting for its first consumer", "apiVersion: v1\nkind: PersistentVolumeClaim\nstatus: {phase: Pending}", Ready, "not bound yet", false},
		{"claim bound", "apiVersion: v1\nkind: PersistentVolumeClaim\nstatus: {phase: Bound}", Ready, "bound", false},
		{"claim lost", "apiVersion: v1\nkind: PersistentVolumeClaim\nstatus: {phase: Lost}", Failed, "its volume is lost", false},
		{"namespace", "apiVersion: v1\nkind: Namespace\nstatus: {phase: Active}", Ready, "", false},
		{"definition fresh", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition", Progressing, "not established yet", false},
		{"definition established", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nstatus: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}", Ready, "established", false},
		{"definition refused", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nstatus: {conditions: [{type: NamesAccepted, status: 'False', message: taken}]}", Failed, "its names are not accepted: taken", false},
		{"API service", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nstatus: {conditions: [{type: Available, status: 'True'}]}", Ready, "available", false},
		{"API service away", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nstatus: {conditions: [{type: Available, status: 'False', message: no endpoints}]}", Progressing, "not available: no endpoints", false},
		{"custom resource", widget, Ready, "", false},
		{"custom resource not ready", widget + "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'False', message: still building}]}", Progressing, "still building", false},
		{"custom resource stalled", widget + "status: {observedGeneration: 2, conditions: [{type: Stalled, status: 'True', message: no way}]}", Failed, "no way", false},
		{"terminating", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a/b]}", Terminating, "is being deleted, held by finalizer a/b", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Of(body(t, c.object), Rules{})
			if got.State != c.state || got.Reason != c.reason || got.Stalled != c.hopeless {
				t.Errorf("%+v, want %s %q hopeless %v", got, c.state, c.reason, c.hopeless)
			}
		})
	}
	behind := Of(body(t, widget+"status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}"), Rules{})
	if behind.State != Progressing {
		t.Errorf("an older generation is believed: %+v", behind)
	}
}

type checker struct {
	status  Status
	applies bool
	err     error
}

func (c checker) Vet(Check) error { return nil }

func (c checker) Check(Check, map[string]any) (Status, bool, error) {
	return c.status, c.applies, c.err
}

func TestModuleChecksComeFirst(t *testing.T) {
	checks := []Check{{Name: "other", Group: "example.com", Kind: "Gadget"}, {Name: "ours", Group: "example.com", Kind: "Widget"}}
	obj := body(t, widget+"status: {observedGeneration: 2, conditions: [{type: Ready, status: 'False', message: x}]}")
	for _, c := range []struct {
		name    string
		checker Checker
		want    Status
	}{
		{"applies", checker{Status{State: Ready, Reason: "by the module"}, true, nil}, Status{State: Ready, Reason: "by the module"}},
		{"does not apply", checker{}, Status{State: Progressing, Reason: "x"}},
		{"fails", checker{err: errors.New("bad")}, Status{State: Progressing, Reason: "health check ours: bad"}},
		{"none", nil, Status{State: Progressing, Reason: "x"}},
	} {
		if diff := cmp.Diff(c.want, Of(obj, Rules{Checks: checks, Checker: c.checker})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestPods(t *testing.T) {
	pod := func(status string) map[string]any {
		return body(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: api-1}\nstatus: "+status)
	}
	for _, c := range []struct {
		name, status string
		want         []string
		hopeless     bool
	}{
		{"image", "{containerStatuses: [{name: api, state: {waiting: {reason: ImagePullBackOff, message: not found}}}]}", []string{"pod api-1, container api: ImagePullBackOff: not found"}, true},
		{"registry", "{containerStatuses: [{name: api, image: 'x.io/a:1', state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"x.io/a:1\": ErrImagePull: failed to pull \"x.io/a:1\": x.io/a:1: not found'}}}]}",
			[]string{"pod api-1, container api: ImagePullBackOff: x.io/a:1: not found"}, true},
		{"crash loop", "{containerStatuses: [{name: api, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {reason: Error, exitCode: 3}}}]}",
			[]string{"pod api-1, container api: CrashLoopBackOff (last exit: Error, code 3)"}, true},
		{"init container", "{initContainerStatuses: [{name: init, state: {waiting: {reason: CreateContainerConfigError, message: no secret}}}]}", []string{"pod api-1, container init: CreateContainerConfigError: no secret"}, true},
		{"unschedulable", "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes}]}", []string{"pod api-1: Unschedulable: 0/3 nodes"}, true},
		{"starting", "{containerStatuses: [{name: api, state: {waiting: {reason: ContainerCreating}}}]}", nil, false},
		{"killed", "{containerStatuses: [{name: api, state: {terminated: {reason: OOMKilled}}}]}", []string{"pod api-1, container api: OOMKilled"}, false},
		{"evicted", "{phase: Failed, reason: Evicted, message: memory}", []string{"pod api-1: Evicted memory"}, false},
	} {
		got := WithPods(Status{State: Progressing}, []map[string]any{pod(c.status)})
		if diff := cmp.Diff(c.want, got.Details); diff != "" || got.Stalled != c.hopeless {
			t.Errorf("%s: hopeless %v %s", c.name, got.Stalled, diff)
		}
	}
	many := make([]map[string]any, 20)
	for i := range many {
		many[i] = pod("{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: m" + strings.Repeat("x", i) + "}]}")
	}
	if got := WithPods(Status{State: Progressing}, many); len(got.Details) != 6 || got.Details[5] != "and 15 more" {
		t.Errorf("%q", got.Details)
	}
	same := []map[string]any{pod("{phase: Failed, reason: Evicted, message: memory}"), pod("{phase: Failed, reason: Evicted, message: memory}")}
	same[1]["metadata"].(map[string]any)["name"] = "api-2"
	if got := WithPods(Status{State: Progressing}, same); len(got.Details) != 1 || got.Details[0] != "pod api-1 and 1 more: Evicted memory" {
		t.Errorf("%q", got.Details)
	}
	if got := WithPods(Status{State: Ready}, many); got.Details != nil {
		t.Error("a ready status says nothing about pods")
	}
	events := []map[string]any{body(t, "{type: Warning, reason: FailedCreate, message: quota}"), body(t, "{type: Normal, reason: X, message: z}")}
	if got := WithEvents(Status{State: Progressing}, events); !got.Stalled || !cmp.Equal(got.Details, []string{"FailedCreate: quota"}) {
		t.Errorf("%+v", got)
	}
}

func TestWaitable(t *testing.T) {
	for _, c := range []struct {
		ref              object.Ref
		waitable, judged bool
	}{
		{object.Ref{Group: "apps", Kind: "Deployment"}, true, true}, {object.Ref{Group: "batch", Kind: "Job"}, true, true},
		{object.Ref{Group: "batch", Kind: "CronJob"}, false, false}, {object.Ref{Kind: "ConfigMap"}, false, false},
		{object.Ref{Kind: "Secret"}, false, false}, {object.Ref{Group: "rbac.authorization.k8s.io", Kind: "Role"}, false, false},
		{object.Ref{Kind: "Service"}, false, true}, {object.Ref{Kind: "PersistentVolumeClaim"}, false, true},
		{object.Ref{Kind: "Namespace"}, false, true}, {object.Ref{Group: "example.com", Kind: "Widget"}, true, true},
		{object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, true, true}, {object.Ref{}, false, false},
	} {
		if WaitableObject(c.ref, nil) != c.waitable || Judged(c.ref) != c.judged {
			t.Errorf("%+v: waitable %v, judged %v", c.ref, WaitableObject(c.ref, nil), Judged(c.ref))
		}
	}
	if !WaitableObject(object.Ref{Kind: "Service"}, map[string]any{"spec": map[string]any{"type": "LoadBalancer"}}) {
		t.Error("a load balancer is waited for")
	}
}
