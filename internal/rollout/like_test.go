package rollout

import (
	"reflect"
	"testing"
)

// Canaries and order are those of the earlier schedule, what answers is that of now; where the clusters or waves are others, all is.
func TestLike(t *testing.T) {
	members := func(m ...Member) Schedule { return Schedule{Waves: make([]WaveSpec, 2), Members: m} }
	earlier := members(Member{Cluster: "b", Wave: 1, Canary: true}, Member{Cluster: "a", Wave: 1, Unchanged: true}, Member{Cluster: "c", Wave: 2})
	for name, c := range map[string]struct{ now, want Schedule }{
		"other canaries": {members(Member{Cluster: "a", Wave: 1, Canary: true}, Member{Cluster: "b", Wave: 1}, Member{Cluster: "c", Wave: 2, Unreachable: true}),
			members(Member{Cluster: "b", Wave: 1, Canary: true}, Member{Cluster: "a", Wave: 1, Unchanged: true}, Member{Cluster: "c", Wave: 2, Unreachable: true})},
		"another wave":   {members(Member{Cluster: "a", Wave: 2}, Member{Cluster: "b", Wave: 1}, Member{Cluster: "c", Wave: 2}), Schedule{}},
		"a cluster less": {members(Member{Cluster: "a", Wave: 1}, Member{Cluster: "b", Wave: 1}), Schedule{}},
		"one more":       {members(Member{Cluster: "a", Wave: 1}, Member{Cluster: "b", Wave: 1}, Member{Cluster: "c", Wave: 2}, Member{Cluster: "d", Wave: 2}), Schedule{}},
	} {
		if c.want.Members == nil {
			c.want = c.now
		}
		if got := Like(c.now, earlier); !reflect.DeepEqual(got, c.want) || Same(got, earlier) != (name == "other canaries") {
			t.Errorf("%s: %+v, want %+v", name, got.Members, c.want.Members)
		}
	}
}
