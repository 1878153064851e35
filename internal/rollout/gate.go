package rollout

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Nowhere is the Head of a cluster on which the bundle has no place, nor ever had one.
const Nowhere = "-"

// LeftOut lists the clusters that a selection leaves out of the waves before its last one, in schedule order: those
// that must have succeeded already. full is the schedule of the whole fleet. Without waves nothing is left out.
func LeftOut(full Schedule, selected map[string]bool) []string {
	if full.Sequential {
		return nil
	}
	last := 0
	for _, m := range full.Members {
		if selected[m.Cluster] {
			last = max(last, m.Wave)
		}
	}
	var out []string
	for _, m := range full.Members {
		if m.Wave < last && !selected[m.Cluster] {
			out = append(out, m.Cluster)
		}
	}
	return out
}

// Gate refuses a selection that leaves out clusters of an earlier wave which have not succeeded with this Head. heads
// are the Heads of the clusters' succeeded records; a cluster without one, or whose record cannot be read, is not in
// it; one on which the bundle has no place has the Head Nowhere, and nothing to succeed with. There is one Error, of the
// code "wave-gate", for each wave that is missing something.
func Gate(full Schedule, selected map[string]bool, heads map[string]string, head string) diag.Findings {
	missing := map[int][]string{}
	out := LeftOut(full, selected)
	for _, m := range full.Members {
		if at := heads[m.Cluster]; slices.Contains(out, m.Cluster) && at != Nowhere && (head == "" || at != head) {
			missing[m.Wave] = append(missing[m.Wave], m.Cluster)
		}
	}
	var findings diag.Findings
	for i, w := range full.Waves {
		names := missing[i+1]
		if len(names) == 0 {
			continue
		}
		label := fmt.Sprintf("wave %d", i+1)
		if w.Name != "" {
			label += " (" + w.Name + ")"
		}
		f := diag.Errorf("wave-gate", "the selection leaves out %s, which has not succeeded with this revision", label)
		f.Why = "missing: " + strings.Join(names, ", ")
		f.Fix = "apply that wave first, or go past it: --skip-waves"
		findings = append(findings, f)
	}
	return findings
}
