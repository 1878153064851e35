package operation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/values"
)

// planner plans bundles of one object on one cluster, and says what it was asked.
type planner struct {
	// requires are those of each bundle; wrong says which does not plan, stale which is not renewed, fails which is not applied.
	requires           map[string]string
	wrong, stale, fail string
	// awaits: something stands in the plans after the first for what that was to write.
	unchanged, awaits bool
	asked             []string
	doubts            diag.Findings
	errs              map[string]error // by bundle
}

func (p *planner) Plan(ctx context.Context, req engine.Request) (*engine.Prepared, error) {
	switch req.Operation {
	case engine.Delete:
		return p.planDelete(ctx, req)
	case engine.Correct:
		return p.planDrift(ctx, req)
	}
	if req.Bundle == "" {
		return nil, diag.Findings{place.Which("", nil)}.Err()
	}
	p.asked = append(p.asked, "plan "+req.Bundle+strings.Join(slices.Sorted(maps.Keys(req.Before)), ""))
	if err := p.errs[req.Bundle]; err != nil {
		return nil, err
	}
	if req.Bundle == p.wrong {
		return nil, errors.New("no such file")
	}
	fp := &fleetplan.FleetPlan{Verb: "apply", Bundle: req.Bundle, Clusters: []*fleetplan.ClusterPlan{{Cluster: "c", Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Create}}}}}}
	if need := p.requires[req.Bundle]; need != "" {
		fp.Requires = []string{need}
	}
	if p.awaits && len(req.Before) > 0 {
		fp.Findings = diag.Findings{{Severity: diag.Warning, Code: values.CodeNotRead, Cluster: "c"}}
	}
	return &engine.Prepared{FleetPlan: fp}, nil
}

func (p *planner) Renew(_ context.Context, shown *engine.Prepared, req engine.Request) (*engine.Prepared, error) {
	p.asked = append(p.asked, fmt.Sprintf("renew %s after %d", req.Bundle, len(req.Written)))
	if req.Bundle == p.stale {
		return nil, fleetplan.ErrRefused
	}
	return shown, nil
}

func (p *planner) Apply(_ context.Context, shown *engine.Prepared, req engine.Request) (*fleetplan.Outcome, error) {
	p.asked = append(p.asked, "apply "+req.Bundle)
	out := &fleetplan.Outcome{Bundle: shown.Bundle, Result: fleetplan.Succeeded}
	switch {
	case req.Bundle == p.fail:
		out.Result = fleetplan.Failed
		return out, fleetplan.ErrFailed
	case p.unchanged:
		out.Result = fleetplan.UpToDate
	}
	return out, nil
}

func names(...string) func(context.Context, engine.Request) ([]string, error) {
	return func(context.Context, engine.Request) ([]string, error) { return []string{"a", "b", "c"}, nil }
}

// of is a request for a bundle.
func of(bundle string) engine.Request {
	return engine.Request{Selection: engine.Selection{Bundle: bundle}}
}

// run plans and carries out as a face does, and says what it was told of each bundle.
func run(t *testing.T, p *planner, stop <-chan struct{}) []string {
	t.Helper()
	bundles := Plan(t.Context(), p, engine.Request{}, names())
	var said []string
	for _, b := range bundles {
		if b.Err != nil {
			return append(said, b.Name+": "+b.Err.Error())
		}
	}
	for _, b := range bundles {
		if why := bundles.Waits(b, stop); why != "" {
			said = append(said, b.NotBegun(why).Findings[0].What)
			continue
		}
		if err := bundles.Turn(t.Context(), p, b); err == nil {
			_, _ = b.Apply(t.Context(), p)
		}
		if b.Err != nil {
			said = append(said, b.Name+": "+b.Err.Error())
		}
	}
	return said
}

