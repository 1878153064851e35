package fleetplan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// Resuming says what the same command does once more. skips: it goes on without clusters that do not answer.
func (o *Outcome) Resuming(skips bool) string {
	switch w := o.deadWave(); {
	case o.Word == "aborted":
		return "is another release: this one was aborted, and its approvals with it"
	case o.Word == "paused":
		return "resumes after that: finished clusters cost no write"
	case o.Stale():
		return "plans anew, with what came: finished clusters cost no write"
	case o.WentBack.Said() != "":
		return "brings the same again, and goes back again: change the files first"
	case o.Opens != nil:
		return "resumes from " + rollout.OpensAt(*o.Opens) + "; before that with --skip-windows"
	case skips && w > 0 && Ends(o.Verb):
		return fmt.Sprintf("resumes when a cluster of wave %d answers; past that wave: --cluster or --group", w)
	case skips && w > 0:
		return fmt.Sprintf("resumes when a cluster of wave %d answers; past that wave: --cluster or --group, with --skip-waves", w)
	case len(o.Clusters) == 1:
		return "resumes: what is done costs no write"
	}
	return "resumes: finished clusters cost no write"
}

// Stale reports whether values came that the plan did not show: a saved one does not go on.
func (o *Outcome) Stale() bool {
	return slices.ContainsFunc(o.Clusters, func(c ClusterOutcome) bool {
		return slices.ContainsFunc(c.Problems, func(p Problem) bool { return p.Code == staleplan.CodeStale })
	})
}

// Anew reports whether a saved plan that ended so cannot be carried out again: values came that it did not show, or a wave went back,
// and its clusters are not as the plan saw them.
func (o *Outcome) Anew() bool { return o.Stale() || o.WentBack.Said() != "" }

// deadWave is the first wave of which no cluster answers, 0 for none.
func (o *Outcome) deadWave() int {
	answers, dead := map[int]bool{}, 0
	for _, c := range o.Clusters {
		answers[c.Wave] = answers[c.Wave] || c.Result != Unreachable
	}
	for _, c := range o.Clusters {
		if !answers[c.Wave] && (dead == 0 || c.Wave < dead) {
			dead = c.Wave
		}
	}
	return dead
}

// Rotating is a command that rotates with the clusters that the run did not write to, "" when there are none or it does not
// rotate.
func (o *Outcome) Rotating(command string) string {
	untouched := ""
	for _, c := range o.Clusters {
		if (c.Result == NotStarted || c.Result == Unreachable || c.Refused) && c.Wave > 0 {
			untouched += " --cluster " + c.Cluster
		}
	}
	if untouched == "" || !strings.Contains(command, "--rotate") {
		return ""
	}
	return command + untouched
}

// Ends reports whether a plan's verb leaves nothing of a bundle in the records: delete, and eject, which leaves its objects.
func Ends(verb string) bool { return verb == "delete" || verb == "eject" }

// GoesBack reports whether an apply that did not end well (o) left a release from which there is one to go back to that had
// ended well. Clusters that went back to it by themselves have nothing left; where another run has been meanwhile, the release is
// that one's.
func (p *FleetPlan) GoesBack(o *Outcome) bool {
	wrote, earlier := false, false
	for _, row := range o.Clusters {
		if row.Overtaken() || row.lost {
			return false
		}
		if cp := p.Cluster(row.Cluster); cp != nil && !o.WentBack.has(row.Cluster) {
			wrote = wrote || row.Revision > cp.Revision
			earlier = earlier || cp.Preceded || cp.Last.Complete()
		}
	}
	return p.Verb == "apply" && wrote && earlier
}

// Former is the number of the newest release that one of the clusters had which a run wrote to (o), and that had ended well there; 0
// where none is known.
func (p *FleetPlan) Former(o *Outcome) int {
	newest := 0
	for _, row := range o.Clusters {
		if cp := p.Cluster(row.Cluster); cp != nil && cp.record != nil && row.Revision > cp.Revision && cp.Last.Complete() && !o.WentBack.has(row.Cluster) {
			newest = max(newest, cp.record.Number())
		}
	}
	return newest
}

