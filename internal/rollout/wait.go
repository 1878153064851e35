package rollout

import (
	"fmt"
	"time"
)

// Reason is what kind of thing a rollout waits for.
type Reason string

const (
	// ForSoak is the end of a soak.
	ForSoak Reason = "soak"
	// ForWindow is that the window of a wave opens.
	ForWindow Reason = "window"
	// ForApproval is somebody's word.
	ForApproval Reason = "approval"
)

// Wait is why a pass of a rollout ended before the rollout did: nothing runs, and nothing can start before something
// happens that the rollout does not do itself.
type Wait struct {
	On Reason `json:"on"`
	// Wave is the one that waits, from 1.
	Wave int `json:"wave"`
	// Clusters are those that soak, or that wait for the window or the approval, in schedule order.
	Clusters []string `json:"clusters"`
	// Since is when the soak began; of the others, when the pass found it so.
	Since time.Time `json:"since"`
	// Wake is when the next pass has something to do; zero where that is not known: somebody's word.
	Wake time.Time `json:"wake,omitzero"`
	// Why says it for people: "wave 2 (production) waits for an approval".
	Why string `json:"why"`
}

// WaitsFor is what a rollout waits for after a decision with which nothing runs, nil where it has ended.
func WaitsFor(s Schedule, st State, d Decision, now time.Time) *Wait {
	w := &Wait{Wave: d.Wave, Since: now, Wake: d.WakeAt}
	switch {
	case d.Done:
		return nil
	case d.Soaking != "":
		spec := s.Waves[d.Wave-1]
		w.On, w.Since = ForSoak, d.WakeAt.Add(-spec.Soak)
		w.Why = fmt.Sprintf("%s soaks until %s", s.label(d.Wave), d.WakeAt.UTC().Format(time.RFC3339))
		for _, m := range s.Wave(d.Wave) {
			if d.Soaking != "canary" || m.Canary {
				w.Clusters = append(w.Clusters, m.Cluster)
			}
		}
		return w
	case d.Closed:
		w.On, w.Why = ForWindow, s.Keeps(d)
	case d.Unapproved:
		w.On, w.Why = ForApproval, s.Keeps(d)
	default:
		return nil
	}
	for _, cluster := range s.Asked(d.Wave) {
		if st.Phases[cluster] == Waiting {
			w.Clusters = append(w.Clusters, cluster)
		}
	}
	return w
}
