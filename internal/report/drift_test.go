package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// shopDrift is drift of every kind on three clusters, one of which is unknown.
func shopDrift() *drift.Report {
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "shop", Name: name} }
	api := drift.Object{Object: ref("ConfigMap", "api"), Instance: "api", State: drift.Changed, Fields: []drift.Field{
		{Path: "data.level", Recorded: `"info"`, Live: `"debug"`, By: "kubectl-edit", Since: "2026-08-29T12:00:00Z"}, {Path: "data.mode", Recorded: `"strict"`}}}
	token := drift.Object{Object: ref("Secret", "token"), Instance: "api", State: drift.Changed, Fields: []drift.Field{{Path: "data.former", Hidden: true, Removed: true},
		{Path: "data.more", Hidden: true, Added: true, By: "intruder"}, {Path: "data.token", Hidden: true, By: "intruder"}}}
	rest := []drift.Object{{Object: ref("ConfigMap", "gone"), Instance: "web", State: drift.Gone, Why: "was deleted by somebody"},
		{Object: ref("ConfigMap", "seized"), Instance: "web", State: drift.Changed},
		{Object: ref("Service", "web"), Instance: "web", State: drift.Taken, Why: "exists already, managed by Helm release shop/web", By: "Helm release shop/web", Blocked: "the object is owned by somebody else"},
		{Object: ref("PersistentVolumeClaim", "data"), Instance: "web", State: drift.Replaced, Why: "an immutable field changed", Blocked: "an immutable field changed: the object has to be deleted and created again"}}
	at := &release.Name{Release: 42, Rollout: "7K2M3XYZ"}
	return &drift.Report{V: diag.DocumentVersion, Bundles: []drift.Bundle{{Bundle: "shop", Clusters: []drift.Cluster{
		{Cluster: "staging-eu", Group: "staging", Release: at, Revision: 7, Drifted: []drift.Object{api, token}, Same: 12},
		{Cluster: "production-eu", Release: at, Revision: 6, Drifted: append([]drift.Object{api, token}, rest...), Same: 8, Suspended: []string{"batch"}},
		{Cluster: "edge-17", Unknown: "i/o timeout", Unreachable: true}, {Cluster: "lab", NotInstalled: true}}}}}
}

// TestDrift: wide and narrow, by cluster, and what changed since.
func TestDrift(t *testing.T) {
	r := shopDrift()
	for name, st := range map[string]Style{"wide": {Unicode: true}, "narrow": {Width: 80}, "full": {Full: true}, "stat": {Stat: true}} {
		got := text(t, func(b *bytes.Buffer) error { return Drift(b, r, "hawser drift shop --correct", st) })
		golden(t, "drift/"+name+".txt", got)
		if st.Width == 80 {
			for _, l := range strings.Split(got, "\n") {
				if len(l) > 80 {
					t.Errorf("%d columns: %s", len(l), l)
				}
			}
		}
	}
	later := shopDrift()
	later.Time, later.Bundles[0].Clusters[0].Drifted = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC), nil
	golden(t, "drift/since.txt", text(t, func(b *bytes.Buffer) error { return Drift(b, later.Since(r), "", Style{}) }))
}
