package cluster_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS, annotations: {note: declared}}
data: {level: info, mode: a}
`

// ignoring is a bundle that leaves fields to others.
func ignoring(t *testing.T, rule v1alpha1.IgnoreRule) *bundle {
	b := newBundle(t)
	b.policy.Ignore = []v1alpha1.IgnoreRule{rule}
	return b
}

// drifted reports what status would say of the only object.
func drifted(t *testing.T, s *cluster.Session, b *bundle) bool {
	t.Helper()
	obs, fs := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: b.owned})
	if err := fs.Err(); err != nil || len(b.owned) != 1 {
		t.Fatal(err, b.owned)
	}
	o := b.owned[0]
	live := obs.Live[o.Ref]
	return live.ResourceVersion != o.ResourceVersion && live.ApplyHash != o.ApplyHash && !live.LeftToOthers
}

func setting(t *testing.T, ns, key string) string {
	t.Helper()
	v, _, _ := unstructured.NestedString(get(t, configMaps, ns, "settings").Object, "data", key)
	return v
}

// A difference in an ignored field is no drift and costs nothing; another one still is, and is taken back without
// touching the ignored field. What is declared anew leaves the live value, and a new object gets the declared one.
func TestIgnoredPathIsLeftToOthers(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := ignoring(t, v1alpha1.IgnoreRule{Kind: "ConfigMap", Paths: []string{"data.level"}})
	b.apply(t, s, objs(t, ns, settings)...)
	if setting(t, ns, "level") != "info" {
		t.Error("created without the declared value")
	}
	patch(t, "somebody", configMaps, ns, "settings", `{"data": {"level": "debug"}}`)
	from := f.AuditOffset(t, one)
	if drifted(t, s, b) {
		t.Error("status says drift")
	}
	b.unchanged(t, s, objs(t, ns, settings)...)
	if p, _ := b.plan(t, s, objs(t, ns, settings)); p.Refresh {
		t.Error("the record would be written")
	}
	for _, e := range mine(f.Audit(t, one, from)) {
		if e.Verb == "patch" {
			t.Errorf("asked although nothing of ours moved: %+v", e)
		}
	}

	patch(t, "somebody", configMaps, ns, "settings", `{"data": {"mode": "z"}}`)
	if !drifted(t, s, b) {
		t.Error("drift beside the ignored field is not seen")
	}
	b.apply(t, s, objs(t, ns, settings)...)
	if setting(t, ns, "level") != "debug" || setting(t, ns, "mode") != "a" {
		t.Errorf("level %s, mode %s", setting(t, ns, "level"), setting(t, ns, "mode"))
	}
	b.unchanged(t, s, objs(t, ns, settings)...)

	// the declared value of the ignored field changes, and then another one
	b.unchanged(t, s, objs(t, ns, strings.Replace(settings, "level: info", "level: warn", 1))...)
	b.apply(t, s, objs(t, ns, strings.NewReplacer("level: info", "level: warn", "mode: a", "mode: b").Replace(settings))...)
	if setting(t, ns, "level") != "debug" || setting(t, ns, "mode") != "b" {
		t.Errorf("level %s, mode %s", setting(t, ns, "level"), setting(t, ns, "mode"))
	}

	// without the rule the field is ours again
	b.policy.Ignore = nil
	now := strings.NewReplacer("level: info", "level: warn", "mode: a", "mode: b").Replace(settings)
	p, _ := b.plan(t, s, objs(t, ns, now))
	if ch := only(t, p); len(ch.Fields) != 1 || ch.Fields[0].Path != "data.level" || ch.Fields[0].Old != `"debug"` ||
		ch.Fields[0].New != `"warn"` || ch.Fields[0].Manager != "somebody" {
		t.Errorf("the plan hides what it takes back: %+v", ch)
	}
	b.apply(t, s, objs(t, ns, now)...)
	if setting(t, ns, "level") != "warn" {
		t.Error("the field was not taken back")
	}
}

// An update drops no ignored field of which we are the only owner: it keeps the value it has.
func TestIgnoredFieldOfOursStays(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := ignoring(t, v1alpha1.IgnoreRule{Paths: []string{"data.level", "metadata.annotations"}})
	b.apply(t, s, objs(t, ns, settings)...)
	b.apply(t, s, objs(t, ns, strings.NewReplacer("mode: a", "mode: b", "info", "warn", "note: declared", "note: other").Replace(settings))...)
	live := get(t, configMaps, ns, "settings")
	if setting(t, ns, "level") != "info" || setting(t, ns, "mode") != "b" || live.GetAnnotations()["note"] != "declared" {
		t.Errorf("%v %v", live.Object["data"], live.GetAnnotations())
	}
	// even when the declaration drops it
	b.apply(t, s, objs(t, ns, strings.NewReplacer("level: info, mode: a", "mode: c", "note: declared", "note: other").Replace(settings))...)
	if setting(t, ns, "level") != "info" || setting(t, ns, "mode") != "c" {
		t.Errorf("%v", get(t, configMaps, ns, "settings").Object["data"])
	}
	b.delete(t, s)
	b.apply(t, s, objs(t, ns, strings.Replace(settings, "info", "warn", 1))...)
	if setting(t, ns, "level") != "warn" {
		t.Error("a new object gets the declared value")
	}
}

// What a chosen manager owns is its own; what anybody else changes is drift.
func TestIgnoredManagerKeepsItsFields(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := ignoring(t, v1alpha1.IgnoreRule{Group: "apps", Managers: []string{"image-*"}})
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	image := func() string {
		list, _, _ := unstructured.NestedSlice(get(t, deployments, ns, "api").Object, "spec", "template", "spec", "containers")
		return list[0].(map[string]any)["image"].(string)
	}
	b.apply(t, s, objs(t, ns, scaled)...)
	set := func(manager, image string) {
		o := objs(t, ns, scaled)[0]
		_ = unstructured.SetNestedField(o.Body, nil, "spec", "replicas")
		delete(o.Body["spec"].(map[string]any), "replicas")
		list, _, _ := unstructured.NestedSlice(o.Body, "spec", "template", "spec", "containers")
		list[0].(map[string]any)["image"] = image
		_ = unstructured.SetNestedSlice(o.Body, list, "spec", "template", "spec", "containers")
		foreignApply(t, manager, "deployments", true, o)
	}
	set("image-bot", "registry.example/api:9")
	if drifted(t, s, b) {
		t.Error("status says drift")
	}
	b.unchanged(t, s, objs(t, ns, scaled)...)
	b.apply(t, s, objs(t, ns, strings.NewReplacer("replicas: 2", "replicas: 3", "api:1", "api:2").Replace(scaled))...)
	if image() != "registry.example/api:9" {
		t.Errorf("the manager's field was taken back: %s", image())
	}
	if n, _, _ := unstructured.NestedInt64(get(t, deployments, ns, "api").Object, "spec", "replicas"); n != 3 {
		t.Errorf("replicas %d", n)
	}
	patch(t, "somebody", deployments, ns, "api", `{"spec": {"replicas": 7}}`)
	if !drifted(t, s, b) {
		t.Error("drift by another manager is not seen")
	}
}

// Adopting an object leaves its ignored fields as they are.
func TestAdoptLeavesIgnoredFields(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	foreignApply(t, "helm", "configmaps", false, objs(t, ns, strings.NewReplacer("info", "theirs", "mode: a", "mode: theirs, extra: x").Replace(settings))[0])
	b := ignoring(t, v1alpha1.IgnoreRule{Paths: []string{"data.level"}})
	b.opts.Adopt = true
	b.apply(t, s, objs(t, ns, settings)...)
	if setting(t, ns, "level") != "theirs" || setting(t, ns, "mode") != "a" || setting(t, ns, "extra") != "" {
		t.Errorf("%v", get(t, configMaps, ns, "settings").Object["data"])
	}
	b.unchanged(t, s, objs(t, ns, settings)...)
	p, _ := b.plan(t, s, objs(t, ns, strings.Replace(settings, "mode: a", "mode: b", 1)))
	if only(t, p).Action != plan.Update {
		t.Error("not an update")
	}
}
