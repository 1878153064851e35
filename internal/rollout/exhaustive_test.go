package rollout_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/rollout"
)

// explorer walks every way a rollout can go: each running cluster may end next, well or badly, alone or together with
// another, a soak may end, and the user may interrupt. After every step the invariants are checked.
type explorer struct {
	t     testing.TB
	sch   rollout.Schedule
	seen  map[string]bool
	steps int
}

func explore(t testing.TB, sch rollout.Schedule) int {
	e := &explorer{t: t, sch: sch, seen: map[string]bool{}}
	e.call(rollout.State{}, nil, epoch)
	return e.steps
}

// call makes one step and follows every way on from it.
func (e *explorer) call(before rollout.State, outcomes []rollout.Outcome, now time.Time) {
	e.steps++
	frozen := encode(e.t, before)
	st, d := rollout.Next(e.sch, before, outcomes, now)
	if encode(e.t, before) != frozen {
		e.t.Fatalf("Next changed the state handed in")
	}
	e.check(before, st, d, now)
	if again, _ := rollout.Next(e.sch, st, nil, now); encode(e.t, again) != encode(e.t, st) {
		e.t.Fatalf("asked again, Next does something else:\n%s", cmp.Diff(st, again))
	}
	if d.Done {
		return
	}
	key := encode(e.t, st) + now.String()
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	e.follow(st, d, now)
}

func (e *explorer) follow(st rollout.State, d rollout.Decision, now time.Time) {
	running := in(e.sch, st, rollout.Running)
	for _, a := range running { // somebody has paused the release before it began there
		held, next := rollout.Next(e.sch, st, []rollout.Outcome{{Cluster: a, Held: "paused"}}, now)
		if held.Phases[a] != rollout.NotStarted || held.Stopped == "" || len(next.Start) > 0 {
			e.t.Fatalf("after a hold: %+v %+v", held, next)
		}
	}
	for i, a := range running {
		for _, ok := range []bool{true, false} {
			e.call(st, []rollout.Outcome{{Cluster: a, OK: ok}}, now)
			for _, b := range running[i+1:] {
				e.call(st, []rollout.Outcome{{Cluster: a, OK: ok}, {Cluster: b}}, now)
			}
		}
	}
	checking := slices.Sorted(maps.Keys(st.Checking))
	for i, a := range checking {
		for _, ok := range []bool{true, false} {
			e.call(st, []rollout.Outcome{{Cluster: a, OK: ok}}, now)
			for _, b := range checking[i+1:] {
				e.call(st, []rollout.Outcome{{Cluster: a, OK: ok}, {Cluster: b}}, now)
			}
		}
	}
	if !d.WakeAt.IsZero() {
		e.call(st, nil, d.WakeAt)
	}
	if st.Stopped == "" {
		e.call(rollout.Stop(st, "interrupted"), nil, now)
	}
}

// check holds the rules of a rollout against one decision, by counting and not by the machine's own means.
func (e *explorer) check(before, st rollout.State, d rollout.Decision, now time.Time) {
	fail := func(format string, args ...any) {
		e.t.Fatalf("%s\nschedule %s\nbefore %s\nafter  %s\ndecision %+v", fmt.Sprintf(format, args...),
			encode(e.t, e.sch), encode(e.t, before), encode(e.t, st), d)
	}
	running := in(e.sch, st, rollout.Running)
	waves := map[int]bool{}
	for _, m := range e.sch.Members {
		if slices.Contains(running, m.Cluster) {
			waves[m.Wave] = true
		}
	}
	if len(waves) > 1 {
		fail("two waves run at once")
	}
	if len(d.Start) > 0 && (before.Stopped != "" || st.Stopped != "" || d.Stop != "") {
		fail("a cluster starts after the stop")
	}
	if d.Done != (len(running) == 0 && len(st.Checking) == 0 && d.WakeAt.IsZero() && !d.Unapproved) {
		fail("done is %t with %d running and %d judged again", d.Done, len(running), len(st.Checking))
	}
	if d.Unapproved && (len(running) > 0 || len(d.Start) > 0 || !d.WakeAt.IsZero() || !e.sch.Waves[d.Wave-1].Approval || e.sch.Waves[d.Wave-1].Approved) {
		fail("it waits for an approval that nobody has to give, or not for that alone")
	}
	if len(st.Checking) > 0 && (len(running) > 0 || len(d.Start) > 0) {
		fail("clusters run while others are judged again")
	}
	for wave := range st.Soaked {
		if !st.Asked[wave] {
			fail("the soak of wave %d is over and nobody was judged again", wave)
		}
	}
	if d.Done && len(in(e.sch, st, rollout.Waiting)) > 0 {
		fail("done while clusters wait")
	}
	if !d.WakeAt.IsZero() && (len(running) > 0 || !d.WakeAt.After(now)) {
		fail("a soak with clusters running, or in the past")
	}
	tooLate := d.Stop == "" && d.Done && len(in(e.sch, st, rollout.NotStarted)) == 0
	if d.Stop != st.Stopped && !tooLate {
		fail("the reason of the stop is not told")
	}
	for _, name := range d.Start {
		e.checkStart(name, before, st, now, fail)
	}
}

