package report

import (
	"fmt"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
)

// noon is the fixed time of the fixtures.
var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var shopClusters = []string{"staging-eu", "staging-us",
	"production-eu-1", "production-eu-2", "production-eu-3", "production-eu-4",
	"production-us-1", "production-us-2", "production-us-3", "production-us-4",
	"production-ap-1", "production-ap-2"}

func ref(kind, name string) object.Ref {
	groups := map[string]string{"Deployment": "apps", "PodDisruptionBudget": "policy", "Job": "batch"}
	return object.Ref{Group: groups[kind], Kind: kind, Namespace: "shop", Name: name}
}

// apiChanges are those of group A of an example.
func apiChanges() []plan.Change {
	return []plan.Change{
		{Action: plan.Update, Ref: ref("Deployment", "api"), Instance: "api", Code: plan.CodeChanged, Digest: "sha256:c81d00aa", Open: true,
			Fields: []plan.FieldChange{{Path: "spec.template.spec.containers[api].image",
				Old: `"registry.example.com/api:2.3.0"`, New: `"registry.example.com/api:2.4.1"`}}},
		{Action: plan.Update, Ref: ref("Secret", "api-token"), Instance: "api", Code: plan.CodeChanged,
			Fields: []plan.FieldChange{{Path: "data.former", Hidden: true, Removed: true}, {Path: "data.next", Hidden: true, Added: true, Origin: "ref://vault/next"},
				{Path: "data.token", Hidden: true, Origin: "ref://vault/api-token"}}},
		{Action: plan.Create, Ref: ref("PodDisruptionBudget", "api"), Instance: "api", Code: plan.CodeNew},
	}
}

func webScale() plan.Change {
	return plan.Change{Action: plan.Update, Ref: ref("Deployment", "web"), Instance: "web", Code: plan.CodeChanged,
		Fields: []plan.FieldChange{{Path: "spec.replicas", Old: "3", New: "5", Origin: "valuesFor.prod shop.yaml:41"}}}
}

func webDrift() []plan.Change {
	return []plan.Change{
		{Action: plan.Update, Ref: ref("Deployment", "web"), Instance: "web", Code: plan.CodeDrift, Why: "changed by somebody since it was written",
			Fields: []plan.FieldChange{{Path: "spec.template.spec.containers[web].resources.limits.cpu", Old: `"2"`, New: `"1"`,
				Manager: "kubectl-edit", Since: noon.Add(-73 * time.Hour).Format(time.RFC3339)}}},
		{Action: plan.Delete, Ref: ref("ConfigMap", "web-legacy"), Instance: "web", Code: plan.CodeDropped, Why: "no longer in the bundle since revision 41"},
	}
}

// shopPlan is a plan: twelve clusters, two waves, three groups.
func shopPlan() *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: "apply", Bundle: "shop", Owner: object.OwnerID("", "", "shop"), Fleet: "shop",
		SourceDigest: "sha256:77ab03d1c2", Created: noon,
		Stats: fleetplan.Stats{Clusters: 12, Connected: 12, Instances: 48, Renders: 6, Objects: 408, ConnectMS: 400, RenderMS: 200, ObserveMS: 300}}
	a := apiChanges()
	b := append(apiChanges(), webScale())
	c := append(append([]plan.Change{}, b...), webDrift()...)
	changes := func(i int) []plan.Change {
		switch {
		case i < 2:
			return a
		case i < 11:
			return b
		}
		return c
	}
	var members []group.Member
	for i, name := range shopClusters {
		wave, in := 2, "production"
		if i < 2 {
			wave, in = 1, "staging"
		}
		cp := &fleetplan.ClusterPlan{Cluster: name, Group: in, Wave: wave, Canary: i == 2, Revision: 41,
			Server: fmt.Sprintf("https://10.9.0.%d:6443", i+1), UID: fmt.Sprintf("uid-%d", i), Version: "1.36.3",
			Plan: &plan.Plan{Cluster: name, Bundle: "shop", Owner: p.Owner, Changes: changes(i), Unchanged: 34 - len(changes(i))},
			Instances: []fleetplan.InstancePlan{
				{Name: "api", Source: "chart api 2.4.1", Before: "chart api 2.3.0", Pos: diag.Pos{File: "shop.yaml", Line: 14, Column: 5}},
				{Name: "web", Source: "kustomize ./web/overlays/base", Before: "kustomize ./web/overlays/base"}}}
		p.Clusters = append(p.Clusters, cp)
		p.Schedule.Members = append(p.Schedule.Members, rollout.Member{Cluster: name, Wave: wave, Canary: cp.Canary})
		members = append(members, group.Member{Cluster: name, Wave: wave, Plan: cp.Plan})
	}
	p.Groups = group.Equal(members)
	p.Schedule.Waves = []rollout.WaveSpec{{Name: "staging", MaxParallel: 1},
		{Name: "production", MaxParallel: 4, Canary: 1, Soak: 2 * time.Minute}}
	return p
}

