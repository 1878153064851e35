package fleetplan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

func TestStatusVerdict(t *testing.T) {
	ready := ClusterStatus{Cluster: "a", Bundle: "web", Phase: "succeeded", Instances: []InstanceStatus{{State: "ready"}}}
	failed := ClusterStatus{Cluster: "b", Bundle: "web", Phase: "succeeded", Instances: []InstanceStatus{{State: "failed"}}}
	none, hidden := ClusterStatus{Cluster: "c"}, ClusterStatus{Cluster: "d", Unknown: "the right to get secrets is missing"}
	down := ClusterStatus{Cluster: "e", Unreachable: "no answer"}
	silent := ClusterStatus{Cluster: "f", Silent: []string{"metrics.k8s.io"}}
	written := ready
	written.Phase = "written"
	for _, c := range []struct {
		name, bundle string
		rows         []ClusterStatus
		want         error
		finding      string
	}{
		{"ready", "web", []ClusterStatus{ready, written}, nil, ""},
		{"not ready", "web", []ClusterStatus{ready, failed}, ErrNotReady, ""},
		{"not ready, and not installed on one", "web", []ClusterStatus{ready, none, failed}, ErrNotReady, ""},
		{"not installed on one", "web", []ClusterStatus{ready, none, written}, nil, "bundle web is not installed on c"},
		{"not installed", "web", []ClusterStatus{none}, nil, "not installed on any"},
		{"not installed, as far as could be asked", "web", []ClusterStatus{silent, none, silent}, nil, "not installed on any"},
		{"nothing asked for by name", "", []ClusterStatus{ready, none}, nil, ""},
		{"unknown is not \"not installed\"", "web", []ClusterStatus{ready, hidden}, ErrPartial, ""},
		{"unreachable", "web", []ClusterStatus{down, none}, ErrPartial, ""},
	} {
		r := &StatusReport{Bundle: c.bundle, Clusters: c.rows}
		err := r.Verdict()
		if c.finding != "" {
			if len(r.Findings) != 1 || r.Findings[0].Severity != diag.Error || !strings.Contains(r.Findings[0].What, c.finding) || err == nil {
				t.Errorf("%s: %v, %v", c.name, err, r.Findings)
			}
			if asked := slices.ContainsFunc(c.rows, func(r ClusterStatus) bool { return r.Silent != nil }); asked != (r.Findings[0].Why == "as far as could be asked: no answer from the API group metrics.k8s.io") {
				t.Errorf("%s: %v", c.name, r.Findings)
			}
			continue
		}
		if !errors.Is(err, c.want) || len(r.Findings) != 0 {
			t.Errorf("%s: %v, %v", c.name, err, r.Findings)
		}
	}
}

// TestMarkSkipped: each bundle's last rollout by itself says which clusters it never came to.
func TestMarkSkipped(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 9, 1, 12, minute, 0, 0, time.UTC) }
	row := func(cluster, bundle, id string, minute int, ended bool) ClusterStatus {
		return ClusterStatus{Cluster: cluster, Bundle: bundle,
			Run: rollout.Run{Cluster: cluster, Rollout: id, Revision: id, Began: at(minute), Ended: ended}}
	}
	s := &StatusReport{Clusters: []ClusterStatus{row("a", "shop", "2", 2, false), row("b", "shop", "1", 1, true), row("b", "blog", "1", 1, true), {Cluster: "c"}}}
	s.MarkSkipped()
	var got []string
	for _, c := range s.Clusters {
		if c.NotStarted {
			got = append(got, c.Cluster+"/"+c.Bundle)
		}
	}
	if !slices.Equal(got, []string{"b/shop"}) {
		t.Errorf("%q", got)
	}
}