// All bundles are planned before the first is begun, each with those before it; then each has its turn, planned anew where
// others wrote. What requires one that was not done is not begun, directly or not, and what does not goes on.
func TestTurns(t *testing.T) {
	planned := []string{"plan a", "plan ba", "plan cab"}
	stopped := make(chan struct{})
	close(stopped)
	chain := map[string]string{"b": "a", "c": "b"}
	for name, c := range map[string]struct {
		p    planner
		stop <-chan struct{}
		did  []string
		said []string
	}{
		"all":              {planner{}, nil, []string{"apply a", "renew b after 1", "apply b", "renew c after 2", "apply c"}, nil},
		"nothing changed":  {planner{unchanged: true}, nil, []string{"apply a", "apply b", "apply c"}, nil},
		"nothing came":     {planner{unchanged: true, awaits: true, stale: "c"}, nil, []string{"apply a", "renew b after 1", "apply b", "renew c after 2"}, []string{"c: refused"}},
		"one is wrong":     {planner{wrong: "b"}, nil, nil, []string{"b: no such file"}},
		"one fails":        {planner{fail: "b", requires: map[string]string{"c": "a"}}, nil, []string{"apply a", "renew b after 1", "apply b", "renew c after 2", "apply c"}, []string{"b: failed"}},
		"the first fails":  {planner{fail: "a", requires: chain}, nil, []string{"apply a"}, []string{"a: failed", "bundle b was not begun: it requires a, which was not done", "bundle c was not begun: it requires b, which was not done"}},
		"one became stale": {planner{stale: "b", requires: chain}, nil, []string{"apply a", "renew b after 1"}, []string{"b: refused", "bundle c was not begun: it requires b, which was not done"}},
		"interrupted": {planner{}, stopped, nil, []string{"bundle a was not begun: the run was interrupted", "bundle b was not begun: the run was interrupted",
			"bundle c was not begun: the run was interrupted"}},
	} {
		said := run(t, &c.p, c.stop)
		want := slices.Concat(planned, c.did)
		if c.p.wrong != "" {
			want = []string{"plan a", "plan ba", "plan ca"}
		}
		if !slices.Equal(c.p.asked, want) || !slices.Equal(said, c.said) {
			t.Errorf("%s: %q, want %q\nsaid %q, want %q", name, c.p.asked, want, said, c.said)
		}
	}
}

// A mistake that all bundles have is told once; where one has another, or none, each has its own.
func TestOneMistakeOfAll(t *testing.T) {
	stale := func(why string) error {
		return &fleetplan.RefusedError{Findings: diag.Findings{diag.Errorf("lock", "the lock file is stale"), diag.Errorf("lock", "%s", why)}}
	}
	for name, c := range map[string]struct {
		errs map[string]error
		want int
	}{
		"all alike":        {map[string]error{"a": errors.New("no kubeconfig"), "b": errors.New("no kubeconfig"), "c": errors.New("no kubeconfig")}, 1},
		"all are refused":  {map[string]error{"a": stale("x"), "b": stale("x"), "c": stale("x")}, 1},
		"one has another":  {map[string]error{"a": stale("x"), "b": stale("y"), "c": stale("x")}, 3},
		"one has none":     {map[string]error{"a": stale("x"), "c": stale("x")}, 3},
		"another code":     {map[string]error{"a": stale("x"), "b": stale("x").(*fleetplan.RefusedError).Findings.Err(), "c": stale("x")}, 3},
		"none has any":     {nil, 3},
		"the last has one": {map[string]error{"c": errors.New("no kubeconfig")}, 3},
	} {
		for _, bundles := range []Bundles{Plan(t.Context(), &planner{errs: c.errs}, engine.Request{}, names()), Delete(t.Context(), &planner{errs: c.errs}, engine.Request{}, names())} {
			if len(bundles) != c.want || c.want == 1 && (bundles[0].Name != "" || !Alike(bundles[0].Err, c.errs["a"])) {
				t.Errorf("%s: %d parts, the first of %q: %v", name, len(bundles), bundles[0].Name, bundles[0].Err)
			}
		}
	}
}

// A request for one bundle, and files with but one, are planned once; who cannot name the bundles has the refusal.
func TestOne(t *testing.T) {
	p := &planner{}
	if bundles := Plan(t.Context(), p, of("b"), names()); len(bundles) != 1 || bundles[0].Err != nil || !slices.Equal(p.asked, []string{"plan b"}) {
		t.Errorf("%+v, %q", bundles, p.asked)
	}
	if bundles := Plan(t.Context(), p, engine.Request{}, nil); len(bundles) != 1 || !Several(bundles[0].Err) {
		t.Errorf("%+v", bundles)
	}
}

