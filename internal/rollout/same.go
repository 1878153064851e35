package rollout

import (
	"reflect"
	"slices"
)

// Same reports whether two schedules are the same but for which clusters answer and which have something to do.
func Same(a, b Schedule) bool {
	return a.Sequential == b.Sequential && a.UntilWave == b.UntilWave && reflect.DeepEqual(a.Waves, b.Waves) &&
		slices.EqualFunc(a.Members, b.Members, func(m, n Member) bool {
			m.Unreachable, n.Unreachable, m.Settled, n.Settled = false, false, false, false
			return m == n
		})
}
