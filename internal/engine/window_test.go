package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
	"hawser.dev/hawser/internal/rollout"
)

// Outside the window of a wave nothing is written, the plan says so, and --skip-windows goes past it; where nothing is to be
// done no window matters.
func TestWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	from := time.Now().UTC().Add(2 * time.Hour)
	r.write("fleet.yaml", fmt.Sprintf(`fleet:
  apiVersion: v1alpha1
  name: windows
  clusters: {engine: {group: p, kubeContext: engine}}
  rollout: {waves: [{name: prod, groups: [p], window: {from: %q, to: %q}}]}
`, from.Format("15:04"), from.Add(2*time.Hour).Format("15:04")))
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	fp := r.plan(r.request())
	if w := fp.Findings.Warnings(); len(w) != 1 || w[0].Code != rollout.CodeWindow {
		t.Errorf("the plan says %v", fp.Findings)
	}
	out, err := r.Apply(t.Context(), fp, r.request())
	if !errors.Is(err, fleetplan.ErrRefused) || len(out.Findings) != 1 || out.Findings[0].Code != rollout.CodeWindow || out.Rollout != "" {
		t.Fatalf("closed: %v, %+v", err, out)
	}
	if r.record() != nil {
		t.Error("a record was written")
	}
	var file bytes.Buffer
	if _, _, err := r.SavePlan(r.plan(r.request()), &file); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.SkipWindows = true
	saved, err := r.LoadPlan(t.Context(), &file, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), saved, req); err != nil {
		t.Error(err)
	}
	if out, err := r.apply(r.request()); err != nil || out.Result != fleetplan.UpToDate {
		t.Errorf("nothing to do: %v, %+v", err, out)
	}
	r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"k":"w"}}`)
	for _, looks := range []bool{true, false} { // who puts it right has to know, who only looks has not
		fp, err := r.Plan(t.Context(), r.with(r.back(""), func(req *Request) { req.Reads = looks }).For(Correct))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(codes(fp), rollout.CodeWindow); got == looks || fp.Counts().Writes() != 1 {
			t.Errorf("looks %v: %v %+v", looks, fp.Findings, fp.Counts())
		}
		fp.Close()
	}
}

// A rollout ends at a wave whose window is closed, with what it has done; run again in time it goes on.
func TestRolloutEndsAtAWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	from := time.Now().UTC().Add(2 * time.Hour)
	r.write("fleet.yaml", fmt.Sprintf(`fleet:
  apiVersion: v1alpha1
  name: windows
  clusters: {engine: {group: a, kubeContext: engine}, later: {group: b, kubeContext: down}}
  rollout: {waves: [{groups: [a]}, {name: prod, groups: [b], window: {from: %q, to: %q}}]}
`, from.Format("15:04"), from.Add(2*time.Hour).Format("15:04")))
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	req := r.request()
	req.SkipUnreachable = true
	out, err := r.apply(req)
	if !errors.Is(err, fleetplan.ErrPartial) || out.StoppedWave != 2 || !strings.HasPrefix(out.Stopped, "the window of wave 2 (prod) opens ") || out.Opens == nil {
		t.Fatalf("%v, %+v", err, out)
	}
	if out.Clusters[0].Result != fleetplan.Succeeded || r.record().Phase != release.Succeeded {
		t.Errorf("the first wave: %+v, %s", out.Clusters[0], r.record().Phase)
	}
}

// A delete goes through the waves the other way round, and its plan tells of the window that it meets first.
func TestDeleteWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	from := time.Now().UTC().Add(2 * time.Hour)
	r.write("fleet.yaml", "fleet: {apiVersion: v1alpha1, name: windows, clusters: {engine: {group: a, kubeContext: engine}, later: {group: b, kubeContext: down}}}\n")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	req := r.request()
	req.SkipUnreachable = true
	if _, err := r.apply(req); !errors.Is(err, fleetplan.ErrPartial) {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		first, second string
		warned        bool
	}{
		"the first wave is closed": {", window: {from: %q, to: %q}", "", false},
		"the second one is":        {"", ", window: {from: %q, to: %q}", true},
	} {
		waves := fmt.Sprintf("{waves: [{groups: [a]%s}, {name: prod, groups: [b]%s}]}", c.first, c.second)
		r.write("fleet.yaml", fmt.Sprintf(`fleet:
  apiVersion: v1alpha1
  name: windows
  clusters: {engine: {group: a, kubeContext: engine}, later: {group: b, kubeContext: down}}
  rollout: `+waves+"\n", from.Format("15:04"), from.Add(2*time.Hour).Format("15:04")))
		fp, err := r.Plan(t.Context(), r.request().For(Delete))
		if err != nil {
			t.Fatal(err)
		}
		fp.Close()
		warned := false
		for _, f := range fp.Findings {
			warned = warned || f.Code == rollout.CodeWindow
		}
		if warned != c.warned || fp.Schedule.Waves[0].Name != "prod" {
			t.Errorf("%s: warned %t, %v", name, warned, fp.Findings)
		}
	}
}

// A release that ends before a wave whose window is closed leaves a note of that on the wave's clusters, which history and status tell; what
// is no release leaves none.
func TestWindowIsNoted(t *testing.T) {
	t.Parallel()
	opens := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for verb, noted := range map[string]bool{"apply": true, "rollback": true, "drift": false, "delete": false} {
		store := memory.New("a")
		w := &work{target: &target{Target: desired.Target{Store: store}}, set: &desired.State{Owner: "o"}}
		p := &Prepared{FleetPlan: &fleetplan.FleetPlan{Verb: verb}, works: map[string]*work{"a": w}}
		p.Schedule = rollout.Schedule{Waves: []rollout.WaveSpec{{Name: "prod"}}, Members: []rollout.Member{{Cluster: "a", Wave: 1}}}
		l := &loop{run: &run{Engine: &Engine{}}, fp: p, out: &fleetplan.Outcome{Opens: &opens}, stamp: release.Record{Bundle: "shop", Release: 4, Rollout: "D"}}
		l.Ask(t.Context(), &rollout.Wait{On: rollout.ForWindow, Wave: 1, Wake: opens})
		h, _, err := store.Held(t.Context(), "o")
		if err != nil || (h != nil) != noted || len(l.out.Findings) > 0 {
			t.Fatalf("%s: %+v, %v, %+v", verb, h, err, l.out)
		}
		if w := release.Await("shop", []release.OnCluster{{Cluster: "a", Hold: h}}); noted && (len(w) != 1 || w[0].Closed != "wave 1 (prod)" || !w[0].Opens.Equal(opens) || w[0].Next != "hawser apply") {
			t.Errorf("%s: %+v", verb, w)
		}
	}
}