// A number that confirms the deletions of all is the own number of each; without one there is none.
func TestConfirmed(t *testing.T) {
	two := 0
	bundles := Plan(t.Context(), &planner{}, engine.Request{PlanOptions: engine.PlanOptions{ConfirmDelete: &two}}, names())
	for _, b := range bundles {
		if b.Request.ConfirmDelete == nil || *b.Request.ConfirmDelete != 0 || !slices.Equal(b.Request.Among, []string{"a", "b", "c"}) {
			t.Errorf("%s: %v", b.Name, b.Request)
		}
	}
	two = 2
	for _, b := range Plan(t.Context(), &planner{}, engine.Request{PlanOptions: engine.PlanOptions{ConfirmDelete: &two}}, names())[:1] {
		if whats := b.Plan.Findings.Errors().Whats(); len(whats) != 1 || whats[0] != "--confirm-delete=2 does not match: the bundles of the run delete nothing" {
			t.Errorf("a number that is not theirs: %q", whats)
		}
	}
	if c := bundles.Counts(); c.Create != 3 {
		t.Errorf("%+v", c)
	}
}

// planDelete plans to delete one object.
func (p *planner) planDelete(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	if req.Bundle == "" {
		return nil, diag.Findings{place.Which("", nil)}.Err()
	}
	p.asked = append(p.asked, "plan "+req.Bundle+strings.Join(slices.Sorted(maps.Keys(req.Before)), ""))
	if err := p.errs[req.Bundle]; err != nil {
		return nil, err
	}
	if req.Bundle == p.wrong {
		return nil, errors.New("no answer")
	}
	if strings.Contains(p.stale, req.Bundle) { // what the engine finds before anything is computed is an error
		return nil, append(diag.Findings{diag.Warnf("expires", "a credential expires soon")}, fleetplan.NotInstalled(req.Bundle, p.doubts)...).Err()
	}
	fp := &fleetplan.FleetPlan{Verb: "delete", Bundle: req.Bundle}
	fp.Clusters = []*fleetplan.ClusterPlan{{Cluster: "c", Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Delete}}}}}
	return &engine.Prepared{FleetPlan: fp}, nil
}

// All bundles of the files are deleted, those that are required last; what an earlier run deleted is said and no mistake, unless
// nothing is anywhere, or nobody could see whether it is. A number that is confirmed is that of all.
func TestDeleteOfFiles(t *testing.T) {
	nowhere := "bundle c is not installed on any selected cluster"
	doubt := diag.Findings{{Severity: diag.Warning, What: "may not list", Why: "forbidden"}}
	for name, c := range map[string]struct {
		gone, wrong, bundle string
		doubts              diag.Findings
		want, notes, errs   string
	}{
		"all":                     {want: "c b a"},
		"one is gone":             {gone: "c", want: "b a", notes: nowhere},
		"the one required":        {gone: "a", want: "c b", notes: "bundle a is not installed on any selected cluster"},
		"all are gone":            {gone: "abc", want: "c b a", errs: "c b a"},
		"one that is named":       {bundle: "b", want: "b"},
		"a named one is gone":     {bundle: "b", gone: "b", want: "b", errs: "b"},
		"nobody could see it":     {gone: "c", doubts: doubt, want: "c b a", errs: "c"},
		"another one is wrong":    {gone: "c", wrong: "b", want: "b a", notes: nowhere, errs: "b"},
		"gone, the rest is wrong": {gone: "bc", wrong: "a", want: "a", errs: "a"},
	} {
		number := len(strings.Fields(c.want)) // that of what an earlier run has left
		var got, notes, errs []string
		bundles := Delete(t.Context(), &planner{stale: c.gone, wrong: c.wrong, doubts: c.doubts}, engine.Request{Selection: engine.Selection{Bundle: c.bundle}, PlanOptions: engine.PlanOptions{ConfirmDelete: &number}}, names())
		for i, b := range bundles {
			if got = append(got, b.Name); b.Err != nil {
				errs = append(errs, b.Name)
				continue
			}
			if notes = append(notes, b.Plan.Findings.Whats()...); len(c.errs) == 0 && b.Plan.Findings.HasErrors() {
				t.Errorf("%s: %v", name, b.Plan.Findings)
			}
			if n := *b.Request.ConfirmDelete; c.bundle == "" && n != 1 {
				t.Errorf("%s: number %d of bundle %d", name, n, i)
			}
		}
		said := strings.Join(notes, "\n")
		if strings.Join(got, " ") != c.want || said != c.notes || strings.Join(errs, " ") != c.errs {
			t.Errorf("%s: %q, want %q; %q; errors %q", name, got, c.want, notes, errs)
		}
	}
}

