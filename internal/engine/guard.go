package engine

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
)

// Refusal reports whether a finding is a refusal (policy, brake, lock, stale plan, wrong cluster) rather than a mistake.
func Refusal(code string) bool {
	return slices.Contains([]string{"deletion-brake", "wave-gate", "stale-plan", "locked", "wrong-cluster", "other-fleet",
		"unreachable", "immutable", "foreign-owner", "field-conflict", plan.CodeDefinitionInUse, plan.CodeNamespaceInUse, "stale-lock"}, code)
}

// guards are the checks over the fleet plan as a whole.
func (p *FleetPlan) guards(req Request) diag.Findings {
	var why []string
	for _, cp := range p.Clusters {
		if cp.Plan != nil && cp.Plan.Brake != "" {
			why = append(why, cp.Cluster+" "+cp.Plan.Brake)
		}
	}
	why = append(why, p.emptied()...)
	deletes := p.Counts().Delete + p.Counts().Recreate
	if len(why) == 0 || req.ConfirmDelete != nil && *req.ConfirmDelete == deletes {
		return nil
	}
	f := diag.Errorf("deletion-brake", "the plan deletes %d objects, which needs a confirmation of its own", deletes)
	if req.ConfirmDelete != nil {
		f.What = fmt.Sprintf("--confirm-delete=%d does not match: the plan deletes %d objects", *req.ConfirmDelete, deletes)
	}
	f.Why = strings.Join(why, "; ")
	f.Fix = fmt.Sprintf("if that is meant: --confirm-delete=%d", deletes)
	return diag.Findings{f}
}

// Reachable refuses an apply with more unknown clusters than a wave may lose, unless they are skipped on purpose.
func (p *FleetPlan) Reachable(req Request) diag.Findings {
	if req.SkipUnreachable {
		return nil
	}
	unknown := map[int][]string{}
	for _, cp := range p.Clusters {
		if cp.Unreachable != "" {
			unknown[cp.Wave] = append(unknown[cp.Wave], cp.Cluster)
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
		f.Why = fmt.Sprintf("wave %d allows %d failures", i+1, w.MaxFailures)
		f.Fix = "try again when they are back, or go on without them: --skip-unreachable"
		findings = append(findings, f)
	}
	return findings
}