// checkStart holds the rules for starting one cluster.
func (e *explorer) checkStart(name string, before, st rollout.State, now time.Time, fail func(string, ...any)) {
	i := slices.IndexFunc(e.sch.Members, func(m rollout.Member) bool { return m.Cluster == name })
	me := e.sch.Members[i]
	w := e.sch.Waves[me.Wave-1]
	failed := map[int]int{}
	running := 0
	for j, m := range e.sch.Members {
		p := st.Phases[m.Cluster]
		ended := p == rollout.Succeeded || p == rollout.Failed
		if p == rollout.Failed {
			failed[m.Wave]++
		}
		if p == rollout.Running {
			running++
		}
		switch {
		case m.Wave < me.Wave && !ended:
			fail("%s starts before %s of an earlier wave has ended", name, m.Cluster)
		case m.Wave == me.Wave && m.Canary && !me.Canary && p != rollout.Succeeded:
			fail("%s starts before the canary %s succeeded", name, m.Cluster)
		case m.Wave == me.Wave && m.Canary && p == rollout.Failed:
			fail("%s starts after the canary %s failed", name, m.Cluster)
		case e.sch.Sequential && j < i && p != rollout.Succeeded:
			fail("%s starts before %s succeeded", name, m.Cluster)
		case m.Wave == me.Wave && j < i && m.Canary == me.Canary && p == rollout.Waiting && (m.Settled || !me.Settled):
			fail("%s overtakes %s", name, m.Cluster)
		}
	}
	if !me.Settled && w.Approval && !w.Approved {
		fail("%s starts before its wave is approved", name)
	}
	if !me.Settled && !w.Window.Opens(now).IsZero() {
		fail("%s starts outside the window of its wave", name)
	}
	if me.Unreachable || before.Phases[name] != "" && before.Phases[name] != rollout.Waiting {
		fail("%s starts a second time, or does not answer", name)
	}
	if w.MaxParallel > 0 && running > w.MaxParallel {
		fail("%d run at once", running)
	}
	for wave, n := range failed {
		if n > e.sch.Waves[wave-1].MaxFailures {
			fail("%s starts after %d failures in wave %d", name, n, wave)
		}
	}
	for wave := 1; wave <= me.Wave; wave++ {
		spec := e.sch.Waves[wave-1]
		gates := wave < me.Wave || spec.Canary > 0 && !me.Canary
		if spec.Soak > 0 && gates && len(e.sch.Wave(wave)) > 0 && !st.Soaked[wave] {
			fail("%s starts before the soak of wave %d is over", name, wave)
		}
	}
}

func in(sch rollout.Schedule, st rollout.State, phase rollout.Phase) []string {
	var out []string
	for _, m := range sch.Members {
		if st.Phases[m.Cluster] == phase {
			out = append(out, m.Cluster)
		}
	}
	return out
}

