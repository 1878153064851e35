package fleetplan

import (
	"errors"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// CodeNotBack is the code of what is said about clusters of a failed wave that do not go back by themselves.
const CodeNotBack = "not-gone-back"

// WentBack is what came of the rollback of the clusters of a wave that failed: a release of its own.
type WentBack struct {
	Rollout string `json:"rollout,omitempty"`
	// To is the release that they had: "4 (7K2M3XYZ)".
	To       string           `json:"to"`
	Result   Result           `json:"result"`
	Clusters []ClusterOutcome `json:"clusters"`
}

// Said is which clusters are back: "Back at release 4 (7K2M3XYZ): p1, p2 (rollout 8Q2N4ABC)"; "" where none is, and of nil.
func (b *WentBack) Said() string {
	var names []string
	if b != nil {
		for _, c := range b.Clusters {
			if c.OK() {
				names = append(names, c.Cluster)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Back at release %s: %s (rollout %s)", b.To, diag.Few(names), b.Rollout)
}

// has reports whether a cluster is back. On nil none is.
func (b *WentBack) has(cluster string) bool {
	return b != nil && slices.ContainsFunc(b.Clusters, func(c ClusterOutcome) bool { return c.Cluster == cluster && c.OK() })
}

// CodeHalfBack is the code of what HalfBack says.
const CodeHalfBack = "half-gone-back"

// HalfBack warns before an apply of clusters that have not come back from a release that failed in their wave, though others of the wave
// have gone back from it by themselves, or began to: the run that took them back ended in the middle, or could not take these.
func (p *FleetPlan) HalfBack() diag.Findings {
	if p.Verb != "apply" {
		return nil
	}
	wave, to := map[string]int{}, map[int]*release.Record{} // by wave the record of one that goes back
	for _, m := range p.Schedule.Members {
		wave[m.Cluster] = m.Wave
	}
	for _, c := range p.Clusters {
		if r := c.record; r != nil && r.Undoes != "" && r.RollbackTo != nil {
			to[wave[c.Cluster]] = r
		}
	}
	var out diag.Findings
	for _, c := range p.Clusters {
		back, r := to[wave[c.Cluster]], c.record
		if back == nil || !r.Of(back.Undoes) {
			continue
		}
		f := diag.Warnf(CodeHalfBack, "it has release %s still, from which others of its wave went back to release %s", r.Called(), back.RollbackTo)
		if r.Undoes != "" {
			f.What = fmt.Sprintf("it was on its way back from rollout %s, which failed in its wave, to release %s when that run ended", r.Undoes, back.RollbackTo)
		}
		f.Cluster, f.Why = c.Cluster, "this apply does not finish that: it brings what the files declare now"
		f.Fix = fmt.Sprintf("hawser rollback %s --to %s --cluster %s takes it back", p.Bundle, back.RollbackTo.Rollout, c.Cluster)
		out = append(out, f)
	}
	return out
}

// Overtaken reports that another run has delivered something on the cluster meanwhile. A nil row was not.
func (c *ClusterOutcome) Overtaken() bool { return c != nil && c.Reason == ChangedInSoak }

// Judged reports that a failed row tells of the bundle: another run has delivered nothing on the cluster meanwhile, and it could be looked at.
func (c *ClusterOutcome) Judged() bool { return !c.Overtaken() && (c == nil || !c.unseen) }

// Lost notes of an error, which it returns, that the lock was lost, or that the record has moved on: another run may have been there.
func (c *ClusterOutcome) Lost(err error) error {
	c.lost = c.lost || errors.Is(err, release.ErrLost) || errors.Is(err, release.ErrConflict)
	return err
}

// NotBack says of the clusters that were to go back by themselves why some do not: found is what stands against it. left are those that
// it is not about; where it names none of them it is about all.
func NotBack(names []string, found diag.Findings) (said diag.Findings, left []string) {
	about := func(name string) diag.Findings {
		return slices.DeleteFunc(slices.Clone(found), func(f diag.Finding) bool { return f.Cluster != name })
	}
	for _, name := range names {
		if len(about(name)) == 0 {
			left = append(left, name)
		}
	}
	whole := len(left) == len(names)
	if whole {
		left = nil
	}
	for _, name := range names {
		of := about(name)
		if whole {
			of = found
		}
		if len(of) == 0 {
			continue
		}
		f := diag.Warnf(CodeNotBack, "it does not go back by itself, and stays as the failed wave left it")
		f.Cluster, f.Why, f.Fix = name, of[0].What, of[0].Fix
		if of[0].Why != "" {
			f.Why += ": " + of[0].Why
		}
		said = append(said, f)
	}
	return said, left
}

// Undone notes what came of the rollback of the clusters of a wave that failed: to is the release that they had.
func (o *Outcome) Undone(back *Outcome, to string) {
	o.WentBack = &WentBack{Rollout: back.Rollout, To: to, Result: back.Result, Clusters: back.Clusters}
	for _, c := range back.Clusters {
		if c.OK() {
			continue
		}
		f := diag.Warnf(CodeNotBack, "it did not come back to release %s", to)
		f.Cluster, f.Why = c.Cluster, c.Result.Words()
		if c.Reason != "" {
			f.Why += ": " + c.Reason
		}
		f.Fix = fmt.Sprintf("hawser rollback %s --cluster %s", o.Bundle, c.Cluster)
		o.Findings = append(o.Findings, f)
	}
	o.Findings = append(o.Findings, slices.DeleteFunc(slices.Clone(back.Findings), func(f diag.Finding) bool {
		return slices.ContainsFunc(o.Findings, func(g diag.Finding) bool { return f.String() == g.String() })
	})...)
}
