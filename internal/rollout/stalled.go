package rollout

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// HopelessWave is a wave that stops the rollout when its turn comes, whatever its other clusters do.
type StalledWave struct {
	Wave int // from 1
	// Missing are its clusters that do not answer, in schedule order.
	Missing []string
	// Why is the rule that stops it: "wave 1 allows 0 failures", "p1 is a canary of wave 2".
	Why string
}

// Stalled are the waves of a schedule that the clusters which do not answer stop by themselves, by the rules of Next: more
// than may fail, or a canary. Waves after UntilWave are not begun.
func Stalled(s Schedule) []StalledWave {
	var out []StalledWave
	for wave, spec := range s.Waves {
		if wave++; s.UntilWave > 0 && wave > s.UntilWave {
			break
		}
		members := s.Wave(wave)
		m := &machine{sch: s, st: State{}.begun(s)}
		m.missing(members)
		if m.judge(wave, members); m.st.Stopped == "" {
			continue
		}
		h := StalledWave{Wave: wave, Why: fmt.Sprintf("wave %d allows %s", wave, diag.Counted(spec.MaxFailures, "failure"))}
		var canaries []string
		for _, member := range members {
			if member.Unreachable {
				h.Missing = append(h.Missing, member.Cluster)
			}
			if member.Unreachable && member.Canary {
				canaries = append(canaries, member.Cluster)
			}
		}
		if n := len(canaries); n == 1 {
			h.Why = fmt.Sprintf("%s is a canary of wave %d", canaries[0], wave)
		} else if n > 1 {
			h.Why = fmt.Sprintf("%s are canaries of wave %d", strings.Join(canaries, ", "), wave)
		}
		out = append(out, h)
	}
	return out
}
