package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/images"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/staleplan"
)

// lockTTL is how long a crashed writer keeps others out.
const lockTTL = 30 * time.Second

// settled reports that the run has nothing to do on the cluster.
func (w *work) settled() bool { return !w.Does(w.run.req.Wait) }

// forward turns the hands' events into the engine's.
func (l *loop) forward(w *work, before int) func(cluster.Event) {
	all := w.Plan.Writes()
	return func(ev cluster.Event) {
		ref := ev.Ref
		l.emit(fleetplan.Event{Type: fleetplan.EventType(ev.Type), Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: w.Wave, Cluster: w.Cluster,
			Instance: ev.Instance, Object: &ref, Action: ev.Action, Hook: ev.Hook, Message: ev.Message,
			Done: before + ev.Done, Total: max(before+ev.Total, all)})
	}
}

// recheck looks again, under the lock too: the record must be the one that was planned from, and the objects what the plan saw.
func (r *run) recheck(ctx context.Context, w *work) diag.Findings {
	was := w.input.Live
	var in plan.Input
	var findings diag.Findings
	var observed broke.Group
	observed.Go(func() { in, findings = r.observe(ctx, w, w.input.Options) }) // with the record planned from
	record, handle, _, err := r.current(ctx, w.target, w.set.Owner)
	observed.Wait()
	if err != nil {
		return diag.From(err, "record")
	}
	if record.At() != w.Revision || handle != w.target.handle && w.target.handle != "" {
		return diag.Findings{w.Stale("%s (revision %d, planned from %d)", record.Since(w.target.Record), record.At(), w.Revision)}
	}
	w.target.Record, w.target.handle = record, handle
	findings = append(findings, r.unmoved(ctx, w)...)
	findings = append(findings, r.inUse(ctx, w)...)
	foreign, err := w.target.session.Foreign(ctx, w.set.Owner, staleplan.Moved(w.Plan, in.Live), w.bodies())
	if err != nil {
		return append(findings, diag.From(err, "observe")...)
	}
	return append(findings, staleplan.Recheck(w.Plan, was, in.Live, foreign).OnCluster(w.Cluster)...)
}

// inUse looks again at what would be lost with Namespaces and definitions, also of a saved plan.
func (r *run) inUse(ctx context.Context, w *work) diag.Findings {
	holders := plan.Holders(w.Plan)
	if len(holders) == 0 {
		return nil
	}
	return plan.InUse(w.Plan, w.target.session.Contents(ctx, w.set.Owner, holders)).OnCluster(w.Cluster)
}

// open writes the record with everything the run may touch, before the first write.
func (l *loop) open(ctx context.Context, w *work) (*release.Record, error) {
	record := l.stamp
	record.Revision, record.Started, record.Depends = release.NextRevision(w.Revision), l.now(), w.set.Depends
	record.Origins, record.Soaked = map[string]string{}, l.fp.Schedule.Soaked(w.Cluster)
	w.describe(&record)
	record.Rebuilt = w.Plan.Rebuilt && w.target.Record == nil
	l.fp.run.sign(w.target, &record)
	for name, v := range w.target.Facts.Values {
		if l.fp.run.uses(name) {
			record.Origins[name] = l.redact(v.Told(name)) // it may be a store's value by another name
		}
	}
	record.Inventory, record.Lent, record.Hooks = plan.Intended(w.Plan, w.target.inventory(), w.set.Desired, w.observed.Schema), w.Plan.Lent, plan.Merge(w.Plan.HookStates, w.known(plan.Options{}).HookStates, w.set.Open())
	hooks, err := w.removalHooks(ctx, record.Hooks)
	if err != nil {
		return nil, err
	}
	if w.corrects {
		record, hooks = w.back.Corrected(l.stamp, record, w.Plan), nil // all of its objects are kept
	}
	if w.target.signed = &record; l.fp.Verb == "apply" && w.target.Record == nil {
		l.fp.run.promise(&record)
	}
	return &record, w.target.put(ctx, &record, hooks)
}

// put writes a record as the next version of the target's.
func (t *target) put(ctx context.Context, record *release.Record, objects []object.Object) error {
	if objects != nil {
		record.SetDigest = release.SetDigest(objects) // who writes the record again points to the same objects
	}
	handle, err := t.Store.Put(ctx, *record, objects, t.handle)
	if err == nil {
		t.handle = handle
	}
	return err
}

