package engine

import (
	"slices"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
)

// Refusal reports whether a finding is a refusal (policy, signatures, rights, brake, lock, stale plan, wrong cluster, what
// was made up and is lost) rather than a mistake.
func Refusal(code string) bool {
	return slices.Contains([]string{deletionguard.Code, "wave-gate", "stale-plan", "edited-plan", "locked", "wrong-cluster", "other-fleet", lineage.CodeSource,
		"unreachable", "immutable", "foreign-owner", "field-conflict", plan.CodeDefinitionInUse, plan.CodeNamespaceInUse, "stale-lock",
		"signature-missing", "signature-refused", "signature-impossible", "no-signatures", "missing-rights", "untold-bundle",
		"kept-values-lost", "kept-values-moved", "kept-values-doubtful", "kept-values-damaged", "lookup-failed"}, code)
}

// guards are the checks over the deletions of the fleet plan as a whole.
func (r *run) guards(p *Prepared) diag.Findings {
	if p.Verb != "apply" {
		return nil
	}
	var clusters []deletionguard.Cluster
	for _, cp := range p.Clusters {
		if w := p.works[cp.Cluster]; w != nil {
			clusters = append(clusters, w.guarded())
		}
	}
	var elsewhere map[string]bool
	if len(deletionguard.Leaving(clusters)) > 0 {
		elsewhere = r.elsewhere()
	}
	p.Guard = deletionguard.OnFleet(clusters, elsewhere)
	return deletionguard.Check(p.Guard, p.Counts().Delete+p.Counts().Recreate, r.req.ConfirmDelete)
}

// guarded is what the guard of deletions looks at.
func (w *work) guarded() deletionguard.Cluster {
	c := deletionguard.Cluster{Name: w.Cluster, Plan: w.Plan, Owned: w.input.Owned, Declared: w.set.desired, NotPlaced: w.NotPlaced}
	for _, p := range w.set.parts {
		c.Placed = append(c.Placed, p.instance.Name)
	}
	return c
}

// elsewhere are the instances with a place on a cluster that is not selected or did not answer, as far as the files say.
func (r *run) elsewhere() map[string]bool {
	out := map[string]bool{}
	for _, c := range r.all {
		if slices.ContainsFunc(r.targets, func(t *target) bool { return t.cluster.Name == c.Name && t.session != nil }) {
			continue
		}
		facts := r.offlineFacts(c)
		if spec, findings := r.specFor(facts); !findings.HasErrors() {
			selected, _ := place.Select(spec, c, facts)
			for _, p := range selected {
				if p.Why == "" {
					out[p.Instance.Name] = true
				}
			}
		}
	}
	return out
}
