package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// planner plans bundles of one object on one cluster, and says what it was asked.
type planner struct {
	// requires are those of each bundle; wrong says which does not plan, stale which is not renewed, fails which is not applied.
	requires           map[string]string
	wrong, stale, fail string
	unchanged          bool
	asked              []string
}

func (p *planner) Plan(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	if req.Stdin != nil {
		if text, err := io.ReadAll(req.Stdin); err != nil || string(text) != "bundles" {
			return nil, fmt.Errorf("standard input: %q, %v", text, err)
		}
	}
	if req.Bundle == "" {
		return nil, diag.Findings{place.Which("", nil)}.Err()
	}
	p.asked = append(p.asked, "plan "+req.Bundle+strings.Join(slices.Sorted(maps.Keys(req.Before)), ""))
	if req.Bundle == p.wrong {
		return nil, errors.New("no such file")
	}
	fp := &fleetplan.FleetPlan{Verb: "apply", Bundle: req.Bundle, Clusters: []*fleetplan.ClusterPlan{{Cluster: "c", Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Create}}}}}}
	if need := p.requires[req.Bundle]; need != "" {
		fp.Requires = []string{need}
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

// run plans and carries out as a face does, and says what it was told of each bundle.
func run(t *testing.T, p *planner, stop <-chan struct{}) []string {
	t.Helper()
	bundles := Plan(t.Context(), p, engine.Request{Stdin: strings.NewReader("bundles")}, names())
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

// A request for one bundle, and files with but one, are planned once; who cannot name the bundles has the refusal.
func TestOne(t *testing.T) {
	p := &planner{}
	if bundles := Plan(t.Context(), p, engine.Request{Bundle: "b"}, names()); len(bundles) != 1 || bundles[0].Err != nil || !slices.Equal(p.asked, []string{"plan b"}) {
		t.Errorf("%+v, %q", bundles, p.asked)
	}
	if bundles := Plan(t.Context(), p, engine.Request{}, nil); len(bundles) != 1 || !Several(bundles[0].Err) {
		t.Errorf("%+v", bundles)
	}
}

// A number that confirms the deletions of all is the own number of each; without one there is none.
func TestConfirmed(t *testing.T) {
	two := 0
	bundles := Plan(t.Context(), &planner{}, engine.Request{ConfirmDelete: &two}, names())
	for _, b := range bundles {
		if b.Request.ConfirmDelete == nil || *b.Request.ConfirmDelete != 0 || !slices.Equal(b.Request.Among, []string{"a", "b", "c"}) {
			t.Errorf("%s: %v", b.Name, b.Request)
		}
	}
	if c := bundles.Counts(); c.Create != 3 {
		t.Errorf("%+v", c)
	}
}

// PlanDelete plans to delete one object.
func (p *planner) PlanDelete(_ context.Context, req engine.Request) (*engine.Prepared, error) {
	p.asked = append(p.asked, "plan "+req.Bundle+strings.Join(slices.Sorted(maps.Keys(req.Before)), ""))
	if req.Bundle == p.wrong {
		return nil, errors.New("no answer")
	}
	return &engine.Prepared{FleetPlan: &fleetplan.FleetPlan{Verb: "delete", Bundle: req.Bundle}}, nil
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
	return &release.Listing{Fleet: p.wrong, Clusters: []release.ClusterListing{{Bundles: []release.BundleListing{of("a", "ours"), of("b", "theirs"), of("c", ""), of("d", "ours")}}}}, nil
}

// PlanDrift plans nothing.
func (p *planner) PlanDrift(_ context.Context, req engine.Request) (*engine.Prepared, error) {
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
