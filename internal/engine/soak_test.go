package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/workspace"
)

const soakingFleet = `fleet:
  apiVersion: v1alpha1
  name: soaking
  clusters: {engine: {group: p, kubeContext: engine}}
  rollout: {waves: [{groups: [p], soak: 1s}]}
`

// A Deployment that is ready when it was rolled out, and no longer at the end of the soak, fails the rollout; the record
// says so, so that no gate passes on it. One that is ready still succeeds.
func TestSoakJudgesAgain(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{true, false} {
		r := newRig(t)
		r.write("fleet.yaml", soakingFleet)
		r.write("bundle.yaml", r.bundle(r.deployment("web")))
		r.on = func(ev fleetplan.Event) {
			switch {
			case ev.Type == fleetplan.EventWritten && ev.Object.Kind == "Deployment":
				r.rolledOut("web", true)
			case ev.Type == fleetplan.EventSoak && !ready:
				r.rolledOut("web", false)
			}
		}
		out, err := r.apply(r.request())
		if ready {
			if err != nil || out.Result != fleetplan.Succeeded || r.record().Phase != release.Succeeded {
				t.Errorf("ready still: %v, %+v", err, out)
			}
			continue
		}
		if !errors.Is(err, fleetplan.ErrNotReady) || out.Result != fleetplan.Failed || out.Stopped != "engine is no longer ready after the soak" {
			t.Fatalf("no longer ready: %v, %+v", err, out)
		}
		row := out.Clusters[0]
		if row.Reason != "app no longer ready after the soak" || len(row.Problems) != 1 || row.Problems[0].Object.Kind != "Deployment" {
			t.Errorf("row %+v", row)
		}
		if phase := r.record().Phase; phase != release.Failed {
			t.Errorf("the record is %s", phase)
		}
	}
}

// The record of a cluster where nothing changed but the files can be written again after it: a soak that fails later is told.
func TestUnchangedRecordGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	r.applied(r.request())
	r.write("bundle.yaml", "# another revision\n"+r.bundle(r.configMap("app", "k: v")))
	fp := r.plan(r.request())
	if _, err := r.Apply(t.Context(), fp, r.request()); err != nil {
		t.Fatal(err)
	}
	target := fp.run.targets[0]
	if target.Record.Learned != fp.SourceDigest || target.Record.SourceDigest == fp.SourceDigest {
		t.Fatal("the run does not know the record that it wrote")
	}
	failed := *target.Record
	failed.Phase = release.Failed
	if err := target.put(t.Context(), &failed, nil); err != nil {
		t.Fatal(err)
	}
	if rec := r.record(); rec.Phase != release.Failed || rec.Has() != fp.SourceDigest {
		t.Errorf("the record is %s of %s", rec.Phase, rec.Has())
	}
}

// What has no state of its own is there or not: what somebody deleted during the soak stops the rollout too.
func TestSoakMissesWhatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", soakingFleet)
	r.write("bundle.yaml", r.bundle(r.configMap("stays", "k: v")+r.configMap("goes", "k: v")))
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			if err := r.admin.CoreV1().ConfigMaps(r.name).Delete(context.Background(), "goes", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrNotReady) || out.Result != fleetplan.Failed {
		t.Fatalf("%v, %+v", err, out)
	}
	if n := len(r.recorded()); n < 2 { // a delete, and what is compared with the last declaration, need them
		t.Errorf("%d objects are recorded", n)
	}
	if p := out.Clusters[0].Problems; len(p) != 1 || p[0].Object.Name != "goes" || p[0].Status.State != health.Missing {
		t.Errorf("%+v", p)
	}
	if phase := r.record().Phase; phase != release.Failed {
		t.Errorf("the record is %s", phase)
	}
}

