package rollout

import "slices"

// GoesBack are the clusters that go back to what they had when a rollout has stopped because a wave failed: those of that wave that it
// touched, and never another one; nil where the fleet does not want that, where nothing failed too much, and where somebody stopped it first.
func GoesBack(s Schedule, st State, touched func(cluster string) bool) []string {
	if !s.GoesBack || st.FailedWave == 0 {
		return nil
	}
	var out []string
	for _, m := range s.Wave(st.FailedWave) {
		if touched(m.Cluster) {
			out = append(out, m.Cluster)
		}
	}
	return out
}

// Undoing is the schedule of a rollout of clusters that go back: they have shown what there is to be shown, so that no canary, soak, window
// or approval keeps them, and one that cannot go back does not keep the others from it.
func Undoing(s Schedule) Schedule {
	s.Waves, s.Members, s.GoesBack = slices.Clone(s.Waves), slices.Clone(s.Members), false
	for i, w := range s.Waves {
		s.Waves[i] = WaveSpec{Name: w.Name, MaxParallel: w.MaxParallel, MaxFailures: len(s.Members)}
	}
	s.chooseCanaries()
	return s
}