// madePlan is a plan with new objects of other contents by cluster, and with one that replaces another.
func madePlan() *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: "apply", Bundle: "shop", SourceDigest: "sha256:77ab03d1c2", Created: noon,
		Stats: fleetplan.Stats{Clusters: 4, Connected: 4, Instances: 4, Renders: 4, Objects: 20, ConnectMS: 21, RenderMS: 12, ObserveMS: 90}}
	was, now := ref("ConfigMap", "app-6g2h7kf8mt"), ref("ConfigMap", "app-bt98k2m4c7")
	var members []group.Member
	for i, name := range []string{"eu-1", "eu-2", "us-1", "ap-1"} {
		region := []string{"eu", "eu", "us", "ap"}[i]
		meta := map[string]any{"name": "region", "namespace": "shop", "labels": map[string]any{object.LabelOwner: "x", object.LabelBundle: "shop",
			object.LabelInstance: "web", "app": "web"}}
		changes := []plan.Change{
			{Action: plan.Delete, Code: plan.CodeDropped, Ref: was, Instance: "web", Why: "no longer in the bundle", ReplacedBy: &now},
			{Action: plan.Create, Code: plan.CodeNew, Ref: now, Instance: "web", Digest: "sha256:1", Replaces: &was,
				Fields: []plan.FieldChange{{Path: "data.level", Old: `"info"`, New: `"debug"`}}},
			{Action: plan.Create, Code: plan.CodeNew, Ref: ref("ConfigMap", "region"), Instance: "web", Digest: "sha256:" + region,
				Content: plan.Body{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"region": region,
					"app.conf": "level = debug\nlisten = 0.0.0.0:8080\n"}}},
			{Action: plan.Create, Code: plan.CodeNew, Ref: ref("Secret", "token"), Instance: "web", Digest: "sha256:2",
				Content: plan.Body{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "token", "namespace": "shop"},
					"data": map[string]any{"token": "***"}}},
		}
		if i == 3 {
			changes = append(changes, webScale())
		}
		cp := &fleetplan.ClusterPlan{Cluster: name, Wave: 1, Plan: &plan.Plan{Cluster: name, Bundle: "shop", Changes: changes, Unchanged: 5}}
		p.Clusters = append(p.Clusters, cp)
		p.Schedule.Members = append(p.Schedule.Members, rollout.Member{Cluster: name, Wave: 1})
		members = append(members, group.Member{Cluster: name, Wave: 1, Plan: cp.Plan})
	}
	p.Groups = group.Equal(members)
	p.Schedule.Waves = []rollout.WaveSpec{{Name: "all", MaxParallel: 4}}
	return p
}

