package fleetplan

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/release"
)

// Resuming says what the same command does once more. skips: it goes on without clusters that do not answer.
func (o *Outcome) Resuming(skips bool) string {
	switch w := o.deadWave(); {
	case skips && w > 0 && o.Verb == "delete":
		return fmt.Sprintf("resumes when a cluster of wave %d answers; past that wave: --cluster or --group", w)
	case skips && w > 0:
		return fmt.Sprintf("resumes when a cluster of wave %d answers; past that wave: --cluster or --group, with --skip-waves", w)
	case len(o.Clusters) == 1:
		return "resumes: what is done costs no write"
	}
	return "resumes: finished clusters cost no write"
}

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

// Interrupted are the clusters on which the plan resumes a run that ended in the middle, and those where it makes again what
// that run was to delete.
func (p *FleetPlan) Interrupted() (resumes, undone []string) {
	for _, c := range p.Clusters {
		switch {
		case c.Resumes && c.Last == release.Deleting && p.Verb != "delete":
			undone = append(undone, c.Cluster)
		case c.Resumes:
			resumes = append(resumes, c.Cluster)
		}
	}
	return resumes, undone
}