// An object whose kind a cluster serves no more at the end of a soak is unknown, and the rollout stops with that reason: nobody deleted it.
func TestSoakOfWhatIsNotServed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group := strings.ReplaceAll(r.name, "_", "-") + ".example"
	client := dynamic.NewForConfigOrDie(shared.fleet.RESTConfig(here))
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	things := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}).Namespace(r.name)
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`), &definition.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	serve := func(served bool) {
		patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, served)
		if _, err := definitions.Patch(context.Background(), definition.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		r.soon(func() bool {
			_, err := things.List(context.Background(), metav1.ListOptions{})
			return (err == nil) == served
		})
	}
	r.soon(func() bool {
		_, err := things.List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
	defer func() {
		serve(true)
		if err := definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	r.write("fleet.yaml", soakingFleet)
	r.write("bundle.yaml", r.bundle("---\napiVersion: "+group+"/v1\nkind: Thing\nmetadata: {name: one}\nspec: {a: b}\n"))
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			serve(false)
		}
	}
	out, err := r.apply(r.request())
	if err == nil || out.Result != fleetplan.Failed || len(out.Clusters) != 1 {
		t.Fatalf("%v, %+v", err, out)
	}
	if p := out.Clusters[0].Problems; len(p) != 1 || p[0].Object.Name != "one" || p[0].Status.State != health.Unknown || !strings.HasPrefix(p[0].Status.Reason, "the cluster does not serve the kind Thing") {
		t.Errorf("%+v", p)
	}
}

// What another run puts on a cluster in its soak has not soaked: the rollout stops and says so, and the other run's record
// stays as it is.
func TestChangedInItsSoak(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", soakingFleet)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: one")))
	other := newRig(t) // it has events of its own
	other.name, other.dir = r.name, r.dir
	var once sync.Once
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			once.Do(func() { other.overtaken("another") })
		}
	}
	out, err := r.apply(r.request())
	if err == nil || out.Result != fleetplan.Failed || out.Stopped != "engine was changed by another run in its soak" {
		t.Fatalf("%v, %+v", err, out)
	}
	if rec := r.record(); rec.SourceDigest != "another" || rec.Phase != release.Succeeded {
		t.Errorf("the other run's record: %s of %s", rec.Phase, rec.SourceDigest)
	}
}

// overtaken puts the record of another run with the revision head over that of the rig's bundle.
func (r *rig) overtaken(head string) {
	r.stored(func(store release.Store) error {
		rec, handle, err := store.Current(context.Background(), object.OwnerID("", "", r.name))
		if err != nil {
			return err
		}
		other := *rec
		other.Revision, other.Rollout, other.SourceDigest = rec.Revision+1, "OTHER", head
		_, err = store.Put(context.Background(), other, nil, handle)
		return err
	})
}

// What nobody waited for is no success: it is waited for by the next apply that waits, and neither gates nor bundles
// that require it pass on it.
func TestNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", soakingFleet)
	r.write("bundle.yaml", r.bundle(r.deployment("web")))
	req := r.request()
	req.Wait = false
	out, err := r.apply(req)
	// the soak judges a rollout also where nobody waits: without a pod it is not ready
	if !errors.Is(err, fleetplan.ErrNotReady) {
		t.Fatalf("soaked without a pod: %v, %+v", err, out)
	}
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: soaking\n  clusters: {engine: {group: p, kubeContext: engine}}\n")
	if out, err := r.apply(req); err != nil || out.Clusters[0].Reason != fleetplan.NotWaited {
		t.Fatalf("%v, %+v", err, out)
	}
	if phase := r.record().Phase; phase != release.Written {
		t.Fatalf("the record is %q after --wait=false", phase)
	}
	if again, err := r.apply(req); err != nil || again.Result != fleetplan.UpToDate || again.Rollout != "" {
		t.Errorf("--wait=false again: %v, %+v", err, again)
	}
	if fp := r.plan(req); fp.Clusters[0].Waits != "" {
		t.Errorf("an apply that does not wait says that it waits: %q", fp.Clusters[0].Waits)
	}
	run, err := r.load(t.Context(), r.request(), true)
	if err != nil {
		t.Fatal(err)
	}
	owner := object.OwnerID("", "", r.name)
	if heads := run.heads(t.Context(), &fleetplan.FleetPlan{Owner: owner}, []string{here}); len(heads) != 0 {
		t.Errorf("a gate would pass: %v", heads)
	}
	r.write("other.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: needs-"+r.name+"\n  requires: [{bundle: "+r.name+"}]\n  instances: {}\n")
	other := r.request()
	docs(&other).Files = []string{r.dir + "/other.yaml"}
	var fe *diag.FindingsError
	if _, err := r.Plan(t.Context(), other); !errors.As(err, &fe) || fe.Findings[0].Code != "missing-bundle" {
		t.Errorf("a bundle that requires it: %v", err)
	}
	other.Among, other.Wait = []string{r.name, "needs-" + r.name}, false
	if _, err := r.Plan(t.Context(), other); !errors.As(err, &fe) || fe.Findings[0].Code != "missing-bundle" {
		t.Errorf("a bundle that requires it, in the same run that does not wait: %v", err)
	}
	waiting := r.request()
	waiting.Timeout = 2 * time.Second
	for _, want := range []string{"the last run did not wait until it was ready", "the last run failed (app)"} {
		fp := r.plan(waiting)
		if !fp.Does(true) || fp.Writes() || exitcode.OfPlan(fp.FleetPlan, true) != exitcode.Changes {
			t.Errorf("the plan has nothing to do: %+v", fp.Counts())
		}
		if got := fp.Clusters[0].Waits; got != want {
			t.Errorf("the plan says that it waits for %q, want %q", got, want)
		}
		if out, err := r.Apply(t.Context(), fp, waiting); !errors.Is(err, fleetplan.ErrNotReady) {
			t.Fatalf("the next apply that waits: %v, %+v", err, out)
		}
	}
	r.rolledOut("web", true)
	waiting.Timeout = 0
	r.applied(waiting)
	if phase := r.record().Phase; phase != release.Succeeded {
		t.Errorf("the record is %q after waiting", phase)
	}
	if heads := run.heads(t.Context(), &fleetplan.FleetPlan{Owner: owner}, []string{here}); heads[here].Revision == "" {
		t.Error("a gate would not pass")
	}
}

// Values from the environment that the documents read are part of the revision that gates compare; others, and secrets,
// are not.
func TestHeadHoldsRuntimeValues(t *testing.T) {
	t.Parallel()
	e := &Engine{}
	dir := t.TempDir()
	r := &rig{t: t, dir: dir}
	path := r.write("bundle.cue", `bundle: {
	apiVersion: "v1alpha1"
	name:       "web"
	instances: web: {
		namespace: "web"
		module: url: "file://./module"
		values: {
			tag:   string @timoni(runtime:string:TAG)
			token: string @timoni(runtime:string:TOKEN)
		}
	}
}
`)
	head := func(env map[string]string) string {
		run, err := e.load(t.Context(), Request{Input: Input{Documents: &workspace.Files{Paths: fleetplan.Paths{Files: []string{path}, Workdir: dir}}, Env: env}, PlanOptions: PlanOptions{RuntimeFromEnv: true}}, true)
		if err != nil {
			t.Fatal(err)
		}
		return run.head(nil)
	}
	one := head(map[string]string{"TAG": "1", "TOKEN": "a", "HOME": "/a"})
	if one != head(map[string]string{"TAG": "1", "TOKEN": "b", "HOME": "/b"}) {
		t.Error("values that are secret or that nobody reads are another revision")
	}
	if one == head(map[string]string{"TAG": "2", "TOKEN": "a", "HOME": "/a"}) {
		t.Error("another tag is the same revision")
	}
}

// Ctrl-C while the gate asks clusters that are not selected ends the plan at once.
func TestInterruptedGate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: gated
  clusters: {first: {group: a, kubeContext: silent}, engine: {group: p, kubeContext: engine}}
  rollout: {waves: [{groups: [a]}, {groups: [p]}]}
`)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	req.Clusters.Clusters = []string{here}
	var took time.Duration
	for range 3 { // the machine may be busy, but not always
		ctx, cancel := context.WithCancel(t.Context())
		interrupted := make(chan time.Time, 1)
		go func() {
			r.asked(3 * time.Minute)
			interrupted <- time.Now()
			cancel()
		}()
		fp, err := r.Plan(ctx, req)
		if !errors.Is(err, context.Canceled) || fp != nil {
			t.Fatal(err)
		}
		if took = time.Since(<-interrupted); took < connectTimeout/2 {
			return
		}
	}
	t.Errorf("it takes %s to end", took)
}

