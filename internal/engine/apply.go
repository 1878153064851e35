package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
)

// reviewTime is how long after it was made a plan is looked at again on all clusters before the first write: nobody has read
// it sooner.
const reviewTime = 3 * time.Second

// Apply carries a fleet plan out, wave by wave. The plan must come from Plan, PlanDelete or LoadPlan of this engine.
// It returns the outcome even with an error; the error wraps ErrRefused (nothing was written), ErrPartial or
// ErrNotReady, or is nil when every cluster succeeded.
func (e *Engine) Apply(ctx context.Context, fp *FleetPlan, req Request) (*Outcome, error) {
	if fp.run == nil {
		return nil, errors.New("a plan that was read to be shown cannot be applied: load it")
	}
	defer fp.run.close()
	if fp.run.decided != nil {
		req = fp.run.decided.apply(req)
	}
	fp.run.req = req
	out := &Outcome{V: 1, Verb: fp.Verb, Bundle: fp.Bundle, Started: e.now(), Findings: fp.Findings.Warnings()}
	if blocked := append(fp.Findings.Errors(), fp.Reachable(req)...); len(blocked) > 0 {
		out.Result, out.Findings = Failed, blocked
		return out, &RefusedError{Findings: blocked}
	}
	fp.run.newLineage() // while nobody writes records
	if fp.settled() {
		return out, e.unchanged(ctx, fp, req, out)
	}
	if req.SkipUnreachable {
		fp.Schedule = rollout.WithoutUnreachable(fp.Schedule)
		fp.canaries()
	}
	if findings := fp.reviewed(ctx); len(findings) > 0 {
		out.Result, out.Findings = Failed, findings
		return out, &RefusedError{Findings: findings}
	}
	out.Rollout = rolloutID()
	e.emit(Event{Type: EventRollout, Rollout: out.Rollout, Bundle: fp.Bundle, Total: len(fp.Clusters)})
	l := &loop{Engine: e, fp: fp, req: req, out: out, rows: map[string]*ClusterOutcome{}, ended: make(chan *ClusterOutcome)}
	l.run(ctx)
	l.finish()
	fp.run.learn(out)
	fp.run.delivered(out)
	summary := *out
	e.emit(Event{Type: EventSummary, Rollout: out.Rollout, Bundle: fp.Bundle, Summary: &summary, Status: string(out.Result)})
	return out, out.err()
}

// reviewed looks at every cluster again where somebody took the time to read the plan: what is stale on one is found before
// the first write on any. A cluster that has stopped answering is found when its turn comes; each is looked at once more
// under its lock.
func (p *FleetPlan) reviewed(ctx context.Context) diag.Findings {
	if p.run.now().Sub(p.run.observed) < reviewTime {
		return nil
	}
	found := make([]diag.Findings, len(p.Clusters))
	each(len(p.Clusters), 0, func(i int) {
		cp := p.Clusters[i]
		if cp.work == nil || p.Schedule.UntilWave > 0 && cp.Wave > p.Schedule.UntilWave {
			return
		}
		found[i] = p.run.recheck(ctx, cp).Errors()
	})
	var findings diag.Findings
	for _, f := range slices.Concat(found...) {
		if f.Code == plan.CodeStale {
			findings = append(findings, f)
		}
	}
	return findings
}

// settled reports that no cluster has anything to do.
func (p *FleetPlan) settled() bool {
	for _, cp := range p.Clusters {
		if !cp.Later && (cp.work == nil || cp.Plan == nil || !cp.settled()) {
			return false
		}
	}
	return true
}

// unchanged ends an apply that has nothing to do: no rollout, no waves, no soak.
func (e *Engine) unchanged(ctx context.Context, fp *FleetPlan, req Request, out *Outcome) error {
	l := &loop{Engine: e, fp: fp, req: req, out: out, rows: map[string]*ClusterOutcome{}}
	now := slices.DeleteFunc(slices.Clone(fp.Clusters), func(cp *ClusterPlan) bool { return cp.Later })
	rows := make([]*ClusterOutcome, len(now))
	each(len(now), 0, func(i int) { rows[i] = l.one(ctx, now[i]) })
	for _, row := range rows {
		l.rows[row.Cluster] = row
	}
	l.finish()
	fp.run.learn(out)
	fp.run.delivered(out)
	summary := *out
	e.emit(Event{Type: EventSummary, Bundle: fp.Bundle, Summary: &summary, Status: string(out.Result)})
	return out.err()
}