// onePlan is a plan of one cluster with the given changes.
func onePlan(changes ...plan.Change) *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: "apply", Bundle: "shop", SourceDigest: "sha256:77ab03d1c2", Created: noon,
		Stats: fleetplan.Stats{Clusters: 1, Connected: 1, Instances: 1, Renders: 1, Objects: 20, ConnectMS: 21, RenderMS: 12, ObserveMS: 90}}
	cp := &fleetplan.ClusterPlan{Cluster: "default", Wave: 1, Server: "https://127.0.0.1:6443",
		Plan: &plan.Plan{Cluster: "default", Bundle: "shop", Changes: changes, Unchanged: 20}}
	p.Clusters = []*fleetplan.ClusterPlan{cp}
	p.Groups = group.Equal([]group.Member{{Cluster: "default", Wave: 1, Plan: cp.Plan}})
	p.Schedule = rollout.Schedule{Sequential: true, Waves: []rollout.WaveSpec{{}}, Members: []rollout.Member{{Cluster: "default", Wave: 1}}}
	return p
}

// everyMark is a plan with one change of every kind and fields of every shape.
func everyMark() *fleetplan.FleetPlan {
	long := `"` + fmt.Sprintf("%080d", 7) + `"`
	return onePlan(
		plan.Change{Action: plan.Create, Ref: object.Ref{Kind: "Namespace", Name: "shop"}, Code: plan.CodeNamespace, Why: "namespace of instance web"},
		plan.Change{Action: plan.Create, Ref: ref("ConfigMap", "new"), Instance: "web", Code: plan.CodeNew, Deferred: "namespace shop is new"},
		plan.Change{Action: plan.Update, Ref: ref("ConfigMap", "texts"), Instance: "web", Code: plan.CodeChanged, Fields: []plan.FieldChange{
			{Path: "data.flag", New: `"on"`}, {Path: "data.gone", Old: `"x"`},
			{Path: `data["nginx.conf"]`, Old: `"a\nb\nc\nd\ne\nf\ng\nh\n"`, New: `"a\nb\nc\nd\nE\nf\ng\nh\ni\n"`},
			{Path: "data.long", Old: long, New: `"short"`, Origin: "shop.yaml:9"},
			{Path: "data.list", Old: `["a","b"]`, New: `{"a":[1,2,3],"b":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"}`},
		}},
		plan.Change{Action: plan.Recreate, Ref: ref("Job", "migrate"), Instance: "web", Code: plan.CodeImmutable, Why: "an immutable field changed",
			Loss:   "the finished or running job; it runs again",
			Fields: []plan.FieldChange{{Path: "spec.template.spec.containers[migrate].args", Old: `["up"]`, New: `["up","--all"]`}}},
		plan.Change{Action: plan.Adopt, Ref: ref("Service", "web"), Instance: "web", Code: plan.CodeAdopted, Why: "taken over from Helm release shop/web"},
		plan.Change{Action: plan.Unknown, Ref: object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "w"}, Instance: "web",
			Why: "its kind is created by this plan"},
		plan.Change{Action: plan.Release, Ref: ref("ConfigMap", "kept"), Instance: "web", Code: plan.CodeKept, Why: "annotated to be kept"},
		plan.Change{Action: plan.Delete, Ref: ref("Secret", "old"), Instance: "web", Code: plan.CodeDropped, Why: "no longer in the bundle"},
	)
}

// failedOutcome is an outcome: wave 2 stopped by production-us-1.
func failedOutcome() *fleetplan.Outcome {
	oc := &fleetplan.Outcome{V: diag.DocumentVersion, Verb: "apply", Bundle: "shop", Rollout: "7K2M", Result: fleetplan.Failed, StoppedWave: 2,
		Stopped: "production-us-1 failed", Started: noon, Seconds: 161}
	for i, name := range shopClusters {
		c := fleetplan.ClusterOutcome{Cluster: name, Wave: 2, Result: fleetplan.NotStarted}
		if i < 2 {
			c.Wave = 1
		}
		switch {
		case i < 6:
			c.Result, c.Seconds, c.Canary, c.Revision = fleetplan.Succeeded, 19+float64(i), i == 2, 42
			c.Done = plan.Counts{Create: 1, Update: 3, Unchanged: 30}
		case i == 6:
			c.Result, c.Seconds, c.Reason = fleetplan.Failed, 31, "api not ready"
			c.Done = plan.Counts{Create: 1, Update: 4, Unchanged: 29}
			c.Problems = []fleetplan.Problem{{Object: ref("Deployment", "api"), Instance: "api", GaveUpAfter: 31,
				Elsewhere: "only here", ReadyOn: 6, FailedOn: 1, Digest: "sha256:c81d00aa",
				Status: health.Status{State: health.Failed, Reason: "0 of 3 pods ready", Stalled: true, Details: []string{
					"pod api-6c9f-x2k, container api: ImagePullBackOff: registry.example.com/api:2.4.1: not found"}}}}
		}
		oc.Clusters = append(oc.Clusters, c)
	}
	return oc
}

