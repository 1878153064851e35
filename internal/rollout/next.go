package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"time"
)

// Next takes what came back since the last call and the time, and returns the new state and what to do. The state
// handed in stays as it was. Outcomes of clusters that are not running are ignored. Call it again with every outcome,
// and at WakeAt.
func Next(sch Schedule, st State, outcomes []Outcome, now time.Time) (State, Decision) {
	m := &machine{sch: sch, st: st.begun(sch), now: now}
	for _, o := range outcomes {
		m.settle(o)
	}
	for wave := max(1, m.st.StoppedWave); wave <= len(sch.Waves); wave++ {
		m.d.Wave = wave
		if sch.UntilWave > 0 && wave > sch.UntilWave {
			m.d.Wave--
			break
		}
		if !m.wave(wave) {
			return m.st, m.d
		}
	}
	m.leave()
	m.d.Done = true
	return m.st, m.d
}

// Stop ends a rollout from outside, for example because the user interrupts it: what runs ends, nothing more starts.
// A rollout that has stopped already keeps its reason.
func Stop(st State, reason string) State {
	if st.Stopped == "" {
		st.Stopped = reason
	}
	return st
}

// begun is a copy of the state in which every member has a phase.
func (st State) begun(sch Schedule) State {
	phases := make(map[string]Phase, len(sch.Members))
	for _, m := range sch.Members {
		phases[m.Cluster] = Waiting
	}
	maps.Copy(phases, st.Phases)
	st.Phases = phases
	st.Ended = maps.Clone(st.Ended)
	st.Soaked, st.Asked = maps.Clone(st.Soaked), maps.Clone(st.Asked)
	st.Checking, st.Unready = maps.Clone(st.Checking), maps.Clone(st.Unready)
	st.Why = maps.Clone(st.Why)
	return st
}

// machine is one step of a rollout.
type machine struct {
	sch Schedule
	st  State
	now time.Time
	d   Decision
}

// settle notes the end of a running cluster, or how one that was judged again is.
func (m *machine) settle(o Outcome) {
	if m.st.Checking[o.Cluster] {
		delete(m.st.Checking, o.Cluster)
		if !o.OK {
			m.st.Unready = with(m.st.Unready, o.Cluster)
			if m.st.Why == nil {
				m.st.Why = map[string]string{}
			}
			m.st.Why[o.Cluster] = cmp.Or(o.Why, "is no longer ready after the soak")
			m.st.Phases[o.Cluster] = Failed
		}
		return
	}
	if m.st.Phases[o.Cluster] != Running {
		return
	}
	if o.Held != "" {
		m.st.Phases[o.Cluster] = NotStarted
		m.st = Stop(m.st, o.Held)
		return
	}
	at := o.At
	if at.IsZero() || at.After(m.now) {
		at = m.now
	}
	phase := Failed
	if o.OK {
		phase = Succeeded
	}
	m.end(o.Cluster, phase, at)
}

func (m *machine) end(cluster string, phase Phase, at time.Time) {
	if m.st.Ended == nil {
		m.st.Ended = map[string]time.Time{}
	}
	m.st.Phases[cluster], m.st.Ended[cluster] = phase, at
}

// wave does what is to be done in a wave and reports whether the next one may begin.
func (m *machine) wave(wave int) bool {
	members := m.sch.Wave(wave)
	if len(members) == 0 {
		return true
	}
	var canaries, rest []Member
	for _, member := range members {
		if member.Canary {
			canaries = append(canaries, member)
		} else {
			rest = append(rest, member)
		}
	}
	if spec := m.sch.Waves[wave-1]; m.st.Stopped == "" && !m.sch.Sequential && !spec.waits() && spec.Window.Opens(m.now).IsZero() {
		m.missing(members)
	}
	m.judge(wave, members)
	switch {
	case m.st.Stopped != "" && m.st.StoppedWave == 0 && m.over(wave, members):
		return true
	case m.st.Stopped != "":
		return m.stopped()
	case !m.step(wave, canaries):
		return false
	case len(canaries) > 0 && !m.soaked(wave, "canary", canaries):
		return false
	case !m.step(wave, rest):
		return false
	}
	return len(canaries) > 0 || m.soaked(wave, "wave", members)
}

// missing counts the clusters that do not answer as failed when their wave begins.
func (m *machine) missing(members []Member) {
	for _, member := range members {
		if member.Unreachable && m.st.Phases[member.Cluster] == Waiting {
			m.end(member.Cluster, Failed, m.now)
		}
	}
}

