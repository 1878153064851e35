package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/fleetplan"
)

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
		h := s.hints(cmd, p)
		return h.Resume, h.Rotate, h.Access
	}
	p := &fleetplan.FleetPlan{Verb: "apply", Bundle: "shop", FleetFiles: []string{"f.yaml"}, Context: "staging"}
	if resume, rotate, access := hints(p, nil, "shop.plan"); resume != "" || rotate != "" || access != "--fleet f.yaml --kube-context staging" {
		t.Errorf("a saved plan: %q %q %q", resume, rotate, access)
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