// describe writes into the record what is known of the instances besides their objects.
func (w *work) describe(record *release.Record) {
	record.Inputs, record.Sources, record.Digests = map[string]string{}, map[string]string{}, map[string]string{}
	record.Checks = map[string][]health.Check{}
	for _, p := range w.set.Renders {
		record.Inputs[p.Instance.Name], record.Sources[p.Instance.Name], record.Digests[p.Instance.Name] = p.Key, p.Source, p.Digest
		if len(p.Checks) > 0 {
			record.Checks[p.Instance.Name] = p.Checks
		}
	}
	record.Made, record.Marks = w.target.Made.Digests(w.target.Record)
	record.Unseen = w.unseen
	record.Suspended, record.Keep = slices.Sorted(maps.Keys(w.set.Suspended)), w.set.Spec.RevisionHistoryLimit
	record.Requires = release.Needs(w.set.Spec)
	if w.target.Record != nil {
		record.Carry(*w.target.Record)
	}
	if w.back != nil {
		w.back.Resume(record)
	}
}

// shut writes the record of what was done, or removes it after a complete delete.
func (l *loop) shut(ctx context.Context, w *work, record *release.Record, result cluster.ExecuteResult) error {
	if fleetplan.Ends(l.fp.Verb) && result.OK() {
		if err := w.forget(ctx); err != nil {
			return err
		}
		err := w.target.Store.Delete(ctx, w.set.Owner, w.target.handle)
		if err == nil {
			w.target.Record = nil // nothing is left to be judged after the soak
		}
		return err
	}
	l.fp.run.relearn(ctx, w, result.HookStates)
	w.describe(record) // late instances have their values now
	record.Inventory, record.Hooks, record.Finished, record.Phase = result.Inventory, result.HookStates, l.now(), fleetplan.PhaseOf(result.OK(), l.req.Wait)
	if record.Unfinished, record.Done = nil, result.Done; !result.OK() && !result.Cancelled && !fleetplan.Ends(l.fp.Verb) {
		undone, failed := result.Ended().Undone()
		record.Unfinished = release.InstancesOf(undone, w.Plan.Changes, record.Inventory, failed)
	}
	objects, err := w.objects(ctx, record.Hooks)
	record.Images = images.Of(objects, l.Redactor.Own)
	if err != nil {
		l.emit(fleetplan.Event{Type: fleetplan.EventNotice, Cluster: w.Cluster, Message: "the recorded objects are incomplete: " + err.Error()})
	}
	if w.corrects {
		*record = w.back.Corrected(l.stamp, *record, w.Plan)
	}
	if err = w.target.put(ctx, record, objects); err == nil {
		w.target.Record = record
	}
	return err
}

// relearn gives the instances that are the same with the kinds that the run itself brought, or took away, those for inputs.
func (r *run) relearn(ctx context.Context, w *work, states map[string]plan.HookState) {
	t, apis := w.target, w.target.session.Facts().APIs
	if slices.Equal(apis, t.Facts.APIs) {
		return
	}
	t.Facts.APIs = apis
	r.desired(t).Relearn(ctx, w.set, states)
}

// touch lets the record of an unchanged cluster learn a new Head, or what moved without changing anything of ours. It
// writes nothing when there is nothing to learn, and makes no revision.
func (l *loop) touch(ctx context.Context, w *work) error {
	old := w.target.Record
	if old == nil || w.Standing == staleplan.Done || l.fp.Verb != "apply" || old.Has() == l.fp.SourceDigest && !w.Plan.Refresh && w.sameInputs(old) && l.fp.run.signed(w.target) {
		return nil
	}
	if err := w.target.Keep(ctx, w.set.Owner); err != nil {
		return err
	}
	record := *old
	record.Learned, record.Soaked = l.fp.SourceDigest, l.fp.Schedule.Soaked(w.Cluster)
	l.fp.run.sign(w.target, &record)
	w.target.signed = &record
	record.Inventory, record.Lent, record.Hooks = w.Plan.Kept, w.Plan.Lent, w.Plan.HookStates
	w.describe(&record)
	slices.SortFunc(record.Inventory, func(a, b plan.InventoryEntry) int { return a.Ref.Compare(b.Ref) })
	var objects []object.Object
	if object.DigestJSON(old.Hooks) != object.DigestJSON(record.Hooks) {
		var err error
		if objects, err = w.objects(ctx, record.Hooks); err != nil {
			return fmt.Errorf("learning changed hooks: %w", err)
		}
	}
	if err := w.target.put(ctx, &record, objects); err != nil {
		return fmt.Errorf("learning the new head: %w", err)
	}
	w.target.Record = &record
	return nil
}

func (w *work) sameInputs(r *release.Record) bool {
	var now release.Record
	w.describe(&now)
	return maps.Equal(now.Inputs, r.Inputs) && maps.EqualFunc(now.Checks, r.Checks, health.Same) && slices.Equal(now.Suspended, r.Suspended) && slices.Equal(now.Unseen, r.Unseen) && slices.Equal(now.Requires, r.Requires)
}
