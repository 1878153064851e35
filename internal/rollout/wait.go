package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reason is what kind of thing a rollout waits for.
type Reason string

const (
	// ForObjects is what is written on clusters: that it gets ready or is gone, or has a value that something else takes.
	ForObjects Reason = "objects"
	// ForSoak is the end of a soak.
	ForSoak Reason = "soak"
	// ForWindow is that the window of a wave opens.
	ForWindow Reason = "window"
	// ForApproval is somebody's word.
	ForApproval Reason = "approval"
)

// Wait is why a pass of a rollout ended before the rollout did: nothing can be done before something happens that the rollout does not do
// itself.
type Wait struct {
	On Reason `json:"on"`
	// Wave is the one that waits, from 1.
	Wave int `json:"wave"`
	// Clusters are those whose objects are waited for, that soak, or that wait for the window or the approval, in schedule order.
	Clusters []string `json:"clusters"`
	// Since is when waiting for the first object or the soak began; of the others, when the pass found it so.
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

// Part is what the part of one cluster waits for.
type Part struct {
	// Since is when the waiting began, Wake when it is looked at again at the latest.
	Since, Wake time.Time
	// Why says it for people: "Deployment/web: 1 of 2 pods are ready".
	Why string
}

// Joint is what several waits are as one: since the first began, until the first is due; nil for none.
func Joint(parts []Part) *Part {
	if len(parts) == 0 {
		return nil
	}
	p := parts[0]
	for _, x := range parts[1:] {
		if x.Since.Before(p.Since) {
			p.Since = x.Since
		}
		if x.Wake.Before(p.Wake) {
			p.Wake = x.Wake
		}
	}
	if len(parts) > 1 {
		p.Why += fmt.Sprintf(" (and %d more)", len(parts)-1)
	}
	return &p
}

// Objects is what a rollout waits for whose parts on some clusters have begun, and all of those wait; nil for none.
func Objects(s Schedule, on map[string]Part) *Wait {
	w := &Wait{On: ForObjects}
	var parts []Part
	for _, m := range s.Members {
		if p, ok := on[m.Cluster]; ok {
			p.Why = m.Cluster + ": " + p.Why
			parts, w.Clusters = append(parts, p), append(w.Clusters, m.Cluster)
			w.Wave = cmp.Or(w.Wave, m.Wave)
		}
	}
	p := Joint(parts)
	if p == nil {
		return nil
	}
	w.Since, w.Wake, w.Why = p.Since, p.Wake, p.Why
	return w
}

// Poll is waiting for something that has to be asked for, with longer and longer pauses.
type Poll struct {
	// Since is when it began, Until when it ends.
	Since, Until time.Time
	pause        time.Duration
	why          string // what is waited for, "" when it has come
}

// NewPoll begins one that ends at until, and after limit at the latest; a limit of 0 is none.
func NewPoll(now, until time.Time, limit time.Duration) *Poll {
	if limit > 0 && now.Add(limit).Before(until) {
		until = now.Add(limit)
	}
	return &Poll{Since: now, Until: until}
}

// Next is the wait until it is asked for again: 100 ms, twice as long each time, at most 5 s, and no longer than until half of the time there is
// has gone by, or all of it. first reports that it is the first one.
func (p *Poll) Next(now time.Time, why string) (_ *Part, first bool) {
	first, p.why = p.pause == 0, why
	p.pause = min(max(2*p.pause, 100*time.Millisecond), 5*time.Second)
	wake := now.Add(p.pause)
	for _, end := range []time.Time{p.half(), p.Until} {
		if end.After(now) && end.Before(wake) {
			wake = end
		}
	}
	return &Part{Since: p.Since, Wake: wake, Why: why}, first
}

// half is when half of the time has gone by.
func (p *Poll) half() time.Time { return p.Since.Add(p.Until.Sub(p.Since) / 2) }

// Overdue reports that half of the time that there is has gone by: who need not wait for it goes on.
func (p *Poll) Overdue(now time.Time) bool {
	return !now.Before(p.half())
}

// Polls are those of the values that instances take, by instance and by where in its values each goes.
type Polls map[string]map[string]*Poll

// Of is the one of a value, begun where there is none yet.
func (p Polls) Of(instance, at string, now, until time.Time, limit time.Duration) *Poll {
	if p[instance] == nil {
		p[instance] = map[string]*Poll{}
	}
	if p[instance][at] == nil {
		p[instance][at] = NewPoll(now, until, limit)
	}
	return p[instance][at]
}

// Came notes that a value has come.
func (p Polls) Came(instance, at string) {
	if poll := p[instance][at]; poll != nil {
		poll.why = ""
	}
}

// Overdue reports that the values of all of the instances have been waited for so long that others go on without them.
func (p Polls) Overdue(now time.Time, instances []string) bool {
	for _, name := range instances {
		for _, poll := range p[name] {
			if !poll.Overdue(now) {
				return false
			}
		}
	}
	return true
}

// Waiting is what instances wait for that has not come, by instance.
func (p Polls) Waiting() map[string]string {
	out := map[string]string{}
	for name, polls := range p {
		var why []string
		for _, poll := range polls {
			why = append(why, poll.why)
		}
		slices.Sort(why)
		if why = slices.DeleteFunc(why, func(s string) bool { return s == "" }); len(why) > 0 {
			out[name] = strings.Join(why, ", ")
		}
	}
	return out
}
