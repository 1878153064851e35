package rollout

import "time"

// Run is what a cluster's record says of the last rollout that came to it.
type Run struct {
	Cluster string
	// Rollout is its id, Revision what it brought.
	Rollout, Revision string
	Began             time.Time
	// Ended well; InProgress is at work now.
	Ended, InProgress bool
}

// Skipped are the clusters that the newest rollout among the runs never came to, in the order given: it did not end well
// somewhere, nobody is at work on it, and they have another revision of an earlier rollout.
func Skipped(runs []Run) []string {
	var last Run
	for _, r := range runs {
		if r.Began.After(last.Began) {
			last = r
		}
	}
	stopped := false
	for _, r := range runs {
		if r.InProgress {
			return nil
		}
		stopped = stopped || r.Rollout == last.Rollout && !r.Ended
	}
	if !stopped || last.Rollout == "" {
		return nil
	}
	var out []string
	for _, r := range runs {
		if r.Rollout != last.Rollout && r.Revision != last.Revision && r.Began.Before(last.Began) {
			out = append(out, r.Cluster)
		}
	}
	return out
}