// rolloutID is short and sayable: 8 characters of base32 over 40 random bits.
func rolloutID() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails
	return base32.StdEncoding.EncodeToString(b)
}

// loop drives rollout.Next: it starts clusters, collects outcomes and sleeps through soaks.
type loop struct {
	*Engine
	fp       *FleetPlan
	req      Request
	out      *Outcome
	state    rollout.State
	rows     map[string]*ClusterOutcome
	ended    chan *ClusterOutcome
	inFlight int
	wave     int
	stopSaid bool
}

func (l *loop) run(ctx context.Context) {
	stop := l.req.Stop
	var arrived []rollout.Outcome
	for {
		var d rollout.Decision
		l.state, d = rollout.Next(l.fp.Schedule, l.state, arrived, l.now())
		arrived = nil
		l.announce(d)
		for _, name := range d.Start {
			l.start(ctx, name, d.Wave)
		}
		for _, name := range d.Check {
			l.check(ctx, name, d.Wave)
		}
		if d.Done {
			return
		}
		var timer <-chan time.Time
		if !d.WakeAt.IsZero() {
			timer = time.After(max(0, d.WakeAt.Sub(l.now())))
		}
		select {
		case row := <-l.ended:
			l.inFlight--
			l.rows[row.Cluster] = row
			arrived = append(arrived, l.arrival(row))
		case <-timer:
		case <-stop:
			stop = nil
			l.state = rollout.Stop(l.state, "interrupted")
		case <-ctx.Done():
			l.state = rollout.Stop(l.state, "interrupted")
			for ; l.inFlight > 0; l.inFlight-- {
				row := <-l.ended
				l.rows[row.Cluster] = row
			}
			return
		}
	}
}

// arrival is what the rollout learns of a cluster that ended. One on which nothing was to be done has soaked since the
// run that finished it.
func (l *loop) arrival(row *ClusterOutcome) rollout.Outcome {
	o := rollout.Outcome{Cluster: row.Cluster, OK: row.Result == Succeeded || row.Result == UpToDate}
	if cp := l.fp.cluster(row.Cluster); row.Result == UpToDate && cp.work.target.record != nil {
		o.At = cp.work.target.record.Finished
	}
	return o
}

func (l *loop) announce(d rollout.Decision) {
	if d.Wave > l.wave && len(d.Start) > 0 && !l.fp.Schedule.Sequential {
		l.wave = d.Wave
		l.emit(Event{Type: EventWave, Rollout: l.out.Rollout, Wave: d.Wave, Message: l.fp.Schedule.Waves[d.Wave-1].Name})
	}
	if d.Soaking != "" {
		l.emit(Event{Type: EventSoak, Rollout: l.out.Rollout, Wave: d.Wave, Until: d.WakeAt, Message: "soaking after the " + d.Soaking})
	}
	if d.Stop != "" && !l.stopSaid {
		l.stopSaid = true
		l.out.Stopped, l.out.StoppedWave = d.Stop, d.Wave
		l.emit(Event{Type: EventStop, Rollout: l.out.Rollout, Wave: d.Wave, Message: d.Stop, Done: l.inFlight})
	}
}

func (l *loop) start(ctx context.Context, name string, wave int) {
	cp := l.fp.cluster(name)
	l.inFlight++
	go func() {
		start := l.now()
		row := l.one(ctx, cp)
		row.Seconds = l.now().Sub(start).Seconds()
		counts := row.Done
		l.emit(Event{Type: EventClusterEnd, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: wave, Cluster: name,
			Status: string(row.Result), Message: row.Reason, Counts: &counts})
		l.ended <- row
	}()
}