func encode(t testing.TB, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// build makes a schedule of waves with the given sizes and one set of rules; down are bits of clusters.
func build(sizes []int, w rollout.WaveSpec, down int, sequential bool) rollout.Schedule {
	s := rollout.Schedule{Sequential: sequential}
	n := 0
	for i, size := range sizes {
		s.Waves = append(s.Waves, w)
		for j := range size {
			s.Members = append(s.Members, rollout.Member{Cluster: string(rune('a' + n)), Wave: i + 1, Canary: j < w.Canary,
				Unreachable: down&(1<<n) != 0})
			n++
		}
	}
	return s
}

// Every rollout of up to four clusters in up to three waves, under every combination of rules, every set of clusters
// that do not answer, and every order of outcomes, keeps the rules and ends.
func TestExhaustive(t *testing.T) {
	total := 0
	for _, sizes := range [][]int{{0}, {1}, {2}, {3}, {4}, {1, 1}, {1, 3}, {2, 2}, {0, 2}, {1, 1, 1}, {1, 0, 2}} {
		clusters := 0
		for _, n := range sizes {
			clusters += n
		}
		for rules := range 2 * 3 * 2 * 2 {
			w := rollout.WaveSpec{Canary: rules % 2, MaxParallel: rules / 2 % 3, MaxFailures: rules / 6 % 2,
				Soak: time.Duration(rules/12) * time.Minute}
			for down := range 1 << clusters {
				if testing.Short() && down > 2 {
					continue
				}
				total += explore(t, build(sizes, w, down, false))
				total += explore(t, rollout.Reversed(build(sizes, w, down, false)))
			}
		}
	}
	for n := range 5 {
		for down := range 1 << n {
			total += explore(t, build([]int{n}, rollout.WaveSpec{MaxParallel: 1}, down, true))
		}
	}
	t.Logf("%d steps", total)
}

// So does every one with a window or an approval on one of its waves, given or not, whichever clusters have something to do.
func TestExhaustiveKept(t *testing.T) {
	open := &rollout.Window{From: "00:00", To: "24:00"}
	shut := &rollout.Window{From: "13:00", To: "14:00"} // the epoch is at noon
	for _, sizes := range [][]int{{2}, {1, 1}, {1, 2}, {2, 0, 1}} {
		for kept := range sizes {
			for rules := range 3 * 3 * 2 * 8 * 4 {
				w := rollout.WaveSpec{Canary: rules % 2, Soak: time.Duration(rules/2%2) * time.Minute}
				sch := build(sizes, w, rules/4%4, false)
				sch.Waves[kept].Window = []*rollout.Window{nil, open, shut}[rules/16%3]
				sch.Waves[kept].Approval, sch.Waves[kept].Approved = rules/48%3 > 0, rules/48%3 > 1
				for i := range sch.Members {
					sch.Members[i].Settled = rules/144%8&(1<<i) != 0
				}
				explore(t, sch)
			}
		}
	}
}

// Bigger random rollouts, with times handed in and waves left out, keep the rules and end.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 4).Draw(rt, "sizes")
		sch := build(sizes, rollout.WaveSpec{}, rapid.IntRange(0, 7).Draw(rt, "down"), false)
		for i := range sch.Waves {
			sch.Waves[i] = rollout.WaveSpec{MaxParallel: rapid.IntRange(0, 3).Draw(rt, "parallel"),
				MaxFailures: rapid.IntRange(0, 2).Draw(rt, "failures"), Canary: rapid.IntRange(0, 2).Draw(rt, "canary"),
				Soak: time.Duration(rapid.IntRange(0, 2).Draw(rt, "soak")) * time.Minute}
		}
		sch = rollout.WithoutUnreachable(sch)
		sch.UntilWave = rapid.IntRange(0, 3).Draw(rt, "until")
		e := &explorer{t: t, sch: sch}
		now, st := epoch, rollout.State{}
		var outcomes []rollout.Outcome
		for step := 0; ; step++ {
			if step > 100 {
				rt.Fatalf("does not end")
			}
			next, d := rollout.Next(sch, st, outcomes, now)
			e.check(st, next, d, now)
			st, outcomes = next, nil
			if d.Done {
				break
			}
			if !d.WakeAt.IsZero() {
				now = d.WakeAt
				continue
			}
			now = now.Add(time.Second)
			for _, c := range slices.Sorted(maps.Keys(st.Checking)) {
				outcomes = append(outcomes, rollout.Outcome{Cluster: c, OK: rapid.IntRange(0, 5).Draw(rt, "still ready") > 0})
			}
			for _, c := range in(sch, st, rollout.Running) {
				if len(outcomes) == 0 || rapid.Bool().Draw(rt, "ends") {
					ago := time.Duration(rapid.IntRange(0, 100).Draw(rt, "ago")) * time.Second
					outcomes = append(outcomes, rollout.Outcome{Cluster: c, OK: rapid.IntRange(0, 5).Draw(rt, "ok") > 0, At: now.Add(-ago)})
				}
			}
		}
		for _, m := range sch.Members {
			if sch.UntilWave > 0 && m.Wave > sch.UntilWave && st.Phases[m.Cluster] != rollout.NotStarted {
				rt.Fatalf("%s of wave %d is %s, with UntilWave %d", m.Cluster, m.Wave, st.Phases[m.Cluster], sch.UntilWave)
			}
		}
	})
}