// A canary is chosen among the clusters that the revision changes.
func TestCanaryChanges(t *testing.T) {
	of := func(record *release.Record, changes ...plan.Change) *work {
		return &work{ClusterPlan: &fleetplan.ClusterPlan{Plan: &plan.Plan{Changes: changes}, Left: record.Phase}, target: &target{Target: desired.Target{Record: record}}, run: &run{req: Request{RunOptions: RunOptions{Wait: true}}}}
	}
	change := plan.Change{Action: plan.Update}
	fp := &Prepared{FleetPlan: &fleetplan.FleetPlan{SourceDigest: "new"}, works: map[string]*work{
		"changes":   of(&release.Record{Phase: release.Succeeded, SourceDigest: "old"}, change),
		"unchanged": of(&release.Record{Phase: release.Succeeded, SourceDigest: "old"}),
		"learned":   of(&release.Record{Phase: release.Succeeded, SourceDigest: "old", Learned: "new"}),
		"has it":    of(&release.Record{Phase: release.Succeeded, SourceDigest: "new"}),
		"failed":    of(&release.Record{Phase: release.Failed, SourceDigest: "old"}),
		"written":   of(&release.Record{Phase: release.Written, SourceDigest: "old"}),
	}}
	for _, name := range []string{"changes", "unchanged", "learned", "has it", "failed", "written", "down"} {
		if got := fp.changes(name); got != (name != "unchanged" && name != "learned") {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestDeleteSoaks: after the soak of a delete nothing is there that could be unready.
func TestDeleteSoaks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", soakingFleet)
	r.write("bundle.yaml", r.bundle(r.configMap("goes", "k: v")))
	r.applied(r.request())
	gone, err := r.Plan(t.Context(), r.request().For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.run.close)
	soaked := false
	r.on = func(ev fleetplan.Event) { soaked = soaked || ev.Type == fleetplan.EventSoak }
	out, err := r.Apply(t.Context(), gone, r.request())
	if err != nil || out.Result != fleetplan.Succeeded || !soaked || r.record() != nil {
		t.Errorf("%v, soaked %v, %+v", err, soaked, out)
	}
}

// A cluster that answers nothing at the end of its soak holds the rollout up for the time of two requests, not for that of all of the look,
// each sent again and again; why is said, and its record stays.
func TestFrozenAfterItsSoak(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {kubeContext: eu}\n  rollout: {waves: [{clusters: [eu], soak: 1s}]}\n", nil, "eu")
	s.RequestTimeout = 3 * time.Second
	var frozen time.Time
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			frozen = time.Now()
			s.servers["eu"].Fault(func(_ http.ResponseWriter, r *http.Request) bool { s.servers["eu"].Hang(r); return true })
		}
	}
	fp, err := s.Plan(t.Context(), s.request())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Apply(t.Context(), fp, s.request())
	if err == nil || out.Result != fleetplan.Failed || out.Stopped != "eu could not be looked at after the soak" {
		t.Fatalf("%v %+v", err, out)
	}
	if row := out.Clusters[0]; !strings.Contains(row.Reason, "the cluster did not answer within 6s") || len(row.Problems) > 0 {
		t.Errorf("%+v", row)
	}
	if took := time.Since(frozen); frozen.IsZero() || took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestGateAfterACorrection: a cluster whose correction nobody could look at after its soak lets no later wave pass, neither of an apply nor of a correction, as long as
// that is so; who goes past the waves, and who only looks, is not kept.
func TestGateAfterACorrection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: corrected
  clusters: {engine: {group: one, kubeContext: engine}, far: {group: two, kubeContext: down}}
  rollout: {waves: [{groups: [one]}, {groups: [two]}]}
`)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	one, two := r.request(), r.request()
	one.Clusters.Clusters, two.Clusters.Clusters = []string{here}, []string{"far"}
	r.applied(one)
	gated := func(req Request) string {
		t.Helper()
		fp, err := r.Plan(t.Context(), req)
		if fp == nil {
			t.Fatal(err)
		}
		defer fp.Close()
		for _, f := range fp.Findings {
			if f.Code == rollout.CodeGate {
				return f.What + ": " + f.Why
			}
		}
		return ""
	}
	correct := r.with(two, func(req *Request) { docs(req).Files, req.Bundle = nil, r.name }).For(Correct)
	noted := func(c release.Correction) {
		r.stored(func(store release.Store) error {
			rec, handle, err := store.Current(t.Context(), object.OwnerID("", "", r.name))
			if err == nil {
				rec.Corrections = []release.Correction{c}
				_, err = store.Put(t.Context(), *rec, nil, handle)
			}
			return err
		})
	}
	for _, c := range []struct {
		last            release.Correction
		applies, putsIt string
	}{
		{release.Correction{Rollout: "C", Phase: release.Succeeded, Finished: time.Unix(1, 0)}, "", ""},
		{release.Correction{Rollout: "C", Phase: release.Written, Unjudged: true}, "the selection leaves out wave 1 (one), which has not succeeded with this revision: missing: engine",
			"the selection leaves out wave 1 (one), whose correction has not ended well: engine: nobody could look at it after its soak"},
		{release.Correction{Rollout: "C", Phase: release.Failed}, "the selection leaves out wave 1 (one), which has not succeeded with this revision: missing: engine",
			"the selection leaves out wave 1 (one), whose correction has not ended well: engine: it failed"},
	} {
		noted(c.last)
		if got := gated(two); got != c.applies {
			t.Errorf("%s: an apply: %q", c.last.Phase, got)
		}
		if got := gated(correct); got != c.putsIt {
			t.Errorf("%s: a correction: %q", c.last.Phase, got)
		}
		for _, past := range []Request{r.with(correct, func(req *Request) { req.SkipWaves = true }), r.with(correct, func(req *Request) { req.Reads = true })} {
			if got := gated(past); got != "" {
				t.Errorf("%s: %q", c.last.Phase, got)
			}
		}
	}
}
