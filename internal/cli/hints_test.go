package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
)

// A failed apply names the rollback that reaches the clusters it had, where it left a release and an earlier one succeeded.
func TestRollbackHint(t *testing.T) {
	wrote := []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Failed, Revision: 2}, {Cluster: "b", Result: fleetplan.NotStarted}}
	const back = "hawser rollback shop --fleet f.yaml --kube-context staging --cluster=a"
	lost := slices.Clone(wrote)
	_ = lost[0].Lost(fmt.Errorf("not renewed: %w", release.ErrLost))
	_ = lost[0].Lost(errors.New("other"))
	moved := slices.Clone(wrote)
	_ = moved[0].Lost(fmt.Errorf("record: %w", release.ErrConflict))
	for name, c := range map[string]struct {
		verb     string
		revision int
		last     release.Phase
		preceded bool
		rows     []fleetplan.ClusterOutcome
		want     string
	}{
		"after a good release":      {"apply", 1, release.Succeeded, false, wrote, back},
		"after failures alone":      {"apply", 2, release.Failed, false, []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Failed, Revision: 3}}, ""},
		"after a failed one, twice": {"apply", 2, release.Failed, true, []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Interrupted, Revision: 3}}, back},
		"the first install":         {"apply", 0, "", false, []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Failed, Revision: 1}}, ""},
		"the first install, again":  {"apply", 1, release.Failed, false, wrote, ""},
		"nothing was written":       {"apply", 2, release.Succeeded, false, []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Failed, Refused: true, Revision: 2}}, ""},
		"the lock was lost":         {"apply", 1, release.Succeeded, false, lost, ""},
		"the record has moved on":   {"apply", 1, release.Succeeded, false, moved, ""},
		"a rollback":                {"rollback", 1, release.Succeeded, false, wrote, ""},
		"a delete":                  {"delete", 1, release.Succeeded, false, wrote, ""},
	} {
		cmd := &cobra.Command{Use: "apply"}
		cmd.Flags().StringSlice("cluster", nil, "")
		cmd.Flags().Bool("adopt", false, "")
		if err := cmd.ParseFlags([]string{"--adopt", "--cluster=a"}); err != nil {
			t.Fatal(err)
		}
		p := &fleetplan.FleetPlan{Verb: c.verb, Bundle: "shop", FleetFiles: []string{"f.yaml"}, Context: "staging",
			Clusters: []*fleetplan.ClusterPlan{{Cluster: "a", Revision: c.revision, Last: c.last, Preceded: c.preceded}, {Cluster: "b"}}}
		if got := (&session{}).hints(cmd, p, &fleetplan.Outcome{Clusters: c.rows}).Back; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The commands that a failure names reach no further than the run, rotate nothing again, and know the fleet of a saved plan.
func TestHints(t *testing.T) {
	hints := func(p *fleetplan.FleetPlan, files []string, args ...string) (resume, rotate, access string) {
		s := &session{}
		cmd := &cobra.Command{Use: "apply"}
		f := cmd.Flags()
		f.StringSlice("rotate", nil, "")
		f.StringSlice("cluster", nil, "")
		f.Bool("adopt", false, "")
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		s.opts.files = files
		h := s.hints(cmd, p, &fleetplan.Outcome{})
		return h.Resume, h.Rotate, h.Access
	}
	p := &fleetplan.FleetPlan{Verb: "apply", Bundle: "shop", FleetFiles: []string{"f.yaml"}, Context: "staging"}
	if resume, rotate, access := hints(p, nil, "shop.plan"); resume != "apply shop.plan" || rotate != "" || access != "--fleet f.yaml --kube-context staging" {
		t.Errorf("a saved plan: %q %q %q", resume, rotate, access)
	}
	if resume, _, _ := hints(&fleetplan.FleetPlan{Verb: "rollback", Bundle: "shop", RollbackTo: &release.Name{Release: 3}}, nil, "my plan"); resume != "apply 'my plan'" {
		t.Errorf("a saved rollback: %q", resume)
	}
	back := &fleetplan.Outcome{WentBack: &fleetplan.WentBack{Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Succeeded}}}}
	saved := &cobra.Command{Use: "apply"}
	if err := saved.ParseFlags([]string{"shop.plan"}); err != nil {
		t.Fatal(err)
	}
	p.Files = []string{"b.yaml"}
	if got := (&session{}).hints(saved, p, back).Resume; got != "apply plan -f b.yaml --fleet f.yaml --kube-context staging --out shop.plan" { // the root is named apply here
		t.Errorf("a saved plan that went back: %q", got)
	}
	p = &fleetplan.FleetPlan{Verb: "apply", Bundle: "shop"}
	if resume, rotate, _ := hints(p, []string{"b.yaml"}, "--adopt", "--cluster=a,b", "--rotate=db"); resume != "apply -f b.yaml --adopt --cluster=a --cluster=b" ||
		rotate != "apply -f b.yaml --adopt --rotate=db" {
		t.Errorf("rotated: %q, %q", resume, rotate)
	}
	if resume, rotate, _ := hints(p, []string{"b.yaml"}, "--cluster=a"); resume != "apply -f b.yaml --cluster=a" || strings.Contains(rotate, "--rotate") {
		t.Errorf("not rotated: %q, %q", resume, rotate)
	}
}

// A flag that does nothing on a command is not in its help: nothing is waited for where nothing is written, lock asks no cluster,
// and what reads no files fetches nothing.
func TestIdleFlags(t *testing.T) {
	for path, want := range map[string]string{"apply": "timeout kubeconfig creds", "rollback": "timeout kubeconfig", "delete": "timeout kubeconfig creds", "drift": "timeout kubeconfig",
		"plan": "kubeconfig creds", "status": "kubeconfig creds", "history": "kubeconfig", "list": "kubeconfig", "inspect module": "kubeconfig", "fleet check": "kubeconfig creds", "lock": "creds"} {
		cmd, _, err := tree().Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, name := range []string{"timeout", "kubeconfig", "creds"} {
			if f := cmd.Flags().Lookup(name); f != nil && !f.Hidden {
				shown = append(shown, name)
			}
		}
		if got := strings.Join(shown, " "); got != want {
			t.Errorf("%s shows %q, want %q", path, got, want)
		}
	}
}