// TestInstancesOf: an instance is as its worst object, drift and what nobody waits for included.
func TestInstancesOf(t *testing.T) {
	ref := deployment
	owned := func(instance, name string) plan.InventoryEntry {
		return plan.InventoryEntry{Ref: ref(name), Instance: instance, UID: "u-" + name, ApplyHash: "e"}
	}
	slow := owned("web", "slow")
	slow.NoWait = true
	rec := release.Record{Bundle: "shop", Revision: 4, SourceDigest: "h", Rollout: "7K2M", Phase: release.Failed, Author: "ada", Sources: map[string]string{"api": "module api", "drift": "module drift"}, Suspended: []string{"web"},
		Inventory: []plan.InventoryEntry{owned("web", "web"), slow, owned("api", "api"), owned("db", "gone"), owned("drift", "drift")}}
	live, judged := map[object.Ref]plan.Live{}, map[object.Ref]health.Status{}
	for _, name := range []string{"web", "slow", "api", "drift"} {
		live[ref(name)] = plan.Live{Found: true, UID: "u-" + name, ApplyHash: "e", OwnerLabel: "me"}
		judged[ref(name)] = health.Status{State: health.Ready}
	}
	judged[ref("slow")], judged[ref("api")] = health.Status{State: health.Progressing}, health.Status{State: health.Failed, Reason: "crashes"}
	live[ref("web")] = plan.Live{Found: true, UID: "u-web", ApplyHash: "other", ResourceVersion: "2", OwnerLabel: "me", Foreign: "kubectl edit"} // suspended: not compared
	live[ref("drift")] = plan.Live{Found: true, UID: "u-drift", ApplyHash: "other", ResourceVersion: "2", OwnerLabel: "me", Foreign: "kubectl edit"}
	var got []string
	for _, in := range InstancesOf(rec, nil, live, judged, nil) {
		got = append(got, fmt.Sprintf("%s %s %d %s %t", in.Instance, in.State, len(in.Objects), in.Source, in.Suspended))
	}
	if want := []string{"api failed 1 module api false", "db missing 1  false", "drift drifted 1 module drift false", "web ready 2  true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	live[ref("drift")] = plan.Live{Found: true, UID: "another", ApplyHash: "e", OwnerLabel: "me"}
	if in := InstancesOf(rec, map[object.Ref]object.Object{ref("drift"): {Body: map[string]any{}}}, live, judged, nil); in[2].Instance != "drift" || in[2].State != health.Drifted {
		t.Errorf("what was replaced by an object with our marks is drifted: %+v", in[2])
	}
	row := ClusterStatus{Cluster: "a", Group: "g"}.With(rec, "ada since noon")
	if row.Cluster != "a" || row.Group != "g" || row.Bundle != "shop" || row.Revision != 4 || row.Phase != release.Failed || row.Run.Ended || !row.Run.InProgress || row.Run.Rollout != "7K2M" {
		t.Errorf("%+v", row)
	}
}

// TestNothingThere: where a release that ended well has nothing, nothing is ready; one that did not end is not settled.
func TestNothingThere(t *testing.T) {
	for _, c := range []struct {
		row  ClusterStatus
		have []InstanceStatus
		want bool
	}{
		{ClusterStatus{Phase: release.Succeeded}, nil, true},
		{ClusterStatus{Phase: release.Succeeded}, []InstanceStatus{{Instance: "web"}}, false},
		{ClusterStatus{Phase: release.Failed}, nil, false},
		{ClusterStatus{Phase: release.Succeeded, InProgress: "ada"}, nil, false},
	} {
		if got := c.row.Holding(c.have); got.NotPlaced != c.want {
			t.Errorf("%+v", got)
		}
	}
}

// Replicas that an autoscaler sets are no drift, those that a person sets are, and so is whatever else is taken beside them.
func TestInstancesOfWhatIsScaled(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		op := metav1.ManagedFieldsOperationUpdate
		if manager == object.Manager("") {
			op = metav1.ManagedFieldsOperationApply
		}
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, Subresource: subresource, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	ref := deployment("web")
	body := object.Object{Body: map[string]any{"spec": map[string]any{"replicas": int64(1), "paused": true}}}
	rec := release.Record{Phase: release.Succeeded, Inventory: []plan.InventoryEntry{{Ref: ref, Instance: "web", UID: "u", ResourceVersion: "1", ApplyHash: "e", Replicas: true}}}
	scaled := []metav1.ManagedFieldsEntry{entry(object.Manager(""), "", `{"f:spec":{"f:paused":{}}}`), entry("kube-controller-manager", "scale", `{"f:spec":{"f:replicas":{}}}`)}
	for name, c := range map[string]struct {
		body    object.Object
		uid     string
		managed []metav1.ManagedFieldsEntry
		want    string
	}{
		"autoscaler":            {body, "u", scaled, "ready"},
		"person":                {body, "u", []metav1.ManagedFieldsEntry{scaled[0], entry("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`)}, "drifted"},
		"autoscaler and person": {body, "u", []metav1.ManagedFieldsEntry{entry(object.Manager(""), "", `{}`), scaled[1], entry("kubectl-edit", "", `{"f:spec":{"f:paused":{}}}`)}, "drifted"},
		"not known what":        {object.Object{}, "u", scaled, "drifted"},
		"another object":        {body, "v", scaled, "drifted"},
	} {
		live := map[object.Ref]plan.Live{ref: {Found: true, UID: c.uid, ResourceVersion: "2", ApplyHash: "f", Managed: c.managed, Autoscaler: "HorizontalPodAutoscaler ns/web"}}
		judged := map[object.Ref]health.Status{ref: {State: health.Ready}}
		if got := InstancesOf(rec, map[object.Ref]object.Object{ref: c.body}, live, judged, nil)[0].State; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What a run that ended in the middle wrote is not called drifted; what somebody is known to have changed is.
func TestInstancesOfAnOpenRecord(t *testing.T) {
	rec := release.Record{Phase: release.Applying, Inventory: []plan.InventoryEntry{
		{Ref: deployment("new"), Instance: "new"}, {Ref: deployment("old"), Instance: "old", UID: "u", ResourceVersion: "1", ApplyHash: "e"}}}
	live := map[object.Ref]plan.Live{deployment("new"): {Found: true, UID: "n", ResourceVersion: "1", ApplyHash: "e"},
		deployment("old"): {Found: true, UID: "u", ResourceVersion: "2", ApplyHash: "f"}}
	declared := map[object.Ref]object.Object{}
	judged := map[object.Ref]health.Status{deployment("new"): {State: health.Ready}, deployment("old"): {State: health.Ready}}
	states := func() (out []string) {
		for _, in := range InstancesOf(rec, declared, live, judged, nil) {
			out = append(out, in.Instance+" "+in.State)
		}
		return out
	}
	if got := states(); !slices.Equal(got, []string{"new ready", "old ready"}) {
		t.Errorf("%v", got)
	}
	rec.Phase = release.Failed
	if got := states(); !slices.Equal(got, []string{"new drifted", "old drifted"}) {
		t.Errorf("a record that was closed: %v", got)
	}
	rec.Phase = release.Applying
	declared[deployment("old")] = object.Object{Body: map[string]any{"spec": map[string]any{"replicas": int64(1)}}}
	l := live[deployment("old")]
	l.Managed = []metav1.ManagedFieldsEntry{{Manager: object.Manager(""), Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{}`)}, {Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}}
	live[deployment("old")] = l
	if got := states(); !slices.Equal(got, []string{"new ready", "old drifted"}) {
		t.Errorf("changed by somebody: %v", got)
	}
}

// TestInstancesThatMoved: what is another bundle's of the same files moved, and is nothing to be mended; an instance of which all
// moved is said so, and a bundle of which all instances did has nothing left. What somebody else's bundle took is drift.
func TestInstancesThatMoved(t *testing.T) {
	owned := func(instance, name string) plan.InventoryEntry {
		return plan.InventoryEntry{Ref: deployment(name), Instance: instance, UID: "u", ApplyHash: "e", ResourceVersion: "1"}
	}
	namespace := plan.InventoryEntry{Ref: object.Ref{Kind: "Namespace", Name: "shop"}, Instance: "all", UID: "n", ApplyHash: "e", OwnNamespace: true}
	rec := release.Record{Bundle: "old", Phase: release.Succeeded, Inventory: []plan.InventoryEntry{namespace, owned("all", "a"), owned("part", "b"), owned("part", "c"), owned("taken", "d")}}
	theirs := plan.Live{Found: true, UID: "u", ResourceVersion: "2", ForeignBundle: true, Foreign: "Hawser bundle x"}
	live := map[object.Ref]plan.Live{namespace.Ref: {Found: true, UID: "n", ResourceVersion: "1", ApplyHash: "e"}, deployment("a"): theirs, deployment("b"): theirs, deployment("c"): {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e"}, deployment("d"): theirs}
	judged := map[object.Ref]health.Status{}
	for ref := range live {
		judged[ref] = health.Status{State: health.Ready}
	}
	moved := map[object.Ref]string{deployment("a"): "new", deployment("b"): "new"}
	instances := InstancesOf(rec, nil, live, judged, moved)
	var got []string
	for _, in := range instances {
		got = append(got, in.Instance+" "+in.State+" "+strings.Join(in.Moved(), ","))
	}
	if want := []string{"all moved new", "part ready ", "taken drifted "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if drift := instances[2].Objects[0].Drift(); drift != "drifted (by Hawser bundle x)" {
		t.Errorf("%q", drift)
	}
	for n, want := range map[int]bool{1: true, 2: false} {
		s := &StatusReport{Bundle: "old", Clusters: []ClusterStatus{{Cluster: "a", Bundle: "old", Phase: release.Succeeded, Instances: instances[:n]}}}
		if err := s.Verdict(); err != nil || (len(s.Findings) == 1) != want || want && !strings.Contains(s.Findings[0].String(), "hawser delete old") {
			t.Errorf("%d instances: %v %v", n, err, s.Findings)
		}
	}
}
