// Package nextstep names the commands with which one goes on from a run that did not end well, or waits: made of the flags of that run,
// so that they reach the same clusters as the same user, and no further.
//
// A pure room: nextstep must not know how a command is carried out, nor how what it names is shown.
package nextstep

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lineage"
)

// Hints are the commands that the report of a run names; empty ones are left out.
type Hints struct {
	// Resume is the command that goes on: the same apply again.
	Resume string
	// Access are the flags that reach the same clusters: "--fleet fleet.yaml".
	Access string
	// Lift is the flag that a command needs which says something of the release, where this run took that over; "" elsewhere.
	Lift string
	// Rotate is the command as it was, without its clusters: it makes up anew what is to be rotated, where anything is.
	Rotate string
	// Back is the command that goes back to the release before.
	Back string
}

// Step is a command, and what it does.
type Step struct{ Command, Why string }

// Access are the flags with which another command reaches the clusters of a run: files are the fleet's, context is that of the one
// cluster of a run without one, "" for what the command was given.
func Access(cmd *cobra.Command, files []string, context string) []string {
	return slices.Concat(commandline.Each("--fleet", files), config(cmd), commandline.Each("--kube-context", some(cmp.Or(context, flag(cmd, "kube-context")))))
}

func config(cmd *cobra.Command) []string {
	return commandline.Each("--kubeconfig", some(flag(cmd, "kubeconfig")))
}

// flag is what a flag says, "" also where the command has none of that name.
func flag(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func some(value string) []string {
	return slices.DeleteFunc([]string{value}, func(v string) bool { return v == "" })
}

// Of are the commands that go on from a run: cmd is its command, files and fleetFiles are the bundle's and the fleet's, p is its plan, and
// out what it brought about, nil where that is not known.
func Of(cmd *cobra.Command, files, fleetFiles []string, p *fleetplan.FleetPlan, out *fleetplan.Outcome) Hints {
	access := Access(cmd, slices.Compact(slices.Concat(p.FleetFiles, fleetFiles)), p.Context)
	var taken []string
	if takesOver(cmd, p) {
		taken = []string{"--take-over"}
	}
	h := Hints{Access: join(access), Lift: join(taken), Back: back(cmd, p, out, slices.Concat(access, commandline.Reach(cmd.Flags()), taken))}
	all := []string{cmd.CommandPath()}
	if cmd.Name() == "apply" && cmd.Flags().NArg() == 1 { // a saved plan goes on
		file := commandline.Quoted(cmd.Flags().Arg(0))
		h.Resume = join(all, []string{file}, config(cmd), commandline.Same(cmd.Flags()))
		if out != nil && out.Anew() {
			h.Resume = join([]string{cmd.Root().Name(), "plan"}, commandline.Each("-f", p.Files), access, []string{"--out", file})
		}
		return h
	}
	once := []string{"rotate", "to", "correct", "watch", "interval"} // to rotate again makes other values
	if p.Verb != "apply" && len(files) == 0 {
		all, once = append(all, p.Bundle), append(once, "bundle")
	}
	all = slices.Concat(all, p.Again(), commandline.Each("-f", files), access)
	h.Resume = join(all, commandline.Same(cmd.Flags(), once...))
	h.Rotate = join(all, commandline.Same(cmd.Flags(), "cluster", "group", "until-wave"))
	return h
}

// takesOver reports whether a run takes a release over: its flags say so, or the plan that was saved with them. A command about the same
// clusters is refused without the flag, where this run did not come to.
func takesOver(cmd *cobra.Command, p *fleetplan.FleetPlan) bool {
	taken := func(f diag.Finding) bool { return f.Code == lineage.CodeTakenOver }
	return flag(cmd, "take-over") == "true" || slices.ContainsFunc(p.Findings, taken) ||
		slices.ContainsFunc(p.Clusters, func(c *fleetplan.ClusterPlan) bool {
			return c.Plan != nil && slices.ContainsFunc(c.Plan.Findings, taken)
		})
}

// back is the command that goes back to the release before, "" where there is none to go back to. Where a cluster does not answer nobody
// knows which release is the newest: the one to go back to is named, and that cluster is gone past.
func back(cmd *cobra.Command, p *fleetplan.FleetPlan, out *fleetplan.Outcome, access []string) string {
	if out == nil || !p.GoesBack(out) || out.Result == fleetplan.Waiting {
		return ""
	}
	all := []string{"hawser rollback", p.Bundle}
	if !slices.ContainsFunc(out.Clusters, func(c fleetplan.ClusterOutcome) bool { return c.Result == fleetplan.Unreachable }) {
		return join(all, access)
	}
	to := p.Former(out)
	if to == 0 {
		return ""
	}
	return join(all, []string{"--to", strconv.Itoa(to)}, access, []string{"--skip-unreachable"})
}

func join(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " ") }

// Steps are the commands that are of use after an outcome, in the order in which they are told.
func (h Hints) Steps(oc *fleetplan.Outcome) []Step {
	var steps []Step
	say := join([]string{oc.Bundle}, some(h.Access), some(h.Lift))
	add := func(command, why string) {
		if command != "" {
			steps = append(steps, Step{command, why})
		}
	}
	if oc.Unapproved {
		add("hawser approve "+say, "lets it come to that wave")
	}
	if oc.Word == "paused" {
		add("hawser resume "+say, "lets it go on")
	}
	add(h.Resume, oc.Resuming(strings.Contains(h.Resume, "--skip-unreachable")))
	add(oc.Unhooked(h.Resume), "goes on without hooks")
	add(oc.Rotating(h.Rotate), "rotates where this run made up nothing")
	if i := slices.IndexFunc(oc.Clusters, func(c fleetplan.ClusterOutcome) bool { return c.Result == fleetplan.Failed }); i >= 0 {
		status := join([]string{"hawser status", oc.Bundle}, some(h.Access))
		if c := oc.Clusters[i]; c.Wave > 0 || len(oc.Clusters) > 1 {
			status += " --cluster " + c.Cluster
		}
		add(status, "what is wrong now")
	}
	add(h.Back, "goes back to the release before this one")
	return steps
}
