package rollout

import "slices"

// Same reports whether two schedules are the same but for which clusters answer.
func Same(a, b Schedule) bool {
	return a.Sequential == b.Sequential && a.UntilWave == b.UntilWave && slices.Equal(a.Waves, b.Waves) &&
		slices.EqualFunc(a.Members, b.Members, func(m, n Member) bool {
			m.Unreachable, n.Unreachable = false, false
			return m == n
		})
}