// shopStatus is a report with an instance of every state.
func shopStatus() *fleetplan.StatusReport {
	ready := health.Status{State: health.Ready, Reason: "3 of 3 pods ready"}
	inst := func(name, state string, objects ...fleetplan.ObjectStatus) fleetplan.InstanceStatus {
		return fleetplan.InstanceStatus{Instance: name, Source: "module " + name + " 1.4.2", State: state, Objects: objects,
			Images: []string{"registry.example.com/" + name + ":2.4.1"}}
	}
	ok := func(name string) fleetplan.ObjectStatus {
		return fleetplan.ObjectStatus{Object: ref("Deployment", name), Status: ready}
	}
	return &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{
		{Cluster: "staging-eu", Group: "staging", Bundle: "shop", Revision: 42, Release: 42, Phase: "succeeded", SourceDigest: "sha256:77ab03d1c2", Applied: noon, Author: "ada",
			Instances: []fleetplan.InstanceStatus{inst("api", "ready", ok("api")), inst("web", "ready", ok("web"), ok("web-admin"))}},
		{Cluster: "production-us-1", Group: "production", Bundle: "shop", Revision: 42, Release: 42, Phase: "failed", Applied: noon, Author: "ada",
			Instances: []fleetplan.InstanceStatus{
				inst("api", "failed", fleetplan.ObjectStatus{Object: ref("Deployment", "api"), Status: health.Status{State: health.Failed,
					Reason: "0 of 3 pods ready", Details: []string{"pod api-6c9f-x2k, container api: ImagePullBackOff: registry.example.com/api:2.4.1: not found"}}}),
				inst("web", "drifted", ok("web-admin"), fleetplan.ObjectStatus{Object: ref("Deployment", "web"), Status: ready, Drifted: true, By: "kubectl-edit",
					Fields: []object.Taken{{Path: "spec.replicas", By: "kubectl-edit", Since: "2026-09-01T11:00:00Z"}}})}},
		{Cluster: "production-eu-1", Group: "production", Bundle: "shop", Revision: 41, Release: 41, Phase: "applying", Applied: noon,
			Instances: []fleetplan.InstanceStatus{inst("api", "progressing", fleetplan.ObjectStatus{Object: ref("Deployment", "api"),
				Status: health.Status{State: health.Progressing, Reason: "2 of 3 pods ready"}})}},
		{Cluster: "production-ap-1", Group: "production"},
		{Cluster: "edge-17", Group: "edge", Unreachable: "dial tcp 10.9.0.17:6443: i/o timeout (10 s)"},
	}}
}

func someFindings() diag.Findings {
	return diag.Findings{
		{Severity: diag.Error, Code: "unknown-field", What: "field replica is not known to instance api", Pos: diag.Pos{File: "shop.yaml", Line: 3, Column: 7},
			Path: "bundle.instances.api.values.replica", Fix: "did you mean replicas?", Cluster: "staging-eu"},
		{Severity: diag.Error, Code: "unknown-field", What: "field replica is not known to instance api", Pos: diag.Pos{File: "shop.yaml", Line: 3, Column: 7},
			Path: "bundle.instances.api.values.replica", Fix: "did you mean replicas?", Cluster: "staging-us"},
		{Severity: diag.Error, Code: "foreign-owner", What: "the object is owned by somebody else", Why: "managed by Helm release shop/api",
			Fix: "rename ours, remove theirs, or take it over with --adopt", Cluster: "production-eu-1", Object: "Deployment shop/api", Instance: "api"},
		{Severity: diag.Warning, Code: "no-such-cluster", What: "the bundle compares the cluster's name with production-gov, which no cluster has",
			Pos: diag.Pos{File: "shop.cue", Line: 12}},
		{Severity: diag.Info, Code: "prune", What: "instances that left the bundle are pruned; Timoni keeps them"},
	}
}

