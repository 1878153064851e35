package rollout_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/rollout"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Every file of testdata is a fleet, a script of what happens, and the trace of decisions it must lead to. A line of
// the script is one call of Next: "ok a b", "fail a", "was a 5m" (found up to date, released that long ago), "ready a"
// and "unready a" (judged again after the soak) may stand on one line, separated by ";". "wake" waits until WakeAt, "after 10s" passes time, "stop why" stops.
func TestTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]*txtar.File{}
			for i := range ar.Files {
				parts[ar.Files[i].Name] = &ar.Files[i]
			}
			got := trace(t, parts["fleet.yaml"].Data, string(parts["script"].Data))
			if *update {
				parts["trace"].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(parts["trace"].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type traceFleet struct {
	Clusters        string            `json:"clusters"` // as in schedule_test.go, "!" behind one that does not answer
	Rollout         *v1alpha1.Rollout `json:"rollout"`
	UntilWave       int               `json:"untilWave"`
	Delete          bool              `json:"delete"`
	SkipUnreachable bool              `json:"skipUnreachable"`
}

func (f traceFleet) schedule(t *testing.T) rollout.Schedule {
	down := map[string]bool{}
	var all []fleet.Cluster
	for _, c := range clusters(f.Clusters) {
		name, isDown := strings.CutSuffix(c.Name, "!")
		c.Name, down[name] = name, isDown
		all = append(all, c)
	}
	sch, findings := rollout.NewSchedule(f.Rollout, all, down)
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	sch.UntilWave = f.UntilWave
	if f.Delete {
		sch = rollout.Reversed(sch)
	}
	if f.SkipUnreachable {
		sch = rollout.WithoutUnreachable(sch)
	}
	return sch
}

func trace(t *testing.T, fleetYAML []byte, script string) string {
	var f traceFleet
	if err := yaml.UnmarshalStrict(fleetYAML, &f); err != nil {
		t.Fatal(err)
	}
	sch := f.schedule(t)
	var st rollout.State
	var d rollout.Decision
	var b strings.Builder
	now := epoch
	call := func(outcomes ...rollout.Outcome) {
		st, d = rollout.Next(sch, st, outcomes, now)
		fmt.Fprintf(&b, "%s: %s\n", now.Sub(epoch), decision(d))
	}
	call()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		fmt.Fprintf(&b, "> %s\n", line)
		var outcomes []rollout.Outcome
		for step := range strings.SplitSeq(line, ";") {
			words := strings.Fields(step)
			switch words[0] {
			case "wake":
				now = d.WakeAt
			case "after":
				passed, err := time.ParseDuration(words[1])
				if err != nil {
					t.Fatal(err)
				}
				now = now.Add(passed)
			case "stop":
				st = rollout.Stop(st, strings.Join(words[1:], " "))
			case "was":
				ago, err := time.ParseDuration(words[2])
				if err != nil {
					t.Fatal(err)
				}
				outcomes = append(outcomes, rollout.Outcome{Cluster: words[1], OK: true, At: now.Add(-ago)})
			case "ok", "fail", "ready", "unready":
				for _, c := range words[1:] {
					outcomes = append(outcomes, rollout.Outcome{Cluster: c, OK: words[0] == "ok" || words[0] == "ready"})
				}
			default:
				t.Fatalf("script: %s", step)
			}
		}
		call(outcomes...)
	}
	for _, p := range []rollout.Phase{rollout.Waiting, rollout.Running, rollout.Succeeded, rollout.Failed, rollout.NotStarted} {
		var names []string
		for c, is := range st.Phases {
			if is == p {
				names = append(names, c)
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			fmt.Fprintf(&b, "%s: %s\n", p, strings.Join(names, " "))
		}
	}
	return b.String()
}

func decision(d rollout.Decision) string {
	out := []string{fmt.Sprintf("wave %d", d.Wave)}
	if len(d.Start) > 0 {
		out = append(out, "start "+strings.Join(d.Start, " "))
	}
	if d.Soaking != "" {
		out = append(out, fmt.Sprintf("soak after the %s until %s", d.Soaking, d.WakeAt.Sub(epoch)))
	}
	if len(d.Check) > 0 {
		out = append(out, "judge again "+strings.Join(d.Check, " "))
	}
	if d.Stop != "" {
		out = append(out, "stop: "+d.Stop)
	}
	if d.Done {
		out = append(out, "done")
	}
	return strings.Join(out, ", ")
}
