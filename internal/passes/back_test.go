package passes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/rollout"
)

// undoer are hands that can undo; stands is what stands against that, by cluster.
type undoer struct {
	*hands
	untouched string
	stands    map[string]string
	waits     *rollout.Wait
}

func (u *undoer) Touched(cluster string) bool { return cluster != u.untouched }

func (u *undoer) Undo(_ context.Context, clusters []string, why string) (passes.Back, diag.Findings) {
	u.note("undo %s: %s", strings.Join(clusters, " "), why)
	var found diag.Findings
	for _, name := range clusters {
		if what := u.stands[name]; what != "" {
			found = append(found, diag.Findings{diag.Errorf("x", "%s", what)}.OnCluster(name)...)
		}
	}
	return &going{u, clusters}, found
}

// going is a rollback that waits once.
type going struct {
	*undoer
	clusters []string
}

func (g *going) To() string      { return "4 (X)" }
func (g *going) Stop(why string) { g.note("stop going back: %s", why) }

func (g *going) Changed() <-chan struct{} { return nil }
func (g *going) Pass(context.Context) *rollout.Wait {
	g.note("go back")
	w := g.waits
	g.waits = nil
	return w
}

func (g *going) End() (*fleetplan.Outcome, error) {
	out := &fleetplan.Outcome{Rollout: "B"}
	for _, name := range g.clusters {
		out.Clusters = append(out.Clusters, fleetplan.ClusterOutcome{Cluster: name, Result: fleetplan.Succeeded})
	}
	return out, nil
}

// A wave that fails goes back in passes of the same rollout: those of its clusters that were touched and that can. It is asked for once.
func TestGoesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stands map[string]string
		stop   bool
		want   string
		back   bool
	}{
		"all that were touched": {nil, false, "undo b c: wave 2: b failed, notice 2 goes back to release 4 (X): b, c, go back, stop going back: why, go back", true},
		"one cannot":            {map[string]string{"b": "locked"}, false, "undo b c: wave 2: b failed, undo c: wave 2: b failed, notice 2 goes back to release 4 (X): c, go back, stop going back: why, go back", true},
		"none can":              {map[string]string{"b": "locked", "c": "gone"}, false, "undo b c: wave 2: b failed", false},
		"somebody wants an end": {nil, true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hands{now: epoch, fails: map[string]bool{"b": true}}
			r := under(h, []rollout.WaveSpec{{}, {MaxFailures: 0}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 2},
				rollout.Member{Cluster: "c", Wave: 2}, rollout.Member{Cluster: "d", Wave: 2})
			r.Steps, r.Schedule.GoesBack = &undoer{hands: h, untouched: "d", stands: c.stands, waits: &rollout.Wait{On: rollout.ForSoak}}, true
			if c.stop {
				h.stop = make(chan struct{})
			}
			if w := r.Pass(t.Context(), h.stop); (w != nil) != c.back {
				t.Errorf("it waits for %+v", w)
			}
			r.Stop("why")
			if w := r.Pass(t.Context(), nil); w != nil {
				t.Errorf("it waits for %+v", w)
			}
			if err := r.End(); err != nil || (r.Out.WentBack != nil) != c.back {
				t.Errorf("%v %+v", err, r.Out)
			}
			got := strings.Join(h.did, ", ")
			if i := strings.Index(got, "undo "); i >= 0 {
				got = got[i:]
			} else {
				got = ""
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Where a cluster of a wave failed and another one could not be looked at after its soak both go back, whichever came first, for what failed;
// one that another run has changed stays, and that is said. Where nothing is known to have failed nothing goes back.
func TestGoesBackBesideTheUnseen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails      []string
		want, said string
	}{
		"one is unseen, the last":      {[]string{"soak of a", "look at b"}, "undo a b c: wave 1: a is no longer ready after the soak", ""},
		"one is unseen, the first":     {[]string{"look at a", "soak of b"}, "undo a b c: wave 1: b is no longer ready after the soak", ""},
		"it failed before the soak":    {[]string{"a", "look at b"}, "undo a b c: wave 1: a failed", ""},
		"two failed":                   {[]string{"look at a", "soak of b", "soak of c"}, "undo a b c: wave 1: b is no longer ready after the soak, c is no longer ready after the soak", ""},
		"another run has been on one":  {[]string{"another run on a", "soak of b"}, "undo b c: wave 1: b is no longer ready after the soak", "a: another run has delivered something since"},
		"all that failed are unseen":   {[]string{"look at a", "look at b"}, "", ""},
		"another run, and one unseen":  {[]string{"another run on a", "look at b"}, "", ""},
		"nobody can tell of any of it": {[]string{"look at a", "look at b", "look at c"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hands{now: epoch, fails: map[string]bool{}}
			for _, what := range c.fails {
				h.fails[what] = true
			}
			allowed := 0
			if h.fails["a"] {
				allowed = 1 // so that the wave soaks
			}
			r := under(h, []rollout.WaveSpec{{Soak: time.Minute, MaxFailures: allowed}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 1}, rollout.Member{Cluster: "c", Wave: 1})
			r.Steps, r.Schedule.GoesBack = &undoer{hands: h}, true
			r.Pass(t.Context(), nil)
			h.now = epoch.Add(time.Minute)
			r.Pass(t.Context(), nil)
			got, said := "", ""
			for _, did := range h.did {
				if strings.HasPrefix(did, "undo ") {
					got += did
				}
			}
			for _, f := range r.Out.Findings {
				said += f.Cluster + ": " + f.Why
			}
			if got != c.want || said != c.said {
				t.Errorf("got  %s; %s\nwant %s; %s", got, said, c.want, c.said)
			}
		})
	}
}