func shopFleet() *fleetplan.FleetReport {
	return &fleetplan.FleetReport{V: diag.DocumentVersion, Fleet: "shop", Clusters: []fleetplan.FleetRow{
		{Cluster: "staging-eu", Group: "staging", Wave: 1, Access: "context stg-eu of ~/.kube/config", Server: "https://10.9.0.1:6443",
			Version: "1.36.3", UID: "6f1c", Labels: map[string]string{"region": "eu", "tier": "1"},
			Values: map[string]fleet.Value{"REGION": {Value: "eu", Origin: "k8s:v1:ConfigMap:default:cluster-info"}, "TOKEN": {Secret: true, Origin: "k8s:v1:Secret:default:token"}}},
		{Cluster: "production-eu", Group: "production", Wave: 2, Access: "context prod-eu of ~/.kube/prod", Server: "https://10.9.0.2:6443",
			Version: "1.35.1", UID: "77aa", Missing: []string{"create deployments.apps in namespace shop"}},
		{Cluster: "edge-17", Group: "edge", Wave: 2, Access: "context edge", Problem: "dial tcp 10.9.0.17:6443: i/o timeout"},
	}}
}

func someLock() *fleetplan.LockReport {
	return &fleetplan.LockReport{V: diag.DocumentVersion, File: "hawser.lock", Sources: []fleetplan.LockedSource{
		{Source: "file://./modules/web", Digest: digestOf("1")},
		{Source: "helm https://charts.example.com api 2.x", Version: "2.4.1", Digest: digestOf("2"), Was: &lockfile.Pin{Version: "2.3.0", Digest: digestOf("3")}},
		{Source: "oci://registry.example.com/mods/db 1.x", Version: "1.4.2", Digest: digestOf("4")},
		{Source: "helm ./charts/api", Version: "0.3.0", Digest: digestOf("6"), Was: &lockfile.Pin{Version: "0.3.0", Digest: digestOf("7")}},
		{Source: "helm ./charts/old", Digest: digestOf("5"), Was: &lockfile.Pin{Digest: digestOf("5")}, Dropped: true},
	}}
}

func someOutdated() *fleetplan.OutdatedReport {
	pin := func(v, d string) *lockfile.Pin { return &lockfile.Pin{Version: v, Digest: digestOf(d)} }
	return &fleetplan.OutdatedReport{V: diag.DocumentVersion, Bundle: "shop", Sources: []fleetplan.OutdatedSource{
		{Instances: []string{"web", "admin"}, Source: "file://./modules/web", Locked: pin("", "1"), Newest: pin("0.0.0-devel", "2"), Verdict: source.Edited},
		{Instances: []string{"api"}, Source: "helm ./charts/api", Locked: pin("0.3.0", "7"), Newest: pin("0.3.0", "6"), Verdict: source.Edited},
		{Instances: []string{"api"}, Source: "helm https://charts.example.com api", Want: "2.x", Locked: pin("2.3.0", "3"), Newest: pin("2.4.1", "4"), Overall: pin("3.0.0", "5"), Verdict: source.Behind},
		{Instances: []string{"db"}, Source: "oci://registry.example.com/mods/db", Want: "1.x", Locked: pin("1.4.2", "6"), Newest: pin("1.4.2", "6"), Overall: pin("1.4.2", "6"), Verdict: source.Current},
		{Instances: []string{"extra"}, Source: "manifests ./extra", Newest: &lockfile.Pin{Digest: "sha256:333333"}, Verdict: source.Loose, Local: true},
		{Instances: []string{"queue"}, Source: "oci://registry.example.com/mods/queue", Want: "main", Verdict: source.Unknown, Problem: "registry.example.com does not answer"},
	}}
}

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }
