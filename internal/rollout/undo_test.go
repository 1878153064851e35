package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/rollout"
)

// The clusters of a wave that failed go back that the rollout touched, and no others: not where somebody stopped it first, not of the
// waves before, and not where the fleet does not want it.
func TestGoesBack(t *testing.T) {
	t.Parallel()
	spec := rules(t, "- {groups: [a]}\n- {groups: [b], canary: 1, soak: 1m}\n")
	all := clusters("a:a1 a:a2 b:b1 b:b2")
	spec.OnFailure = "rollback"
	sch, findings := rollout.NewSchedule(spec, all, nil)
	if len(findings) > 0 || !sch.GoesBack {
		t.Fatalf("%v %+v", findings, sch)
	}
	for name, c := range map[string]struct {
		sch     rollout.Schedule
		script  string // what comes back: "ok a1", "fail a2", "unready b1"; "stop" ends it from outside
		touched string
		want    string
	}{
		"a failure":             {sch, "ok a1 fail a2", "a1 a2", "a1 a2"},
		"one was not touched":   {sch, "ok a1 fail a2", "a1", "a1"},
		"nothing failed":        {sch, "ok a1 ok a2 ok b1 ready b1 ok b2", "a1 a2 b1 b2", ""},
		"the second wave":       {sch, "ok a1 ok a2 fail b1", "a1 a2 b1 b2", "b1 b2"},
		"a canary after a soak": {sch, "ok a1 ok a2 ok b1 unready b1", "a1 a2 b1", "b1"},
		"stopped before":        {sch, "stop fail a1 fail a2", "a1 a2", ""},
		"stopped after":         {sch, "fail a1 stop ok a2", "a1 a2", "a1 a2"},
		"not wanted":            {func() rollout.Schedule { s := sch; s.GoesBack = false; return s }(), "fail a1 fail a2", "a1 a2", ""},
		"a delete":              {rollout.Reversed(sch), "fail b1", "b1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			now := epoch
			st, _ := rollout.Next(c.sch, rollout.State{}, nil, now)
			words := strings.Fields(c.script)
			for len(words) > 0 {
				var out []rollout.Outcome
				switch words[0] {
				case "stop":
					st, words = rollout.Stop(st, "interrupted"), words[1:]
				default:
					now = now.Add(time.Hour)
					st, _ = rollout.Next(c.sch, st, nil, now) // what soaked is judged
					out, words = []rollout.Outcome{{Cluster: words[1], OK: words[0] == "ok" || words[0] == "ready"}}, words[2:]
				}
				st, _ = rollout.Next(c.sch, st, out, now)
			}
			touched := strings.Fields(c.touched)
			if got := strings.Join(rollout.GoesBack(c.sch, st, func(name string) bool { return slices.Contains(touched, name) }), " "); got != c.want {
				t.Errorf("%q, want %q: %+v", got, c.want, st)
			}
		})
	}
}

// What goes back has no canaries, soaks, windows and approvals, and goes on where one cannot.
func TestUndoing(t *testing.T) {
	t.Parallel()
	spec := rules(t, "- {groups: [a], canary: 1, soak: 1h, maxParallel: 1, approval: manual, window: {from: \"01:00\", to: \"02:00\"}}\n")
	spec.OnFailure = "rollback"
	sch, _ := rollout.NewSchedule(spec, clusters("a:a1 a:a2 a:a3"), nil)
	st, d := rollout.Next(rollout.Undoing(sch), rollout.State{}, nil, epoch)
	for _, want := range []string{"a1", "a2", "a3"} {
		if len(d.Start) != 1 || d.Start[0] != want {
			t.Fatalf("%s: %+v", want, d)
		}
		st, d = rollout.Next(rollout.Undoing(sch), st, []rollout.Outcome{{Cluster: want, OK: want != "a1"}}, epoch)
	}
	if !d.Done || d.Stop != "" || rollout.Undoing(sch).GoesBack || !sch.GoesBack || sch.Waves[0].Canary != 1 {
		t.Errorf("%+v %+v", d, st)
	}
}

// What a rollout may say of its failures is that they are gone back from.
func TestWrongOnFailure(t *testing.T) {
	t.Parallel()
	spec := rules(t, "- {groups: [a]}\n")
	spec.OnFailure = "undo"
	sch, findings := rollout.NewSchedule(spec, clusters("a:a1"), nil)
	if len(findings) != 1 || findings[0].Code != "wrong-on-failure" || findings[0].Fix == "" || sch.GoesBack {
		t.Errorf("%v", findings)
	}
}
