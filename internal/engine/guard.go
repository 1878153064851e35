package engine

import (
	"fmt"
	"slices"
	"strings"

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
		"kept-values-lost", "kept-values-moved", "kept-values-damaged", "lookup-failed"}, code)
}

// guards are the checks over the deletions of the fleet plan as a whole.
func (r *run) guards(p *FleetPlan) diag.Findings {
	if p.Verb != "apply" {
		return nil
	}
	var clusters []deletionguard.Cluster
	for _, cp := range p.Clusters {
		if cp.Plan != nil && cp.work != nil {
			clusters = append(clusters, cp.guarded())
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
func (cp *ClusterPlan) guarded() deletionguard.Cluster {
	c := deletionguard.Cluster{Name: cp.Cluster, Plan: cp.Plan, Owned: cp.work.input.Owned, Declared: cp.work.set.desired, NotPlaced: cp.NotPlaced}
	for _, p := range cp.work.set.parts {
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

// Reachable refuses an apply with more unknown clusters than a wave may lose, unless they are skipped on purpose.
func (p *FleetPlan) Reachable(req Request) diag.Findings {
	if req.SkipUnreachable {
		return nil
	}
	unknown, reasons := map[int][]string{}, map[int][]string{}
	for _, cp := range p.Clusters {
		if cp.Unreachable != "" {
			unknown[cp.Wave] = append(unknown[cp.Wave], cp.Cluster)
			if !slices.Contains(reasons[cp.Wave], cp.Unreachable) {
				reasons[cp.Wave] = append(reasons[cp.Wave], cp.Unreachable)
			}
		}
	}
	var findings diag.Findings
	for i, w := range p.Schedule.Waves {
		names := unknown[i+1]
		if len(names) <= w.MaxFailures && !(len(names) > 0 && p.Schedule.Sequential) {
			continue
		}
		f := diag.Errorf("unreachable", "%d clusters do not answer: %s", len(names), strings.Join(names, ", "))
		if len(names) == 1 {
			f.What = "cluster " + names[0] + " does not answer"
		}
		f.Why = fmt.Sprintf("%s; wave %d allows %d failures", strings.Join(reasons[i+1], "; "), i+1, w.MaxFailures)
		f.Fix = "mend that, try again when they are back, or go on without them: --skip-unreachable"
		findings = append(findings, f)
	}
	return findings
}
