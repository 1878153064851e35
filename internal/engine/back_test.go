package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/testserver"
)

// backFleet is a fleet of a first wave with a, and a second one with b and c, which goes back when it fails.
const backFleet = "    a: {group: first, kubeContext: a}\n    b: {group: second, kubeContext: b}\n    c: {group: second, kubeContext: c}\n" +
	"  rollout: {onFailure: rollback, waves: [{groups: [first]}, {name: prod, groups: [second], maxParallel: 1}]}\n"

// value is what the bundle's ConfigMap holds on a cluster, "" for none.
func (s *served) value(name string) string {
	o := s.servers[name].Object("/api/v1/namespaces/default/configmaps/a")
	if o == nil {
		return ""
	}
	data, _ := o["data"].(map[string]any)
	return fmt.Sprint(data["k"])
}

func (s *served) values(names ...string) string {
	var out []string
	for _, name := range names {
		out = append(out, name+"="+s.value(name))
	}
	return strings.Join(out, " ")
}

// releases are those of history, the newest first: number, what it went back to, state and clusters.
func (s *served) releases() []string {
	s.t.Helper()
	req := s.request()
	docs(&req).Files, req.Bundle = nil, "shop"
	h, err := s.History(s.t.Context(), req)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, rel := range h.Bundles[0].Releases {
		out = append(out, described(rel))
	}
	return out
}

func described(rel history.Release) string {
	var on []string
	for _, c := range rel.Clusters {
		if c.In {
			on = append(on, c.Cluster)
		}
	}
	line := fmt.Sprintf("%d %s on %s", rel.Release, rel.State, strings.Join(on, " "))
	if rel.RollbackTo != nil {
		line += fmt.Sprintf(" back to %d: %s", rel.RollbackTo.Release, rel.Message)
	}
	return line
}

