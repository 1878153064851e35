package nextstep

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// command is an apply with these arguments.
func command(t *testing.T, args ...string) *cobra.Command {
	cmd := &cobra.Command{Use: "apply"}
	f := cmd.Flags()
	f.StringSlice("cluster", nil, "")
	f.Bool("take-over", false, "")
	f.Bool("skip-unreachable", false, "")
	f.String("kube-token", "", "")
	f.String("kubeconfig", "", "")
	f.Var(&commandline.Credentials{Take: func(string) error { return nil }}, "creds", "")
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func shop() *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{Verb: "apply", Bundle: "shop", FleetFiles: []string{"f.yaml"}, Clusters: []*fleetplan.ClusterPlan{{Cluster: "a"}, {Cluster: "b"}}}
	p.Clusters[0].Describe(&release.Record{Release: 13, Revision: 4, Phase: release.Succeeded}, nil, strings.Clone)
	return p
}

func said(steps []Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Command)
	}
	return strings.Join(out, "\n")
}

// What says something of a release that was taken over needs the same flag: where this run did not come to, the release is another
// place's still. A saved plan has it in its findings.
func TestTakenOver(t *testing.T) {
	waits := &fleetplan.Outcome{Verb: "apply", Bundle: "shop", Result: fleetplan.Waiting, Unapproved: true, Word: "paused"}
	found := diag.Findings{diag.Warnf(lineage.CodeTakenOver, "it is taken over")}
	inCluster, inAll := shop(), shop()
	inCluster.Clusters[1].Plan = &plan.Plan{Findings: found}
	inAll.Findings = found
	for name, c := range map[string]struct {
		p    *fleetplan.FleetPlan
		args []string
		want string
	}{
		"by its flag":        {shop(), []string{"--take-over"}, " --take-over"},
		"by a saved plan":    {inCluster, []string{"shop.plan"}, " --take-over"},
		"of all clusters":    {inAll, nil, " --take-over"},
		"not taken over":     {shop(), nil, ""},
		"taken back by flag": {shop(), []string{"--take-over=false"}, ""},
	} {
		got := said(Of(command(t, c.args...), nil, nil, c.p, waits).Steps(waits))
		for _, want := range []string{"hawser approve shop --fleet f.yaml" + c.want + "\n", "hawser resume shop --fleet f.yaml" + c.want + "\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
	}
}

// Where a cluster does not answer, the way back names the release and goes past that cluster: else it is refused, since nobody knows
// which one is the newest. Without a release that is known there is no such way.
func TestBack(t *testing.T) {
	rows := func(results ...fleetplan.Result) *fleetplan.Outcome {
		oc := &fleetplan.Outcome{Verb: "apply", Bundle: "shop", Result: fleetplan.Failed}
		for i, r := range results {
			oc.Clusters = append(oc.Clusters, fleetplan.ClusterOutcome{Cluster: string(rune('a' + i)), Result: r, Revision: 5 - 5*i})
		}
		return oc
	}
	failedBefore := shop()
	failedBefore.Clusters[0].Describe(&release.Record{Release: 13, Revision: 4, Phase: release.Failed, Preceded: true}, nil, strings.Clone)
	for name, c := range map[string]struct {
		p    *fleetplan.FleetPlan
		out  *fleetplan.Outcome
		args []string
		want string
	}{
		"all answer":             {shop(), rows(fleetplan.Failed, fleetplan.NotStarted), nil, "hawser rollback shop --fleet f.yaml"},
		"all answer, taken over": {shop(), rows(fleetplan.Failed, fleetplan.NotStarted), []string{"--take-over"}, "hawser rollback shop --fleet f.yaml --take-over"},
		"one does not":           {shop(), rows(fleetplan.Succeeded, fleetplan.Unreachable), []string{"--skip-unreachable"}, "hawser rollback shop --to 13 --fleet f.yaml --skip-unreachable"},
		"of some clusters": {shop(), rows(fleetplan.Failed, fleetplan.Unreachable), []string{"--skip-unreachable", "--cluster=a,b"},
			"hawser rollback shop --to 13 --fleet f.yaml --cluster=a --cluster=b --skip-unreachable"},
		"the last one failed":                 {failedBefore, rows(fleetplan.Failed, fleetplan.Unreachable), nil, ""},
		"the last one failed, and all answer": {failedBefore, rows(fleetplan.Failed, fleetplan.NotStarted), nil, "hawser rollback shop --fleet f.yaml"},
	} {
		if got := Of(command(t, c.args...), nil, nil, c.p, c.out).Back; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What goes on needs the credentials again: their place is named, and nothing of them.
func TestCredentialsAreNamed(t *testing.T) {
	got := Of(command(t, "--creds", "127.0.0.1:5599=ada:s3cret", "--kube-token=s3cret"), []string{"r.yaml"}, nil, shop(), nil).Resume
	if want := "apply -f r.yaml --fleet f.yaml --creds=127.0.0.1:5599=USER:PASSWORD --kube-token=TOKEN"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Access are the same flags for every command, whatever the command was.
func TestAccess(t *testing.T) {
	if got, want := Access(command(t, "--kubeconfig=my config", "--cluster=a"), []string{"f.yaml", "g.yaml"}, "staging"), []string{"--fleet", "f.yaml", "--fleet", "g.yaml",
		"--kubeconfig", "'my config'", "--kube-context", "staging"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Access(&cobra.Command{}, nil, ""); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