// Title says what a plan does with its bundle; where is the rest of the sentence.
func (p *FleetPlan) Title(where string) string {
	switch p.Verb {
	case "delete":
		return "Delete bundle " + p.Bundle + where
	case "eject":
		return "Eject bundle " + p.Bundle + where + ": its objects stay as they are, and nothing of Hawser is left"
	case "rollback":
		return fmt.Sprintf("Bundle %s back to release %s%s", p.Bundle, p.RollbackTo, where)
	case "drift":
		return "Bundle " + p.Bundle + " back to what is recorded" + where
	}
	return "Bundle " + p.Bundle + where
}

// Did says what a run did, as the beginning of a sentence.
func (o *Outcome) Did() string {
	said := map[string]string{"delete": "Deleted", "eject": "Ejected", "rollback": "Rolled back", "drift": "Put right"}[o.Verb]
	return cmp.Or(said, "Applied")
}

// Doing is what a plan is to do, behind "whether to": "roll back".
func (p *FleetPlan) Doing() string {
	said := map[string]string{"delete": "delete", "eject": "eject", "rollback": "roll back", "drift": "put right what drifted"}[p.Verb]
	return cmp.Or(said, "apply")
}

// Unhooked is the command that goes on without the hook which failed, "" where none did, or the command takes no such flag: a saved
// plan has decided it, and what an apply declares is mended in its files.
func (o *Outcome) Unhooked(command string) string {
	failed := slices.ContainsFunc(o.Clusters, func(c ClusterOutcome) bool {
		return slices.ContainsFunc(c.Problems, func(p Problem) bool { return p.Hook != "" })
	})
	if !failed || o.Verb != "rollback" && o.Verb != "delete" || command == "" || strings.HasPrefix(command, "hawser apply ") || strings.Contains(command, "--no-hooks") {
		return ""
	}
	return command + " --no-hooks"
}

// Interrupted are the clusters on which the plan resumes a run that ended in the middle, and those where it makes again what
// that run was to delete.
func (p *FleetPlan) Interrupted() (resumes, undone []string) {
	for _, c := range p.Clusters {
		switch {
		case c.Resumes && c.Last == release.Deleting && !Ends(p.Verb):
			undone = append(undone, c.Cluster)
		case c.Resumes:
			resumes = append(resumes, c.Cluster)
		}
	}
	return resumes, undone
}

// Again are the flags with which another run does the same: a rollback names its release, as the one before the newest is
// another one then.
func (p *FleetPlan) Again() []string {
	switch {
	case p.Verb == "drift":
		return []string{"--correct"}
	case p.RollbackTo == nil:
		return nil
	}
	return []string{"--to", p.RollbackTo.Rollout}
}

// Question asks whether the plan shall be carried out; where says on which clusters.
func (p *FleetPlan) Question(where string) string {
	if p.Verb == "drift" {
		return "Put right what drifted on " + where + "?"
	}
	if p.Verb == "eject" {
		return "Leave the objects of " + p.Bundle + " to themselves on " + where + "?"
	}
	if p.RollbackTo != nil {
		return fmt.Sprintf("Go back to release %s on %s?", p.RollbackTo, where)
	}
	return "Apply to " + where + "?"
}

// FirstWrite says which cluster is written first, at which server, and what; "" where nothing is.
func (p *FleetPlan) FirstWrite() string {
	for _, c := range p.Clusters {
		if c.Plan == nil || c.Plan.Empty() {
			continue
		}
		where := c.Cluster
		if c.Server != "" {
			where += " (" + c.Server + ")"
		}
		var names []string
		more := 0
		for _, ch := range c.Plan.Changes {
			switch {
			case !ch.Action.Writes() && ch.Code != plan.CodeEjected:
			case len(names) < 4:
				names = append(names, ch.Action.Mark()+" "+ch.Ref.String())
			default:
				more++
			}
		}
		text := "First to be written: " + where + ": " + strings.Join(names, ", ")
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	return ""
}