// judge stops the rollout when the failures of a wave are too many.
func (m *machine) judge(wave int, members []Member) {
	failed, canary, last := 0, "", ""
	for _, member := range members {
		if m.st.Phases[member.Cluster] == Failed {
			failed++
			last = m.blame(member)
			if member.Canary && canary == "" {
				canary = "canary " + last
			}
		}
	}
	allowed := m.sch.Waves[wave-1].MaxFailures
	reason := ""
	switch {
	case canary != "":
		reason = canary
	case failed == 1 && allowed == 0:
		reason = last
	case failed > allowed:
		reason = fmt.Sprintf("%d clusters failed, %d allowed", failed, allowed)
	default:
		return
	}
	if m.st.Stopped == "" {
		m.st.Stopped, m.st.StoppedWave, m.st.FailedWave = reason, wave, wave
	}
}

// over reports whether a wave needs nothing any more: a stop from outside comes too late for it.
func (m *machine) over(wave int, members []Member) bool {
	for _, member := range members {
		if p := m.st.Phases[member.Cluster]; p != Succeeded && p != Failed {
			return false
		}
	}
	return m.sch.Waves[wave-1].Soak <= 0 || m.st.Soaked[wave]
}

func (m *machine) blame(member Member) string {
	switch {
	case member.Unreachable:
		return member.Cluster + " does not answer"
	case m.st.Unready[member.Cluster]:
		return member.Cluster + " " + m.st.Why[member.Cluster]
	}
	return member.Cluster + " failed"
}

// stopped waits for what runs and leaves the rest alone.
func (m *machine) stopped() bool {
	m.leave()
	m.st.SoakUntil, m.st.StoppedWave = time.Time{}, m.d.Wave
	m.d.Start, m.d.Stop = nil, m.st.Stopped
	m.d.Done = len(m.st.Checking) == 0
	for _, p := range m.st.Phases {
		if p == Running {
			m.d.Done = false
		}
	}
	return false
}

// leave marks what waits as not started.
func (m *machine) leave() {
	for cluster, p := range m.st.Phases {
		if p == Waiting {
			m.st.Phases[cluster] = NotStarted
		}
	}
}

// step starts members as long as there is room, and reports whether all of them have ended.
func (m *machine) step(wave int, members []Member) bool {
	running := 0
	for _, member := range members {
		if m.st.Phases[member.Cluster] == Running {
			running++
		}
	}
	spec, kept := m.sch.Waves[wave-1], false
	limit, opens := spec.MaxParallel, spec.Window.Opens(m.now)
	for _, member := range members {
		if m.st.Phases[member.Cluster] != Waiting || limit > 0 && running >= limit {
			continue
		}
		if !member.Settled && (!opens.IsZero() || spec.waits()) {
			kept = true
			continue
		}
		if member.Unreachable { // without waves: its turn has come
			m.end(member.Cluster, Failed, m.now)
			m.judge(wave, []Member{member})
			return m.stopped()
		}
		m.st.Phases[member.Cluster] = Running
		m.d.Start = append(m.d.Start, member.Cluster)
		running++
	}
	switch {
	case !kept || running > 0:
	case spec.waits():
		m.d.Unapproved = true
	default:
		m.d.WakeAt, m.d.Closed = opens, true
	}
	return running == 0 && !kept
}

// soaked reports whether the soak after a step is over and its clusters have been judged again. It counts from the end of
// the step's last cluster.
func (m *machine) soaked(wave int, after string, members []Member) bool {
	soak := m.sch.Waves[wave-1].Soak
	if soak <= 0 || m.st.Soaked[wave] {
		return true
	}
	until := time.Time{}
	for _, member := range members {
		if at := m.st.Ended[member.Cluster].Add(soak); at.After(until) {
			until = at
		}
	}
	if !m.st.Asked[wave] && m.now.Before(until) {
		m.st.SoakUntil, m.d.WakeAt, m.d.Soaking = until, until, after
		return false
	}
	m.st.SoakUntil = time.Time{}
	if !m.st.Asked[wave] {
		m.st.Asked = with(m.st.Asked, wave)
		for _, member := range members {
			if m.st.Phases[member.Cluster] == Succeeded {
				m.st.Checking = with(m.st.Checking, member.Cluster)
				m.d.Check = append(m.d.Check, member.Cluster)
			}
		}
	}
	if len(m.st.Checking) > 0 {
		return false
	}
	m.st.Soaked = with(m.st.Soaked, wave)
	return true
}

// with is the set with one more member.
func with[K comparable](set map[K]bool, member K) map[K]bool {
	if set == nil {
		set = map[K]bool{}
	}
	set[member] = true
	return set
}
