package drift

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// Gate refuses to correct a selection that leaves out clusters of an earlier wave whose own correction has not ended well: it failed, died, or
// nobody could look after its soak. What is put right there is what the others would get. left are the clusters that are left out, full is the
// schedule of the whole fleet; a cluster whose record is not among the records stands against nothing.
func Gate(full rollout.Schedule, left []string, records []*release.Record) diag.Findings {
	why := map[string]string{}
	for _, r := range records {
		if r != nil && r.Uncorrected() != "" {
			why[r.Cluster] = r.Cluster + ": " + r.Uncorrected()
		}
	}
	missing := map[int][]string{}
	for _, m := range full.Members {
		for _, name := range left {
			if name == m.Cluster && why[name] != "" {
				missing[m.Wave] = append(missing[m.Wave], why[name])
			}
		}
	}
	var out diag.Findings
	for i := range full.Waves {
		if names := missing[i+1]; len(names) > 0 {
			f := diag.Errorf(rollout.CodeGate, "the selection leaves out %s, whose correction has not ended well", full.Label(i+1))
			f.Why = strings.Join(names, "; ")
			f.Fix = "correct that wave first (it is waited for and judged again), or go past it: --skip-waves"
			out = append(out, f)
		}
	}
	return out
}