// Status is that a bundle is ready on one cluster, and another does not answer.
func (p *planner) Status(_ context.Context, req engine.Request) (*fleetplan.StatusReport, error) {
	if req.Bundle == "" {
		return nil, diag.Findings{place.Which("", nil)}.Err()
	}
	if req.Bundle == p.wrong {
		return nil, errors.New("no such file")
	}
	r := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: req.Bundle, Clusters: []fleetplan.ClusterStatus{{Cluster: "up", Bundle: req.Bundle, Revision: 1}, {Cluster: "down", Unreachable: "timeout"}},
		Findings: diag.Findings{diag.Warnf("w", "about the cluster")}}
	switch req.Bundle {
	case p.fail:
		return r, fleetplan.ErrNotReady
	case p.stale:
		r.Clusters[0].Bundle, r.Clusters[0].Revision = "", 0
		return r, diag.Findings{diag.Errorf(fleetplan.CodeNotInstalled, "nowhere")}.Err()
	}
	return r, fleetplan.ErrPartial
}

// The status of all bundles of the files is one report, by cluster, with the worst error there is.
func TestStatusOfFiles(t *testing.T) {
	r, err := Status(t.Context(), &planner{fail: "b", stale: "c"}, engine.Request{}, names())
	var got []string
	for _, row := range r.Clusters {
		got = append(got, row.Cluster+" "+row.Bundle)
	}
	if want := []string{"up a", "up b", "up c", "down "}; !slices.Equal(got, want) || len(r.Findings) != 1 || r.Bundle != "" {
		t.Errorf("%q, want %q; %v", got, want, r.Findings)
	}
	if err == nil || errors.Is(err, fleetplan.ErrPartial) {
		t.Errorf("not the worst: %v", err)
	}
	if r, err := Status(t.Context(), &planner{wrong: "b"}, engine.Request{}, names()); r != nil || err == nil {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := Status(t.Context(), &planner{}, of("a"), names()); r.Bundle != "a" || !errors.Is(err, fleetplan.ErrPartial) {
		t.Errorf("%v, %v", r, err)
	}
}

// All deletions are planned before the first, those that are required last; one that fails ends the run.
func TestDeletions(t *testing.T) {
	p := &planner{fail: "b"}
	bundles := Deletions(t.Context(), p, engine.Request{}, []string{"a", "b", "c"})
	var said []string
	for _, b := range bundles {
		if why := bundles.Waits(b, nil); why != "" {
			said = append(said, b.Name+": "+why)
		} else if err := bundles.Turn(t.Context(), p, b); err == nil {
			_, _ = b.Apply(t.Context(), p)
		}
	}
	want := []string{"plan c", "plan bc", "plan abc", "apply c", "renew b after 1", "apply b"}
	if !slices.Equal(p.asked, want) || !slices.Equal(said, []string{"a: b was not deleted"}) {
		t.Errorf("%q, want %q; said %q", p.asked, want, said)
	}
	p = &planner{wrong: "a"}
	if bundles = Deletions(t.Context(), p, engine.Request{}, []string{"a", "b"}); bundles[1].Err == nil || bundles[0].Err != nil || !slices.Equal(bundles[0].Request.Among, []string{"a", "b"}) {
		t.Errorf("%+v", bundles)
	}
}

// List is what two fleets, and somebody without one, delivered.
func (p *planner) List(context.Context, engine.Request) (*release.Listing, error) {
	of := func(bundle, fleet string) release.BundleListing {
		return release.BundleListing{Bundle: bundle, Fleet: fleet}
	}
	if p.stale == "shpo" {
		return (&lister{}).List(context.Background(), engine.Request{})
	}
	return &release.Listing{Fleet: p.wrong, Clusters: []release.ClusterListing{{Bundles: []release.BundleListing{of("a", "ours"), of("b", "theirs"), of("c", ""), of("d", "ours")}}}}, nil
}

// planDrift plans nothing.
func (p *planner) planDrift(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	p.asked = append(p.asked, req.Bundle)
	return &engine.Prepared{FleetPlan: &fleetplan.FleetPlan{Verb: "drift", Bundle: req.Bundle, Clusters: []*fleetplan.ClusterPlan{{Cluster: "c", Revision: 1}}}}, nil
}

// Without names only what the run's fleet delivered is looked at and put right; the rest is named, and may be named.
func TestDriftOfOthers(t *testing.T) {
	for _, c := range []struct {
		fleet, asked string
		names        []string
		said         bool
	}{{"ours", "a d", nil, true}, {"", "c", nil, true}, {"ours", "b", []string{"b"}, false}} {
		p := &planner{wrong: c.fleet}
		out, err := Drift(t.Context(), p, engine.Request{}, c.names)
		if err != nil || strings.Join(p.asked, " ") != c.asked || (len(out[0].Plan.Findings) == 1) != c.said {
			t.Errorf("%+v: %v, %v", c, p.asked, err)
		}
	}
	if _, err := Drift(t.Context(), &planner{wrong: "empty"}, engine.Request{}, nil); err == nil || !strings.Contains(err.Error(), "not looked at") {
		t.Errorf("nothing of ours: %v", err)
	}
}

// The number of deletions that what puts several bundles right is confirmed with is that of all of them, and each has its own.
func TestDriftConfirmed(t *testing.T) {
	for number, refused := range map[int]bool{0: false, 2: true} {
		out, err := Drift(t.Context(), &planner{}, engine.Request{PlanOptions: engine.PlanOptions{ConfirmDelete: &number}}, []string{"a", "b"})
		if err != nil || len(out) != 2 || out[0].Plan.Findings.HasErrors() != refused || *out[1].Request.ConfirmDelete != 0 {
			t.Errorf("%d: %+v, %v", number, out, err)
		}
	}
}

// A name that no cluster has is answered with the nearest of those that are delivered, in a plan's findings, in an error and in a
// status; one that is right, or that files are read beside, is not, and nobody is asked when nothing is missing.
func TestMeant(t *testing.T) {
	for name, c := range map[string]struct {
		bundle, code string
		files        bool
		want         string
	}{
		"near":         {"shpo", fleetplan.CodeNotInstalled, false, "did you mean shop? look"},
		"it is there":  {"shop", fleetplan.CodeNotInstalled, false, "look"},
		"far":          {"billing", fleetplan.CodeNotInstalled, false, "look"},
		"another fact": {"shpo", "unreachable", false, "look"},
		"of files":     {"shpo", fleetplan.CodeNotInstalled, true, "look"},
	} {
		finding := func() diag.Findings {
			return diag.Findings{{Severity: diag.Error, Code: c.code, What: "it is nowhere", Fix: "look"}}
		}
		asked := &lister{}
		req := of(c.bundle)
		if c.files {
			req.Documents = input.Of(nil, v1alpha1.BundleSpec{Name: c.bundle})
		}
		planned := &engine.Prepared{FleetPlan: &fleetplan.FleetPlan{Findings: finding()}}
		bundles := Bundles{{Plan: planned}, {Err: finding().Err()}}.Meant(t.Context(), asked, req)
		said := []string{bundles[0].Plan.Findings[0].Fix, diag.From(bundles[1].Err, "")[0].Fix}
		if said[0] != c.want || said[1] != c.want || (asked.times > 0) != (c.code == fleetplan.CodeNotInstalled && !c.files) {
			t.Errorf("%s: %q after %d lists, want %q", name, said, asked.times, c.want)
		}
	}
	r, err := Status(t.Context(), &planner{stale: "shpo"}, of("shpo"), nil)
	if err == nil || !strings.Contains(err.Error(), "did you mean shop?") || r == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// lister lists one bundle.
type lister struct{ times int }

func (l *lister) List(context.Context, engine.Request) (*release.Listing, error) {
	l.times++
	return &release.Listing{Clusters: []release.ClusterListing{{Bundles: []release.BundleListing{{Bundle: "shop"}}}}}, errors.New("one did not answer")
}
