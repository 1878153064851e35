package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testfleet"
)

// trips are the requests of a verb in the order in which they came to a cluster that is this far away, those that went
// together in one line: the lines are the round trips that depended on one another.
func (r *rig) trips(away time.Duration, verb func(req Request)) []string {
	r.t.Helper()
	req := r.request()
	req.Access.Context = here + "-fault"
	r.Version = "far-" + r.name
	shared.fleet.Fault(r.t, here, testfleet.FaultSpec{Latency: away})
	from := shared.fleet.AuditOffset(r.t, here)
	verb(req)
	shared.fleet.ClearFault(r.t, here)
	var mine []testfleet.AuditEntry
	for _, e := range shared.fleet.Audit(r.t, here, from) {
		if e.UserAgent == "hawser/"+r.Version {
			mine = append(mine, e)
		}
	}
	slices.SortFunc(mine, func(a, b testfleet.AuditEntry) int { return a.Time.Compare(b.Time) })
	var out []string
	for i, e := range mine {
		what := e.Method + " " + strings.ReplaceAll(e.Path, r.name, "NS")
		switch {
		case i == 0 || e.Time.Sub(mine[i-1].Time) > away/2:
			out = append(out, what)
		case !slices.Contains(strings.Split(out[len(out)-1], ", "), what):
			out[len(out)-1] += ", " + what
		}
	}
	return out
}

// What does not depend on one another goes together: so many round trips one after the other, and no more.
func TestRoundTrips(t *testing.T) {
	var over []string
	// On a busy machine what goes together is sent with pauses, which look like a trip: then from further away once more.
	for _, away := range []time.Duration{400 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		if over = roundTrips(t, away); len(over) == 0 {
			return
		}
	}
	t.Error(strings.Join(over, "\n"))
}

// roundTrips are the verbs that took more of them than they may.
func roundTrips(t *testing.T, away time.Duration) (over []string) {
	var objects []string
	r := newRig(t)
	for i := range 20 {
		objects = append(objects, r.configMap(fmt.Sprintf("c%d", i), "key: one"))
	}
	r.write("bundle.yaml", r.bundle(strings.Join(objects, "")))
	apply := func(req Request) {
		req.Applies = true
		fp := r.plan(req)
		if _, err := r.Apply(t.Context(), fp, req); err != nil {
			t.Error(err)
		}
	}
	check := func(what string, most int, verb func(Request)) {
		t.Helper()
		trips := r.trips(away, verb)
		said := fmt.Sprintf("%s, %s away: %d round trips, at most %d\n  %s", what, away, len(trips), most, strings.Join(trips, "\n  "))
		if t.Log(said); len(trips) > most {
			over = append(over, said)
		}
	}
	check("a plan of new objects", 3, func(req Request) { r.plan(req) })
	check("a first apply", 10, apply)
	check("an unchanged apply", 2, apply)
	r.write("app.yaml", strings.ReplaceAll(strings.Join(objects, ""), "one", "two"))
	check("an apply of changes", 9, apply)
	return over
}
