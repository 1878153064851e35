package engine

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// known is what deciding needs and is known without looking at the cluster.
func (w *work) known(o plan.Options) plan.Input {
	t, s := w.target, w.set
	in := plan.Input{Cluster: t.Cluster.Name, Bundle: s.Spec.Name, Owner: s.Owner, Desired: s.Desired, Suspended: s.Suspended, NotPlaced: s.NotPlaced,
		Options: o, Inputs: map[string]string{}, Damaged: t.damaged,
		Delivered: !o.Deleting && w.run.input.Delivered(t.Cluster.Name, s.Spec.Name)}
	for _, p := range s.Renders {
		in.Inputs[p.Placed.Name] = p.Key
	}
	if t.Record != nil {
		in.Recorded, in.Unseen = !t.damaged, t.Record.Unseen
		in.Inventory, in.Lent, in.HookStates, in.Open = t.Record.Inventory, t.Record.Lent, t.Record.Hooks, t.Record.Standing().Open()
		in.Undone, in.Unended, in.Freeing = t.Record.Phase == release.Deleting && !o.Deleting, t.Record.Unended(), t.Record.Shown() == release.Ejecting
	}
	if w.inventory != nil {
		in.Inventory, in.HookStates = w.inventory, w.lives
	}
	if w.beside != nil {
		in.Beside = *w.beside
	}
	return in
}

// lookAtHooks observes the objects of the hooks that may run.
func (r *run) lookAtHooks(ctx context.Context, w *work, in *plan.Input) diag.Findings {
	hooks := plan.HooksToLookAt(*in)
	if len(hooks) == 0 {
		return nil
	}
	obs, findings := w.target.session.Observe(ctx, cluster.ObserveRequest{Owner: w.set.Owner, Desired: hooks, Defined: w.set.Defined})
	maps.Copy(in.Live, obs.Live)
	maps.Copy(in.Schema, obs.Schema)
	maps.Copy(in.NamespaceExists, obs.NamespaceExists)
	return findings
}

// bodies are the objects to write: those rendered, and hooks that only the record has.
func (w *work) bodies() map[object.Ref]object.Object {
	if len(w.recalled) == 0 {
		return w.set.Bodies
	}
	out := maps.Clone(w.recalled)
	maps.Copy(out, w.set.Bodies)
	return out
}

// recorded are the objects kept with the last record, read once.
func (w *work) recorded(ctx context.Context) ([]object.Object, error) {
	if w.loaded || w.target.Record == nil {
		return w.kept, nil
	}
	kept, err := w.target.Store.Objects(ctx, *w.target.Record)
	w.kept, w.loaded = kept, err == nil
	return kept, err
}

// recall finds the objects of hooks to run that nothing renders any more.
func (w *work) recall(ctx context.Context, p *plan.Plan) diag.Findings {
	missing := map[object.Ref]string{}
	for _, ch := range p.Changes {
		if _, here := w.set.Bodies[ch.Ref]; !here && ch.Hook != nil && (ch.Action.Writes() || ch.Action == plan.Unchanged) && ch.Action != plan.Delete {
			missing[ch.Ref] = ch.Instance
		}
	}
	if len(missing) == 0 {
		return nil
	}
	kept, err := w.recorded(ctx)
	w.recalled = map[object.Ref]object.Object{}
	for _, o := range kept {
		if _, wanted := missing[o.Ref()]; wanted && o.Hook != nil {
			w.recalled[o.Ref()] = o
			delete(missing, o.Ref())
		}
	}
	var findings diag.Findings
	for _, ref := range slices.SortedFunc(maps.Keys(missing), object.Ref.Compare) {
		findings = append(findings, release.HookLost(ref, missing[ref], err, w.run.redact))
	}
	return findings
}

// removalHooks are the objects of hooks that a removal would run: an open record keeps them, so that what was begun can
// be removed although its Set is not recorded yet. nil when there are none.
func (w *work) removalHooks(ctx context.Context, lives map[string]plan.HookState) ([]object.Object, error) {
	refs := plan.RemovalHooks(lives)
	if len(refs) == 0 {
		return nil, nil
	}
	bodies, _ := w.set.Carried()
	maps.Copy(bodies, w.recalled)
	var kept []object.Object
	if slices.ContainsFunc(refs, func(r object.Ref) bool { _, ok := bodies[r]; return !ok }) {
		var err error
		if kept, err = w.recorded(ctx); err != nil {
			return nil, err
		}
	}
	return release.Pick(refs, bodies, kept), nil
}

// checkpoint keeps in the open record how far hooks have got.
func (w *work) checkpoint(record *release.Record) func(context.Context, []plan.InventoryEntry, map[string]plan.HookState) error {
	return func(ctx context.Context, inventory []plan.InventoryEntry, lives map[string]plan.HookState) error {
		record.Inventory, record.Hooks = inventory, lives
		return w.target.put(ctx, record, nil)
	}
}

// objects is the whole rendered Set: what was rendered now, what the last release kept of unchanged instances, and the
// hooks of instances that have not gone yet.
func (w *work) objects(ctx context.Context, lives map[string]plan.HookState) ([]object.Object, error) {
	bodies, before := w.set.Carried()
	wanted := w.target.Record.Goes(w.set.Taken(), before, lives)
	maps.DeleteFunc(wanted, func(r object.Ref, _ bool) bool { _, fresh := bodies[r]; return fresh })
	var err error
	if len(wanted) > 0 {
		var kept []object.Object
		kept, err = w.recorded(ctx)
		for _, o := range kept {
			if wanted[o.Ref()] {
				bodies[o.Ref()] = o
			}
		}
	}
	return append([]object.Object{}, slices.SortedFunc(maps.Values(bodies), func(a, b object.Object) int { return a.Ref().Compare(b.Ref()) })...), err // none is a Set, too, which is kept
}
