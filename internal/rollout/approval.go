package rollout

import (
	"slices"
	"time"
)

// waits reports that nothing comes to a wave before somebody has approved it.
func (w WaveSpec) waits() bool { return w.Approval && !w.Approved }

// Approve is the schedule in which those waves have been approved for which approved is true of every cluster that answers and has
// something to do; Ready has told which have. A wave without any waits for nobody.
func Approve(s Schedule, approved func(cluster string) bool) Schedule {
	s.Waves = slices.Clone(s.Waves)
	for i := range s.Waves {
		asked := s.Asked(i + 1)
		s.Waves[i].Approved = s.Waves[i].Approved || !slices.ContainsFunc(asked, func(cluster string) bool { return !approved(cluster) })
	}
	return s
}

// ApprovedWave is a cluster's wave, as people call it, where that wants an approval, whether it has one or not; "" for every other cluster.
func (s Schedule) ApprovedWave(cluster string) string {
	for _, m := range s.Members {
		if m.Cluster == cluster && s.Waves[m.Wave-1].Approval {
			return s.label(m.Wave)
		}
	}
	return ""
}

// Asked are the clusters of a wave that an approval is for: those that answer and have something to do.
func (s Schedule) Asked(wave int) []string {
	var out []string
	for _, m := range s.Wave(wave) {
		if !m.Settled && !m.Unreachable {
			out = append(out, m.Cluster)
		}
	}
	return out
}

// Rules is the rules of a wave with what keeps its clusters back behind them, as it is at now.
func (w WaveSpec) Rules(rules string, now time.Time) string {
	switch {
	case w.Approval && rules == "":
		rules = "by approval"
	case w.Approval:
		rules += "; by approval"
	}
	return w.Window.After(rules, now)
}
