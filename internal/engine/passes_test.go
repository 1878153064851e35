package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// clocked is a fleet whose first wave soaks, whose second one wants an approval, and whose third one is closed for two hours, on a clock that
// the test moves.
func clocked(t *testing.T) (s *served, later func(time.Duration)) {
	from := time.Now().UTC().Add(2 * time.Hour)
	s = newServed(t, fmt.Sprintf("    a: {group: first, kubeContext: a}\n    b: {group: second, kubeContext: b}\n    c: {group: third, kubeContext: c}\n"+
		"  rollout: {waves: [{groups: [first], soak: 10m}, {name: prod, groups: [second], approval: manual}, {name: late, groups: [third], window: {from: %q, to: %q}}]}\n",
		from.Format("15:04"), from.Add(2*time.Hour).Format("15:04")), nil, "a", "b", "c")
	var ahead time.Duration
	s.Now = func() time.Time { return time.Now().Add(ahead) }
	return s, func(d time.Duration) { ahead += d }
}

// begins plans and begins a rollout, as a process does that knows nothing but the files and the clusters.
func (s *served) begins() *Rollout {
	s.t.Helper()
	fp, err := s.Plan(s.t.Context(), s.request())
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := s.Begin(s.t.Context(), fp, s.request())
	if err != nil || len(o.Blocked) > 0 && o.Blocked[0].Code != rollout.CodeWindow {
		s.t.Fatalf("%v %v", err, o.Blocked)
	}
	return o
}

// kept is all that the clusters keep of the bundle: records and holds.
func (s *served) kept() string {
	s.t.Helper()
	r, err := s.load(s.t.Context(), s.request(), true)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.close()
	if err := r.connect(s.t.Context(), false); err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, target := range r.targets {
		owner := object.OwnerID("", "", "shop")
		rec, version, err := target.Store.Current(s.t.Context(), owner)
		hold, held, herr := release.HeldOn(s.t.Context(), target.Store, owner)
		if err != nil || herr != nil {
			s.t.Fatal(err, herr)
		}
		text, err := json.Marshal([]any{rec, version, hold, held})
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, target.Cluster.Name+" "+string(text))
	}
	return strings.Join(out, "\n")
}

// A driver that is no command makes passes, in one process or each in another one that is killed after it: they wait for the same, soak for the
// rest of the time, ask for an approval once, and it is one release. What a pass that waits leaves is what a killed one leaves.
func TestPassesInOneProcessOrMany(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("dies=%t", dies), func(t *testing.T) {
			t.Parallel()
			s, later := clocked(t)
			o := s.begins()
			var got []string
			var wake time.Time
			pass := func(want string) {
				t.Helper()
				if dies {
					o = s.begins()
				}
				w := o.Pass(t.Context())
				line := "over"
				if len(o.Blocked) > 0 { // a process that could change nothing at all does not begin
					line = "window c"
				}
				if w != nil {
					line = fmt.Sprintf("%s %s", w.On, strings.Join(w.Clusters, " "))
					if w.On == "soak" && !wake.IsZero() && w.Wake.Sub(wake).Abs() > time.Second {
						t.Errorf("it soaks anew: until %s, not %s", w.Wake, wake)
					}
					wake = w.Wake
				}
				if got = append(got, line); line != want {
					t.Fatalf("got %s, want %s: %v", line, want, got)
				}
			}
			pass("soak a")
			id := o.Out.Rollout // before the first write there is none to go on with
			later(6 * time.Minute)
			pass("soak a")
			wrote := len(s.wrote("a"))
			later(4*time.Minute + time.Second)
			pass("approval b")
			pass("approval b")
			req := s.request()
			docs(&req).Files, req.Bundle = nil, "shop"
			said, err := s.Say(t.Context(), req, release.Approve, release.Meant{}, func(*release.Saying) error { return nil })
			if err != nil {
				t.Fatalf("%v %+v", err, said)
			}
			pass("window c")
			before := s.kept()
			pass("window c")
			if after := s.kept(); after != before {
				t.Errorf("a pass that waits has changed what is kept:\n%s\n%s", before, after)
			}
			if !dies { // ended, it leaves what it leaves when it is killed here
				o.Stop("it ends here")
				if w := o.Pass(t.Context()); w != nil {
					t.Fatal(w)
				}
				if out, _ := o.End(); out.Result != fleetplan.Waiting || out.Opens == nil {
					t.Errorf("%+v", out)
				}
				if after := s.kept(); after != before {
					t.Errorf("ended, it keeps something else:\n%s\n%s", before, after)
				}
			}
			if later(2 * time.Hour); !dies {
				o = s.begins()
			}
			pass("over")
			out, err := o.End()
			if err != nil || out.Result != fleetplan.Succeeded || out.Rollout != id {
				t.Errorf("%v %+v", err, out)
			}
			if extra := s.wrote("a")[wrote:]; len(extra) > 0 {
				t.Errorf("written on a cluster that was done: %v", extra)
			}
			if rel := s.releases(); !slices.Equal(rel, []string{"1 succeeded on a b c"}) {
				t.Error(rel)
			}
		})
	}
}

// A pass that is cut short leaves what a killed one leaves, and the next process goes on; what failed before is tried again by a new apply alone.
func TestPassCutShort(t *testing.T) {
	t.Parallel()
	s, _ := clocked(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventClusterStart {
			cancel()
		}
	}
	o := s.begins()
	if w := o.Pass(ctx); w != nil {
		t.Fatalf("%+v", w)
	}
	if out, err := o.End(); err == nil || out.Result == fleetplan.Succeeded {
		t.Fatalf("%v %+v", err, out)
	}
	s.OnEvent = nil
	if w := s.begins().Pass(t.Context()); w == nil || w.On != "soak" || !s.has("a") {
		t.Errorf("%+v", w)
	}
}
