package rollout

import (
	"reflect"
	"slices"
)

// Like is a schedule with the canaries of an earlier one, in its order, where both have the same clusters in the same waves; else it
// comes back as it is. Which clusters answer, and have something to do, is that of the schedule.
func Like(s, earlier Schedule) Schedule {
	now := map[string]Member{}
	for _, m := range s.Members {
		now[m.Cluster] = m
	}
	var members []Member
	for _, was := range earlier.Members {
		m, ok := now[was.Cluster]
		if !ok || m.Wave != was.Wave {
			return s
		}
		m.Canary, m.Unchanged = was.Canary, was.Unchanged
		members = append(members, m)
	}
	if len(members) == len(now) {
		s.Members = members
	}
	return s
}

// Same reports whether two schedules are the same but for which clusters answer and which have something to do.
func Same(a, b Schedule) bool {
	return a.Sequential == b.Sequential && a.GoesBack == b.GoesBack && a.UntilWave == b.UntilWave && reflect.DeepEqual(a.Waves, b.Waves) &&
		slices.EqualFunc(a.Members, b.Members, func(m, n Member) bool {
			m.Unreachable, n.Unreachable, m.Settled, n.Settled = false, false, false, false
			return m == n
		})
}
