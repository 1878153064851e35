package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// holds are what keeps releases from the clusters that the run has something to do on. One that cannot be read stops what asks
// for approvals; what leads back, or ends a bundle, goes on and says so.
func (p *Prepared) holds(ctx context.Context) (release.Holds, diag.Findings) {
	found, holds := make([]diag.Findings, len(p.Clusters)), make([]*release.Hold, len(p.Clusters))
	each(len(p.Clusters), 0, func(i int) {
		w := p.works[p.Clusters[i].Cluster]
		if w == nil || w.settled() || p.After(w.ClusterPlan) {
			return
		}
		held := w.held
		if held == nil || p.run.now().Sub(p.run.observed) >= reviewTime {
			held = heldBack(ctx, w)
		}
		holds[i], found[i] = held.hold, diag.From(held.err, "record").OnCluster(w.Cluster)
		if f := found[i]; len(f) == 1 && f[0].Code == release.CodeDamagedHold && !p.op().Renders() {
			p.run.emit(fleetplan.Event{Type: fleetplan.EventNotice, Cluster: w.Cluster, Message: f[0].What + ": " + f[0].Why})
			found[i] = nil
		}
	})
	out := release.Holds{}
	for i, h := range holds {
		out[p.Clusters[i].Cluster] = h
	}
	return out, slices.Concat(found...)
}

// said is what somebody has said of the plan's release and bundle: paused, it cannot be carried out now.
func (p *Prepared) said(ctx context.Context) diag.Findings {
	if !p.op().Brings() {
		return nil
	}
	holds, _ := p.holds(ctx) // what cannot be read is told by whoever carries it out
	return p.Said(holds, func(cluster string) *release.Record { return p.run.target(cluster).Record })
}

// held is what keeps releases from a cluster, or why nobody knows.
type held struct {
	hold *release.Hold
	err  error
}

func heldBack(ctx context.Context, w *work) *held {
	h, _, err := release.HeldOn(ctx, w.target.Store, w.set.Owner)
	return &held{h, err}
}

// approve gives the schedule the approvals that clusters have of the release, and the release those.
func (p *Prepared) approve(holds release.Holds, rec *release.Record) {
	p.Approve(holds, rec, p.run.now(), func(cluster string) (*release.Record, bool) {
		return p.run.target(cluster).Record, p.works[cluster] != nil
	})
}

// Ask notes on the clusters of a wave that nobody has approved, or whose window is closed, that the release waits for that.
func (l *loop) Ask(ctx context.Context, waits *rollout.Wait) {
	if !l.fp.op().Brings() {
		return
	}
	asked, rec := l.fp.Schedule.Asked(waits.Wave), l.stamp
	rec.Started = l.now()
	found := make([]diag.Findings, len(asked))
	each(len(asked), 0, func(i int) {
		w := l.fp.works[asked[i]]
		found[i] = diag.From(release.PutHoldOn(ctx, w.target.Store, w.set.Owner, rec.Waiting(l.fp.Schedule.Label(waits.Wave), l.out.Opens)), "record").OnCluster(asked[i])
	})
	l.out.Findings = append(l.out.Findings, slices.Concat(found...)...)
}

// Heed asks for the approvals that came since. What cannot be read is none.
func (l *loop) Heed(ctx context.Context, _ rollout.Schedule) rollout.Schedule {
	l.fp.run.observed = time.Time{} // what was read then is old
	holds, _ := l.fp.holds(ctx)
	l.fp.approve(holds, &l.stamp)
	return l.fp.Schedule
}

// held reports whether the run may not begin with a cluster: somebody has paused or aborted its release meanwhile. Without a
// fleet there is one cluster, and that question was asked just before.
func (l *loop) held(ctx context.Context, w *work, row *fleetplan.ClusterOutcome) bool {
	if l.fp.run.fleet == nil || !l.fp.op().Brings() {
		return false
	}
	held := heldBack(ctx, w)
	return row.Keep(held.hold, l.out.Rollout, held.err)
}

// unhold takes away what keeps releases from a cluster where an ending run finds no record of the bundle, so that no word about
// one that never came is heeded by the next.
func (l *loop) unhold(ctx context.Context, w *work) error {
	if !l.fp.op().Ends() || w.target.Record != nil {
		return nil
	}
	if h, _, err := release.HeldOn(ctx, w.target.Store, w.set.Owner); h == nil && err == nil {
		return nil
	}
	return w.target.Store.Delete(ctx, w.set.Owner, "")
}

// Say writes down what somebody says of the release of a bundle (release.Approve and its like) on the clusters that it is for. confirm
// is asked before the first write, where there is any. The answer is there also beside ErrPartial.
func (e *Engine) Say(ctx context.Context, req Request, verb string, meant release.Meant, confirm func(*release.Saying) error) (*release.Saying, error) {
	r, name, err := e.installed(ctx, req)
	if err != nil {
		return nil, err
	}
	defer r.close()
	owner, word := r.owner(name), release.Word{By: cmp.Or(req.Author, "hawser"), At: e.now(), Message: r.redact(req.Message)}
	on, found := r.on(ctx, owner)
	if err := found.Err(); err != nil {
		return nil, err
	}
	said, findings := release.Say(verb, name, meant, word, on)
	if err := findings.Err(); err != nil {
		return nil, errors.Join(err, fleetplan.Unknown(release.Away(on)))
	}
	if err := said.Agreed(confirm); err != nil {
		return nil, err
	}
	each(len(said.Clusters), 0, func(i int) {
		if row := &said.Clusters[i]; row.Unreachable == "" && !said.Already {
			row.End(release.PutHoldOn(ctx, r.target(row.Cluster).Store, owner, said.On), r.redact)
		}
	})
	return said, fleetplan.Unknown(said.Missed())
}

// on is where the run's clusters stand, for what is said about a release.
func (r *run) on(ctx context.Context, owner string) ([]release.OnCluster, diag.Findings) {
	on, found := make([]release.OnCluster, len(r.targets)), make([]diag.Findings, len(r.targets))
	sch, _ := r.schedule()
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		if on[i].Cluster, on[i].Unreachable, on[i].Wave = t.Cluster.Name, t.unreachable, sch.ApprovedWave(t.Cluster.Name); t.session == nil {
			return
		}
		if t.Record == nil && t.unread == "" { // else it was read
			r.readRecord(ctx, t, owner)
		}
		on[i].Record = t.Record
		found[i] = slices.Concat(t.findings.Errors(), slices.Concat(on[i].Look(ctx, t.Store, owner), r.whose(t)).OnCluster(t.Cluster.Name))
	})
	return on, slices.Concat(found...)
}

// awaits are the releases of the bundle of a look, or of all, that are kept from some of the clusters.
func (r *run) awaits(ctx context.Context, name string) []*release.Waiting {
	return r.waits.Await(name, func() []release.OnCluster {
		on, _ := r.on(ctx, r.owner(name)) // what cannot be read is told by whoever says something of the release
		return on
	}, func(i int) bool { return r.strange(r.targets[i]) != nil })
}