// cluster is the plan of one cluster, nil when there is none of that name.
func (p *FleetPlan) cluster(name string) *ClusterPlan {
	for _, c := range p.Clusters {
		if c.Cluster == name {
			return c
		}
	}
	return nil
}

// finish makes the outcome's table from what ended and what never began.
func (l *loop) finish() {
	out := l.out
	ok := 0
	changed := false
	for _, cp := range l.fp.Clusters {
		row := l.rows[cp.Cluster]
		switch {
		case row == nil && cp.Unreachable != "":
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: Unreachable, Reason: cp.Unreachable}
		case row == nil && l.later(cp):
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: NotStarted, Later: true, Reason: fmt.Sprintf("after wave %d", l.fp.Schedule.UntilWave)}
			ok++
		case row == nil:
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: NotStarted}
		case row.Result == Succeeded || row.Result == UpToDate:
			ok++
			changed = changed || row.Result == Succeeded
		}
		row.Wave, row.Canary = cp.Wave, cp.Canary
		out.Clusters = append(out.Clusters, *row)
	}
	switch {
	case ok == len(out.Clusters) && !changed:
		out.Result = UpToDate
	case ok == len(out.Clusters):
		out.Result = Succeeded
	case out.Stopped == "interrupted":
		out.Result = Interrupted
	default:
		out.Result = Failed
	}
	out.compare(l.fp)
	out.Seconds = l.now().Sub(out.Started).Seconds()
}

// later reports that the cluster's wave was not to be done in this run.
func (l *loop) later(cp *ClusterPlan) bool {
	return l.fp.Schedule.UntilWave > 0 && cp.Wave > l.fp.Schedule.UntilWave && l.out.Stopped == ""
}

// compare tells for every failed object whether the same declaration is ready elsewhere.
func (o *Outcome) compare(fp *FleetPlan) {
	digests := map[string]map[string]string{} // object -> cluster -> digest
	for _, cp := range fp.Clusters {
		if cp.work == nil {
			continue
		}
		for _, d := range cp.work.set.desired {
			key := d.Ref.String()
			if digests[key] == nil {
				digests[key] = map[string]string{}
			}
			digests[key][cp.Cluster] = d.Digest
		}
	}
	ready := map[string]bool{}
	failing := map[string]map[string]bool{}
	for _, row := range o.Clusters {
		ready[row.Cluster] = row.Result == Succeeded || row.Result == UpToDate
		for _, p := range row.Problems {
			if failing[p.Object.String()] == nil {
				failing[p.Object.String()] = map[string]bool{}
			}
			failing[p.Object.String()][row.Cluster] = true
		}
	}
	for i := range o.Clusters {
		for j := range o.Clusters[i].Problems {
			p := &o.Clusters[i].Problems[j]
			p.Digest = digests[p.Object.String()][o.Clusters[i].Cluster]
			for name, digest := range digests[p.Object.String()] {
				switch {
				case digest != p.Digest || p.Digest == "":
				case ready[name]:
					p.ReadyOn++
				case failing[p.Object.String()][name]:
					p.FailedOn++
				}
			}
			switch {
			case p.ReadyOn > 0:
				p.Elsewhere = "only here"
			case p.FailedOn > 1:
				p.Elsewhere = "everywhere"
			}
		}
	}
}

// err is nil when every cluster succeeded.
func (o *Outcome) err() error {
	done, refused, timedOut, failed := 0, 0, 0, 0
	for _, c := range o.Clusters {
		switch {
		case c.Result == Succeeded || c.Result == UpToDate || c.Later:
			done++
		case c.Result == Failed && c.Refused:
			failed++
			refused++
		case c.Result == Failed && c.TimedOut:
			failed++
			timedOut++
		case c.Result == Failed, c.Result == Unreachable, c.Result == Interrupted:
			failed++
		}
	}
	switch {
	case done == len(o.Clusters):
		return nil
	case o.Result == Interrupted:
		return context.Canceled
	case done > 0:
		return ErrPartial
	case failed > 0 && failed == refused:
		return ErrRefused
	case failed > 0 && failed == timedOut:
		return ErrNotReady
	}
	return ErrFailed
}
