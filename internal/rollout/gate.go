package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// CodeGate is the code of the findings of Gate.
const CodeGate = "wave-gate"

// Nowhere is the revision of a cluster on which the bundle has no place, nor ever had one.
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

// Head is what a cluster has succeeded with, and when that run ended. Soaked: it came after its wave's soak.
type Head struct {
	Revision string
	Finished time.Time
	Soaked   bool
}

// Gate refuses a selection that leaves out clusters of an earlier wave which have not succeeded with this revision, or whose
// soak is not over; a wave with canaries soaks after these alone. heads are of the clusters' succeeded records; a cluster without one, or whose record cannot be read, is
// not in it; one on which the bundle has no place has the revision Nowhere, and nothing to succeed with. There is one Error,
// of the code CodeGate, for each wave that is missing something.
func Gate(full Schedule, selected map[string]bool, heads map[string]Head, revision string, now time.Time) diag.Findings {
	missing, until := map[int][]string{}, map[int]time.Time{}
	out := LeftOut(full, selected)
	for _, m := range full.Members {
		at := heads[m.Cluster]
		if !slices.Contains(out, m.Cluster) || at.Revision == Nowhere {
			continue
		}
		if revision == "" || at.Revision != revision {
			missing[m.Wave] = append(missing[m.Wave], m.Cluster)
		} else if over := at.Finished.Add(full.Waves[m.Wave-1].Soak); !at.Soaked && over.After(now) && over.After(until[m.Wave]) {
			until[m.Wave] = over
		}
	}
	var findings diag.Findings
	for i, w := range full.Waves {
		names, over := missing[i+1], until[i+1]
		label := full.label(i + 1)
		switch {
		case len(names) > 0:
			f := diag.Errorf(CodeGate, "the selection leaves out %s, which has not succeeded with this revision", label)
			f.Why = "missing: " + strings.Join(names, ", ")
			f.Fix = "apply without selecting clusters, or apply that wave first: whatever changes in the files or in hawser.lock is another revision, a promotion's pins too, and where nothing changes nothing is written; or go past it: --skip-waves"
			findings = append(findings, f)
		case !over.IsZero():
			f := diag.Errorf(CodeGate, "the selection leaves out %s, which has not soaked yet", label)
			f.Why = fmt.Sprintf("its soak of %s ends at %s", w.Soak, over.UTC().Format(time.RFC3339))
			f.Fix = "wait until then, apply that wave again (it waits and judges it), or go past it: --skip-waves"
			findings = append(findings, f)
		}
	}
	return findings
}