// refuses lets a cluster refuse to have its ConfigMap written.
func (s *served) refuses(name string) {
	s.servers[name].Fault(testserver.Before(func(r *http.Request) bool {
		return testserver.Writing("configmaps")(r) && r.URL.Query().Get("dryRun") == ""
	},
		testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"a policy says no","code":403}`)))
}

// run plans and applies what the bundle's ConfigMap is to hold.
func (s *served) run(value string) (*fleetplan.Outcome, error) {
	s.t.Helper()
	s.write("app.yaml", strings.Replace(someMap, "one", value, 1))
	fp, err := s.Plan(s.t.Context(), s.request())
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Apply(s.t.Context(), fp, s.request())
}

// The clusters of a wave that fails go back to what they had, in a release of their own, and those of waves before it stay.
func TestFailedWaveGoesBack(t *testing.T) {
	t.Parallel()
	s := newServed(t, backFleet, nil, "a", "b", "c")
	first := s.applied(s.request())
	s.refuses("c")
	var events []string
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventNotice || ev.Type == fleetplan.EventSummary || ev.Type == fleetplan.EventStop {
			events = append(events, fmt.Sprintf("%s %s", ev.Type, ev.Message))
		}
	}
	out, err := s.run("two")
	if err == nil || out.StoppedWave != 2 || out.WentBack == nil || out.WentBack.Result != fleetplan.Succeeded || len(out.WentBack.Clusters) != 2 {
		t.Fatalf("%v %+v", err, out)
	}
	if got := s.values("a", "b", "c"); got != "a=two b=one c=one" {
		t.Error(got)
	}
	got := s.releases()
	want := []string{"3 succeeded on b c back to 1: release 2 (" + out.Rollout + ") failed in wave 2 (prod): c failed", "2 partial on a b c", "1 superseded on a b c"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text := strings.Join(events, "|"); text != "stop c failed|notice goes back to release 1 ("+first.Rollout+"): b, c|summary " {
		t.Error(text)
	}
	if said := out.WentBack.Said(); said != "Back at release 1 ("+first.Rollout+"): b, c (rollout "+out.WentBack.Rollout+")" {
		t.Error(said)
	}
}

// Where there is nothing to go back to, and where another run is at work, that is said, and the cluster left as it is; the others go.
func TestWhatCannotGoBackStays(t *testing.T) {
	t.Parallel()
	s := newServed(t, backFleet, nil, "a", "b", "c")
	s.refuses("c")
	out, err := s.run("one") // the first release of all
	if err == nil || out.WentBack != nil || s.values("a", "b", "c") != "a=one b=one c=" {
		t.Fatalf("%v %+v %s", err, out, s.values("a", "b", "c"))
	}
	said := map[string]string{}
	for _, f := range out.Findings {
		said[f.Cluster] = f.Code + ": " + f.Why
	}
	if !strings.HasPrefix(said["b"], "not-gone-back: there is no release of shop before") || !strings.HasPrefix(said["c"], "not-gone-back: ") || said["a"] != "" {
		t.Errorf("%v", said)
	}
	s.servers["c"].Fault(nil)
	if _, err := s.run("one"); err != nil {
		t.Fatal(err)
	}
	s.refuses("c")
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventStop { // somebody comes to b before it goes back
			s.locks("b")
		}
	}
	out, err = s.run("two")
	if err == nil || s.values("a", "b", "c") != "a=two b=two c=one" || out.WentBack == nil || len(out.WentBack.Clusters) != 1 || out.WentBack.Clusters[0].Cluster != "c" {
		t.Fatalf("%v %+v %s", err, out, s.values("a", "b", "c"))
	}
	if !slices.ContainsFunc(out.Findings.Warnings().Whats(), func(what string) bool { return strings.HasPrefix(what, "it does not go back by itself") }) {
		t.Errorf("%v", out.Findings)
	}
	fp, err := s.Plan(s.t.Context(), s.request())
	if err != nil {
		t.Fatal(err)
	}
	defer fp.Close()
	half := slices.DeleteFunc(slices.Clone(fp.Findings), func(f diag.Finding) bool { return f.Code != fleetplan.CodeHalfBack })
	if len(half) != 1 || half[0].Cluster != "b" || !strings.HasPrefix(half[0].Fix, "hawser rollback shop --to ") {
		t.Errorf("the next run says of what is half done %v", half)
	}
}

// locks takes the lock of the bundle on a cluster, as another run does that has just begun.
func (s *served) locks(name string) {
	s.t.Helper()
	req := s.request()
	req.Clusters.Clusters = []string{name}
	other := &Engine{Resolve: s.Resolve, Records: s.Records, Renderers: s.Renderers, Redactor: s.Redactor, Version: "test"} // it has events of its own
	r, err := other.load(s.t.Context(), req, true)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := r.connect(s.t.Context(), false); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.close)
	if _, err := r.targets[0].Store.Lock(s.t.Context(), object.OwnerID("", "", "shop"), "somebody", time.Minute); err != nil {
		s.t.Fatal(err)
	}
}

// A cluster that cannot be looked at when its soak is over stops the rollout, and nothing else: its release has not failed, so nothing goes
// back, and the record says that nobody knows.
func TestUnseenSoakGoesNotBack(t *testing.T) {
	t.Parallel()
	soaking := strings.Replace(backFleet, "groups: [second], maxParallel: 1", "groups: [second], soak: 1s", 1)
	s := newServed(t, soaking, nil, "a", "b", "c")
	s.applied(s.request())
	var once sync.Once
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			once.Do(func() { s.hides("c") })
		}
	}
	out, err := s.run("two")
	if err == nil || out.Result != fleetplan.Failed || out.Stopped != "c could not be looked at after the soak" || out.WentBack != nil {
		t.Fatalf("%v %+v", err, out)
	}
	row := out.Clusters[2]
	if row.Cluster != "c" || !strings.HasPrefix(row.Reason, "health after the soak: ") || len(row.Problems) > 0 {
		t.Errorf("%+v", row)
	}
	s.servers["c"].Fault(nil)
	if got := s.values("a", "b", "c"); got != "a=two b=two c=two" {
		t.Error(got)
	}
	if got := s.releases(); len(got) != 2 || !strings.HasPrefix(got[0], "2 written") || !strings.HasSuffix(got[0], " on a b c") || strings.Contains(got[0], "failed") {
		t.Errorf("%q", got)
	}
}

// A wave of which nobody could tell after its soak how it is lets no later one pass, however long ago that was: it is applied again, which
// judges it.
func TestUnseenSoakIsNoSuccess(t *testing.T) {
	t.Parallel()
	soaking := strings.Replace(backFleet, "[{groups: [first]}", "[{groups: [first], soak: 1s}", 1)
	s := newServed(t, soaking, nil, "a", "b", "c")
	s.applied(s.request())
	var once sync.Once
	s.OnEvent = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventSoak {
			once.Do(func() { s.hides("a") })
		}
	}
	out, err := s.run("two")
	if err == nil || out.Stopped != "a could not be looked at after the soak" || out.WentBack != nil {
		t.Fatalf("%v %+v", err, out)
	}
	s.servers["a"].Fault(nil)
	time.Sleep(1100 * time.Millisecond) // the soak is over
	later := s.request()
	later.Clusters.Clusters = []string{"b"}
	fp, err := s.Plan(t.Context(), later)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "the later wave alone", fp.Findings.Err(), rollout.CodeGate, "missing: a")
	fp.Close()
	first := s.request()
	first.Clusters.Clusters = []string{"a"}
	fp, err = s.Plan(t.Context(), first)
	if err != nil || fp.Clusters[0].Waits != "nobody could look at it after its soak" {
		t.Fatalf("%v %+v", err, fp.Clusters[0])
	}
	if out, err := s.Apply(t.Context(), fp, first); err != nil || out.Result != fleetplan.Succeeded {
		t.Fatalf("the wave again: %v %+v", err, out)
	}
	if fp, err = s.Plan(t.Context(), later); err != nil || fp.Findings.HasErrors() {
		t.Fatal(err, fp.Findings)
	}
	fp.Close()
}

// hides lets a cluster show no ConfigMaps any more.
func (s *served) hides(name string) {
	s.servers[name].Fault(testserver.Before(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps") },
		testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"not any more","code":403}`)))
}

