package release

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Declared is what the release of the record declares, as its inventory has it and with the bodies of the objects that are kept
// of it (marked): an object without a body is declared by its digest alone. The error is that of a run that failed before
// everything was as it declared, of which nobody can tell what is a remnant and what was never taken.
func (r *Record) Declared(objects []object.Scoped) ([]plan.Desired, diag.Findings) {
	kept := map[object.Ref]object.Scoped{}
	for _, o := range objects {
		if o.Hook == nil {
			kept[o.Ref()] = o
		}
	}
	var out []plan.Desired
	whole := r.Phase.Complete() || len(kept) > 0
	for _, o := range r.Inventory {
		if o.Hook != nil {
			continue
		}
		d := plan.DesiredFrom(o)
		if body, ok := kept[o.Ref]; ok {
			d = plan.DesiredOf(body)
			d.NoWait, d.Timeout, d.Ignore, d.OwnNamespace = o.NoWait, o.Timeout, o.Ignore, o.OwnNamespace
			delete(kept, o.Ref)
			whole = whole && (r.Phase.Complete() || o.UID != "" && d.Digest == o.Digest)
		} else {
			whole = whole && r.Phase.Complete()
		}
		out = append(out, d)
	}
	if !r.Phase.Complete() && (!whole || len(kept) > 0) {
		f := diag.Errorf("release-incomplete", "revision %d failed here before everything was as it declared", r.Revision)
		f.Because("some of its objects were never written, or are from before it: nobody can go back to that")
		f.Fix = "choose another release with --to; hawser history shows which there are"
		return nil, diag.Findings{f}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Hooks)) {
		out = append(out, plan.DesiredHooks(name, r.Hooks[name])...)
	}
	return out, nil
}

// Resume gives a record that goes back to what r says the part that is not about objects: whose files it was, which commit, what
// the values were. What was made up is what is kept now; only of instances that have nothing is it as r says.
func (r *Record) Resume(next *Record) {
	next.SourceDigest, next.Learned, next.Commit, next.Tree, next.Origins, next.Keep, next.Requires = r.SourceDigest, r.Learned, r.Commit, r.Tree, r.Origins, r.Keep, r.Requires
	made, marks := map[string]string{}, map[string][]chance.Mark{}
	for _, from := range []*Record{r, next} {
		maps.Copy(made, from.Made)
		maps.Copy(marks, from.Marks)
	}
	next.Made, next.Marks = made, marks
}

// Unapplied takes those out of the objects that a record declares which its run never wrote, because it failed or was cut short before, and
// returns the digests of what the inventory has of them, and of what the record does not have.
func (r *Record) Unapplied(declared map[object.Ref]object.Object) map[object.Ref]string {
	out := map[object.Ref]string{}
	if r.Standing().Complete() {
		return out
	}
	for _, o := range r.Inventory {
		if was, there := declared[o.Ref]; o.Hook == nil && o.UID != "" && (!there || was.Digest() != o.Digest) {
			out[o.Ref] = o.Digest
			delete(declared, o.Ref)
		}
	}
	return out
}

// Earlier adds to objects those of earlier revisions that have the digests (lacking), the newest first.
func Earlier(ctx context.Context, store Store, owner string, lacking map[object.Ref]string, objects map[object.Ref]object.Object) error {
	kept, ok := store.(History)
	if !ok || len(lacking) == 0 {
		return nil
	}
	found := errors.New("all are found")
	err := kept.Revisions(ctx, owner, func(rec Record) error {
		older, err := store.Objects(ctx, rec)
		for _, o := range older {
			if lacking[o.Ref()] == o.Digest() {
				objects[o.Ref()] = o
				delete(lacking, o.Ref())
			}
		}
		if err == nil && len(lacking) == 0 {
			return found
		}
		return err
	})
	if errors.Is(err, found) {
		return nil
	}
	return err
}

// NotKept refuses a plan that has to write an object of a release whose body is not kept: nothing else is put in its place.
func NotKept(p *plan.Plan, desired []plan.Desired, bodies map[object.Ref]object.Object) diag.Findings {
	declared := map[object.Ref]bool{}
	for _, d := range desired {
		declared[d.Ref] = true
	}
	var out diag.Findings
	for _, ch := range p.Changes {
		if _, kept := bodies[ch.Ref]; kept || !declared[ch.Ref] || !ch.Action.Writes() || ch.Action == plan.Delete {
			continue
		}
		f := diag.Errorf("not-kept", "what %s was in that release is not kept", ch.Ref)
		f.Object, f.Instance, f.Why = ch.Ref.String(), ch.Instance, "it would have to be written, and is not as it was: "+ch.Why
		f.Fix = "apply the files of that release, or choose another one with --to"
		out = append(out, f)
	}
	return out
}

// HookLost is the finding that a hook has to run and its object is kept nowhere; err, which is masked, says why, nil for nothing.
func HookLost(ref object.Ref, instance string, err error, mask func(string) string) diag.Finding {
	f := diag.Errorf("hook-lost", "the hook has to run, and the record does not have its object")
	f.Object, f.Instance, f.Fix = ref.String(), instance, "go on without hooks: --no-hooks"
	if err != nil {
		f.Why = mask(err.Error())
	}
	return f
}

// Goes are the objects of the last release that the next one has as well: those that it takes from the record without
// rendering them (desired, only where something is), those of suspended instances, and hooks that have not gone yet.
func (r *Record) Goes(taken []plan.Desired, suspended map[string]bool, lives map[string]plan.HookState) map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, d := range taken {
		out[d.Ref] = true
	}
	if r != nil {
		for _, o := range r.Inventory {
			if suspended[o.Instance] {
				out[o.Ref] = true
			}
		}
	}
	for _, l := range lives {
		for _, h := range l.Hooks {
			out[h.Ref] = true
		}
	}
	return out
}

// Redeclare gives the declaration of an object that is now another its digest; hooks run as they were.
func Redeclare(desired []plan.Desired, o object.Object) {
	for i, d := range desired {
		if d.Ref == o.Ref() && d.Hook == nil {
			desired[i].Digest = o.Digest()
		}
	}
}
