package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/rollout"
)

// clusters reads "staging:a staging:b production:c": clusters with their groups.
func clusters(text string) []fleet.Cluster {
	var out []fleet.Cluster
	for i, word := range strings.Fields(text) {
		group, name, _ := strings.Cut(word, ":")
		out = append(out, fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: name, Group: group}, Index: i})
	}
	return out
}

func rules(t testing.TB, text string) *v1alpha1.Rollout {
	t.Helper()
	if text == "" {
		return nil
	}
	var r v1alpha1.Rollout
	if err := yaml.UnmarshalStrict([]byte("waves:\n"+text), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// members is "1:a* 2:b": wave, cluster, a star for a canary, a cross for one that does not answer.
func members(s rollout.Schedule) string {
	var out []string
	for _, m := range s.Members {
		word := fmt.Sprintf("%d:%s", m.Wave, m.Cluster)
		if m.Canary {
			word += "*"
		}
		if m.Unreachable {
			word += "x"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

const twoWaves = `
- {groups: [staging]}
- {groups: [production], canary: 1, maxParallel: 2, maxFailures: 1, soak: 2m}
`

func TestNewSchedule(t *testing.T) {
	eleven := "g:1 g:2 g:3 g:4 g:5 g:6 g:7 g:8 g:9 g:10 g:11"
	for _, c := range []struct{ name, waves, clusters, want, finding, reason string }{
		{"no rollout", "", "p:b s:a", "1:b 1:a", "", "the order of the file"},
		{"many without rollout", "", eleven, "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9 1:10 1:11",
			"2 steps instead of 11", "waves would save time"},
		{"ten without rollout", "", eleven[:len(eleven)-5], "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9 1:10", "", "few enough"},
		{"waves", twoWaves, "production:c staging:a production:d staging:b", "1:a 1:b 2:c* 2:d", "", "wave, canary, fleet order"},
		{"selection", twoWaves, "production:d", "2:d*", "", "an empty wave keeps its number; the first of the selected is the canary"},
		{"no wave", twoWaves, "staging:a test:t", "1:a", "cluster t: rollout.waves: the cluster is in no wave", "an error at load"},
		{"several waves", "\n- {groups: [a]}\n- {clusters: [x]}\n", "a:x", "1:x", "several waves of the rollout: 1, 2", "ambiguous"},
		{"more canaries than clusters", "\n- {groups: [a], canary: 5}\n", "a:x a:y", "1:x* 1:y*", "", "all are canaries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, findings := rollout.NewSchedule(rules(t, c.waves), clusters(c.clusters), nil)
			if got := members(s); got != c.want {
				t.Errorf("members %q, want %q: %s", got, c.want, c.reason)
			}
			text := ""
			for _, f := range findings {
				text += f.String() + "\n"
			}
			if (c.finding == "") != (text == "") || !strings.Contains(text, c.finding) {
				t.Errorf("findings %q, want %q", text, c.finding)
			}
			if s.Sequential != (c.waves == "") {
				t.Errorf("sequential is %t", s.Sequential)
			}
		})
	}
}

// A run stops after a wave that there is; any other would be all of them, without a word.
func TestUntil(t *testing.T) {
	waves := rollout.Schedule{Waves: []rollout.WaveSpec{{Name: "staging"}, {}}}
	row := rollout.Schedule{Sequential: true, Waves: []rollout.WaveSpec{{}}}
	for _, c := range []struct {
		s    rollout.Schedule
		wave int
		want string
	}{
		{waves, 0, ""}, {waves, 1, ""}, {waves, 2, ""}, {row, 1, ""},
		{waves, 7, "no wave 7 (there is: wave 1 (staging), wave 2)"},
		{waves, -1, "no wave -1 (there is"},
		{row, 2, "no wave 2 (without waves leave it out)"},
	} {
		s, fs := rollout.Until(c.s, c.wave, nil)
		text := ""
		for _, f := range fs.Errors() {
			text += f.String()
		}
		if s.UntilWave != c.wave || (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%d: %q, want %q", c.wave, text, c.want)
		}
	}
	earlier := diag.Findings{diag.Errorf("no-wave", "x")}
	if _, fs := rollout.Until(waves, 7, earlier); len(fs) != 1 {
		t.Errorf("more than what is wrong with the fleet: %v", fs)
	}
}

func TestNewScheduleImplicit(t *testing.T) {
	s, findings := rollout.NewSchedule(rules(t, twoWaves), []fleet.Cluster{fleet.Implicit("")}, nil)
	if len(findings) > 0 || !s.Sequential || len(s.Members) != 1 {
		t.Errorf("the implicit cluster has no waves: %v %v", s, findings)
	}
}

func TestWaveSpecs(t *testing.T) {
	s, _ := rollout.NewSchedule(rules(t, twoWaves+"- {name: rest, clusters: [x]}\n- {clusters: [u, v]}\n"), nil, nil)
	var names []string
	for _, w := range s.Waves {
		names = append(names, w.Name)
	}
	if diff := cmp.Diff([]string{"staging", "production", "rest", "u, v"}, names); diff != "" {
		t.Error(diff)
	}
	w := s.Waves[1]
	if w.Canary != 1 || w.MaxParallel != 2 || w.MaxFailures != 1 || w.Soak.String() != "2m0s" {
		t.Errorf("rules were lost: %+v", w)
	}
}

func TestReversed(t *testing.T) {
	all := clusters("staging:a production:c production:d")
	s, _ := rollout.NewSchedule(rules(t, twoWaves), all, nil)
	r := rollout.Reversed(s)
	if got, want := members(r), "1:c* 1:d 2:a"; got != want {
		t.Errorf("waves reversed: %q, want %q", got, want)
	}
	if r.Waves[0].Name != "production" || s.Waves[0].Name != "staging" {
		t.Error("the rules go with their wave, and the schedule handed in stays")
	}
	if diff := cmp.Diff(s, rollout.Reversed(r)); diff != "" {
		t.Errorf("twice reversed is another schedule: %s", diff)
	}
	row, _ := rollout.NewSchedule(nil, all, nil)
	if got, want := members(rollout.Reversed(row)), "1:d 1:c 1:a"; got != want {
		t.Errorf("without waves: %q, want %q", got, want)
	}
}

func TestWithoutUnreachable(t *testing.T) {
	all := clusters("staging:a staging:b production:c production:d production:e")
	for _, c := range []struct{ name, waves, down, want, reason string }{
		{"canary", twoWaves, "c", "1:a 1:b 2:d* 2:e", "the next one that answers is the canary"},
		{"one of many", twoWaves, "a", "1:b 2:c* 2:d 2:e", "skipped"},
		{"a whole wave", twoWaves, "a b", "1:ax 1:bx 2:c* 2:d 2:e", "nothing shows that wave 2 may go"},
		{"no rollout", "", "a d", "1:b 1:c 1:e", "skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			down := map[string]bool{}
			for _, name := range strings.Fields(c.down) {
				down[name] = true
			}
			s, _ := rollout.NewSchedule(rules(t, c.waves), all, down)
			if got := members(rollout.WithoutUnreachable(s)); got != c.want {
				t.Errorf("members %q, want %q: %s", got, c.want, c.reason)
			}
		})
	}
}

func TestGate(t *testing.T) {
	full, _ := rollout.NewSchedule(rules(t, "\n- {groups: [a]}\n- {groups: [b]}\n- {groups: [c]}\n"),
		clusters("a:a1 a:a2 b:b1 c:c1 c:c2"), nil)
	row, _ := rollout.NewSchedule(nil, clusters("a:a1 a:a2"), nil)
	for _, c := range []struct {
		name, selected, succeeded, left, want, reason string
		sch                                           rollout.Schedule
	}{
		{"everything", "a1 a2 b1 c1 c2", "", "", "", "nothing is left out", full},
		{"first wave", "a1", "", "", "", "later waves do not matter, nor does the rest of the same one", full},
		{"last wave", "c1", "", "a1 a2 b1", "a1, a2|b1", "two waves are missing", full},
		{"last wave, others done", "c1", "a1 a2 b1", "a1 a2 b1", "", "they have succeeded", full},
		{"part of a wave", "a1 b1", "", "a2", "a2", "a wave left out in part", full},
		{"one wave done", "c1", "a1 a2", "a1 a2 b1", "b1", "wave 2 is missing", full},
		{"no waves", "a2", "", "", "", "without waves there is nothing to skip", row},
	} {
		t.Run(c.name, func(t *testing.T) {
			selected, heads := map[string]bool{}, map[string]rollout.Head{"b1": {Revision: "other"}}
			for _, name := range strings.Fields(c.selected) {
				selected[name] = true
			}
			for _, name := range strings.Fields(c.succeeded) {
				heads[name] = rollout.Head{Revision: "head"}
			}
			if got := strings.Join(rollout.LeftOut(c.sch, selected), " "); got != c.left {
				t.Errorf("left out %q, want %q", got, c.left)
			}
			var got []string
			for _, f := range rollout.Gate(c.sch, selected, heads, "head", time.Now()) {
				if f.Code != "wave-gate" {
					t.Errorf("code %s", f.Code)
				}
				got = append(got, strings.TrimPrefix(f.Why, "missing: "))
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("missing %q, want %q: %s", got, c.want, c.reason)
			}
		})
	}
}

// A cluster on which the bundle has no place has nothing to succeed with.
func TestGateNowhere(t *testing.T) {
	full, _ := rollout.NewSchedule(rules(t, twoWaves), clusters("staging:a staging:c production:b"), nil)
	heads := map[string]rollout.Head{"a": {Revision: rollout.Nowhere}, "c": {Revision: "head"}}
	if fs := rollout.Gate(full, map[string]bool{"b": true}, heads, "head", time.Now()); len(fs) != 0 {
		t.Errorf("%v", fs)
	}
	delete(heads, "c")
	if fs := rollout.Gate(full, map[string]bool{"b": true}, heads, "", time.Now()); len(fs) != 1 || fs[0].Why != "missing: c" {
		t.Errorf("%v", fs)
	}
}

// A wave whose soak was cut short has not succeeded yet, whoever asks from another terminal; what never soaked has nothing to
// wait for.
func TestGateSoaks(t *testing.T) {
	full, _ := rollout.NewSchedule(rules(t, "\n- {name: one, groups: [staging], soak: 1m}\n- {groups: [production]}\n"), clusters("staging:a staging:c production:b"), nil)
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	heads := map[string]rollout.Head{"a": {Revision: "head", Finished: end}, "c": {Revision: "head", Finished: end.Add(-time.Minute)}}
	for after, want := range map[time.Duration]string{0: "its soak of 1m0s ends at 2026-01-02T03:05:05Z", 59 * time.Second: "its soak of 1m0s ends at 2026-01-02T03:05:05Z", time.Minute: ""} {
		fs := rollout.Gate(full, map[string]bool{"b": true}, heads, "head", end.Add(after))
		if want == "" != (len(fs) == 0) || want != "" && (fs[0].Why != want || !strings.Contains(fs[0].What, "wave 1 (one), which has not soaked yet")) {
			t.Errorf("%s after the end: %v", after, fs)
		}
	}
}

// A wave with canaries soaks after these alone: a rollout goes on when the rest has ended, and so does one that begins with the
// next wave.
func TestGateSoaksAfterCanaries(t *testing.T) {
	full, _ := rollout.NewSchedule(rules(t, "\n- {groups: [staging], canary: 1, soak: 1m}\n- {groups: [production]}\n"), clusters("staging:a staging:c production:b"), nil)
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		reason       string
		canary, rest rollout.Head
		want         bool
	}{
		{"the rest came after the soak", rollout.Head{Revision: "head", Finished: end}, rollout.Head{Revision: "head", Finished: end.Add(time.Minute), Soaked: true}, true},
		{"a record of before, or applied alone", rollout.Head{Revision: "head", Finished: end}, rollout.Head{Revision: "head", Finished: end.Add(time.Minute)}, false},
		{"the canary was written again", rollout.Head{Revision: "head", Finished: end.Add(time.Minute)}, rollout.Head{Revision: "head", Finished: end.Add(time.Minute), Soaked: true}, false},
		{"after the soak of another revision", rollout.Head{Revision: "head", Finished: end}, rollout.Head{Revision: "other", Finished: end, Soaked: true}, false},
	} {
		heads := map[string]rollout.Head{"a": c.canary, "c": c.rest}
		if fs := rollout.Gate(full, map[string]bool{"b": true}, heads, "head", end.Add(time.Minute+time.Second)); (len(fs) == 0) != c.want {
			t.Errorf("%s: %v", c.reason, fs)
		}
	}
	for cluster, want := range map[string]bool{"a": false, "c": true, "b": false, "none": false} {
		if full.Soaked(cluster) != want {
			t.Errorf("%s comes after its wave's soak: %v", cluster, !want)
		}
	}
}

func TestGateWithoutHead(t *testing.T) {
	full, _ := rollout.NewSchedule(rules(t, twoWaves), clusters("staging:a production:b"), nil)
	if fs := rollout.Gate(full, map[string]bool{"b": true}, nil, "", time.Now()); len(fs) != 1 || fs[0].Code != rollout.CodeGate || fs[0].Why != "missing: a" {
		t.Errorf("an unknown Head has succeeded nowhere: %+v", fs)
	}
}

func TestCanaries(t *testing.T) {
	all := clusters("staging:a production:c production:d production:e")
	for _, c := range []struct{ changes, down, want, reason string }{
		{"a c d e", "", "1:a 2:c* 2:d 2:e", "all change: the first one"},
		{"a d e", "", "1:a 2:d* 2:c 2:e", "a canary that does not change shows nothing"},
		{"a", "", "1:a 2:c 2:d 2:e", "nothing changes in the wave, so that it has no canary"},
		{"a d", "c", "1:a 2:c*x 2:d 2:e", "what does not answer may well change"},
	} {
		down := map[string]bool{c.down: true}
		s, _ := rollout.NewSchedule(rules(t, twoWaves), all, down)
		got := rollout.Canaries(s, func(name string) bool { return strings.Contains(" "+c.changes+" ", " "+name+" ") })
		if members(got) != c.want {
			t.Errorf("%q changes: %q, want %q: %s", c.changes, members(got), c.want, c.reason)
		}
		if c.down != "" {
			if got := members(rollout.WithoutUnreachable(got)); got != "1:a 2:d* 2:e" {
				t.Errorf("without %s: %q", c.down, got)
			}
		}
		if members(s) != strings.ReplaceAll("1:a 2:c* 2:d 2:e", "c*", "c*"+strings.Repeat("x", len(c.down))) {
			t.Errorf("the schedule handed in changed: %s", members(s))
		}
	}
}