// A cluster that answers nothing any more keeps no other one of its wave from going back: after a soak, and without one, where it dies in the wave.
func TestSilentClusterKeepsNoneFromGoingBack(t *testing.T) {
	t.Parallel()
	silent := testserver.Body(http.StatusServiceUnavailable, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","message":"not now","code":503}`)
	for name, c := range map[string]struct {
		wave   string
		begins func(*served) // after the first release
		at     fleetplan.EventType
		strike func(*served)
	}{
		"after the soak": {"groups: [second], soak: 1s", func(*served) {}, fleetplan.EventSoak, func(s *served) {
			s.servers["b"].Fault(s.servers["b"].Altered(func(o map[string]any) { // its ConfigMap is another one by now
				if o["kind"] == "ConfigMap" {
					o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-11-02T12:00:00Z"
				}
			}))
			s.servers["c"].Fault(silent)
		}},
		"in its wave": {"groups: [second]", func(s *served) {
			var dead atomic.Bool
			s.servers["c"].Fault(testserver.Before(func(r *http.Request) bool {
				if testserver.Writing("configmaps")(r) && r.URL.Query().Get("dryRun") == "" {
					dead.Store(true)
				}
				return dead.Load()
			}, silent))
		}, fleetplan.EventStop, func(*served) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServed(t, strings.Replace(backFleet, "groups: [second], maxParallel: 1", c.wave, 1), nil, "a", "b", "c")
			s.applied(s.request())
			c.begins(s)
			var once sync.Once
			s.OnEvent = func(ev fleetplan.Event) {
				if ev.Type == c.at {
					once.Do(func() { c.strike(s) })
				}
				if ev.Type == fleetplan.EventStop {
					s.servers["b"].Fault(nil)
				}
			}
			out, err := s.run("two")
			if err == nil || out.WentBack == nil || s.value("b") != "one" {
				t.Fatalf("%v %+v %s", err, out, s.values("a", "b", "c"))
			}
			said := map[string]string{}
			for _, f := range out.Findings {
				said[f.Cluster] = f.Code + ": " + f.Why
			}
			if !strings.HasPrefix(said["c"], "not-gone-back: nobody knows what it has: ") || said["b"] != "" {
				t.Errorf("%v", said)
			}
		})
	}
}
