package plan

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// HooksToLookAt are the hooks that may run and of whose objects nothing has been seen yet: they have to be observed
// before Compute is final. Where nothing changes there are none.
func HooksToLookAt(in Input) []Desired {
	if len(instancesWithHooks(in)) == 0 && !slices.ContainsFunc(in.Inventory, func(o InventoryEntry) bool { return o.Hook != nil }) {
		return nil
	}
	var out []Desired
	for _, ch := range Compute(in).Changes {
		if _, seen := in.Live[ch.Ref]; ch.Hook != nil && !seen {
			out = append(out, Desired{Ref: ch.Ref, Version: ch.Version, Instance: ch.Instance, Namespaced: ch.Ref.Namespace != ""})
		}
	}
	return slices.CompactFunc(out, func(a, b Desired) bool { return a.Ref == b.Ref })
}

// hooks decides which hooks run, and what becomes of the objects of earlier ones.
func (c *computation) hooks() {
	declared := hooksByInstance(c.Desired)
	events := map[string]LifecycleStep{}
	for _, name := range instancesWithHooks(c.Input) {
		m := c.moment(name, declared[name])
		if m == Removal && c.goesOver(name) {
			m, c.plan.HandedOver = "", append(c.plan.HandedOver, name)
		}
		if m != "" {
			events[name] = m
		}
		hooks := declared[name]
		if !c.here(name) {
			hooks = DesiredHooks(name, c.HookStates[name])
		}
		c.run(name, m, hooks)
	}
	for _, o := range c.Inventory {
		if !c.settled[o.Ref] {
			c.hookLeft(o)
		}
	}
	c.plan.HookStates = c.plan.Staying(Begin(c.Input, events))
	if len(events) > 0 {
		c.plan.Events = events
	}
	if len(c.plan.HookStates)+len(c.HookStates) > 0 && object.DigestJSON(c.plan.HookStates) != object.DigestJSON(c.HookStates) {
		c.plan.Refresh = true
	}
}

// moment is what happens to an instance. One that was begun and not completed goes on.
func (c *computation) moment(name string, hooks []Desired) LifecycleStep {
	life, known := c.HookStates[name]
	switch {
	case c.Suspended[name], !c.here(name) && (c.Options.NoPrune || !known || c.held(name)):
		return ""
	case !c.here(name):
		return Removal
	case life.Step == Install, !c.installed(name) && (!known || life.Step == Removal) && !c.takesOver(name):
		return Install
	}
	m := Upgrade
	if c.Options.RollingBack {
		m = Rollback
	}
	if life.Step != "" || c.touches(name) || known && hooksChanged(life, hooks, m) {
		return m
	}
	return ""
}

// touches reports whether the plan writes or deletes a lasting object of the instance. What the last run has left to delete, when
// all hooks had run, is no upgrade of its own.
func (c *computation) touches(name string) bool {
	life, known := c.HookStates[name]
	left := known && life.Step == "" && c.Unended[name] != "" && c.Unended[name] == c.Inputs[name]
	return slices.ContainsFunc(c.plan.Changes, func(ch Change) bool {
		return ch.Instance == name && ch.Hook == nil && ch.Action.Writes() && !(left && ch.Action == Delete)
	})
}

// hooksChanged reports whether a hook that runs at upgrades, or at the moment, is declared otherwise than it was.
func hooksChanged(life HookState, hooks []Desired, m LifecycleStep) bool {
	runs := []object.HookPhase{object.PreUpgrade, object.PostUpgrade, m.Before(), m.After()}
	was := map[object.Ref]string{}
	for _, h := range life.Hooks {
		was[h.Ref] = h.Digest
	}
	return slices.ContainsFunc(hooks, func(d Desired) bool {
		return (was[d.Ref] != d.Digest || d.Late) && slices.ContainsFunc(d.Hook.Events, func(e object.HookPhase) bool { return slices.Contains(runs, e) })
	})
}

// run adds the hooks of a moment that have not run yet, and the tests when they are asked for.
func (c *computation) run(name string, m LifecycleStep, hooks []Desired) {
	life := c.HookStates[name]
	resumed := m != "" && life.continues(m, c.Inputs[name])
	var events []object.HookPhase
	for _, e := range []object.HookPhase{m.Before(), m.After()} {
		if m != "" && !(resumed && slices.Contains(life.Done, e)) {
			events = append(events, e)
		}
	}
	if c.Options.Tests && c.here(name) && !c.Suspended[name] {
		events = append(events, object.Test)
	}
	if c.Options.NoHooks {
		return
	}
	hooks = slices.SortedFunc(slices.Values(hooks), runningOrder)
	for _, e := range events {
		for _, d := range hooks {
			if slices.Contains(d.Hook.Events, e) && !c.taken(d, m) {
				c.hook(d, e, resumed && e != object.Test)
			}
		}
	}
}

// taken reports (and finds) a hook of an instance that goes whose object another instance declares now.
func (c *computation) taken(d Desired, m LifecycleStep) bool {
	if m != Removal || !c.declared[d.Ref] {
		return false
	}
	f := diag.Warnf("hook-taken", "the hook is not run: another instance declares its object now")
	f.Object, f.Instance = d.Ref.String(), d.Instance
	c.find(f)
	return true
}

// hook decides how one hook runs for an event. resumed: the event was begun by a run that ended before it was over.
func (c *computation) hook(d Desired, e object.HookPhase, resumed bool) {
	live := c.Live[d.Ref]
	own, isOwned := c.owned[d.Ref]
	moved, taken := c.movedFrom(d.Ref, live) != "", c.takesHook(d, live)
	done := resumed && own.Hook != nil && own.Hook.Event == e && own.Hook.Done
	switch {
	case done && live.Found && live.UID == own.UID:
		return // it ran already
	case done && !live.Found && d.Ref.Finishes():
		if c.here(d.Instance) {
			c.keepHook(own) // and something has cleaned it up since
		}
		return
	}
	c.settled[d.Ref] = true
	ch := Change{Action: Create, Ref: d.Ref, Version: d.Version, Instance: d.Instance, Code: CodeHook, Why: e.When(), Digest: d.Digest, Open: d.Open,
		Pos: d.Pos, Timeout: d.Timeout, UID: live.UID, ResourceVersion: live.ResourceVersion, ApplyHash: live.ApplyHash, Hook: runOf(*d.Hook, e)}
	switch {
	case !live.Found:
		ch.UID, ch.ResourceVersion, ch.ApplyHash = "", "", ""
		c.needsNamespace(d)
	case !moved && !taken && !c.isOurs(own, isOwned, live):
		c.hookConflict(&ch, live, "exists already, managed by "+orUnknown(live.Foreign))
	case live.Keep:
		c.hookConflict(&ch, live, "the one of an earlier run is annotated to be kept")
	case resumed && !moved && !taken && c.Open && live.UID != own.UID && !live.Terminating:
		ch.Action, ch.Code, ch.Why = Unchanged, CodeInterrupted, "was started by the run that ended; it is waited for"
	default:
		ch.Action, ch.Why = Recreate, e.When()+"; the one of an earlier run is deleted before"+finalizers(live)
		if taken {
			ch.From, ch.Why = live.Foreign, e.When()+"; the one that "+live.Foreign+" left is deleted before"+finalizers(live)
		}
	}
	c.add(ch)
}

// takesHook reports whether an object is what a hook of a Helm release left that is taken over with --adopt: one of ours may be
// in its place then. A release that it names has to be one that the instance's other objects come from.
func (c *computation) takesHook(d Desired, live Live) bool {
	return c.Options.Adopt && live.Hook && !live.Reconciled && (!live.Released ||
		slices.ContainsFunc(c.Inventory, func(o InventoryEntry) bool { return o.Instance == d.Instance && o.Taken == live.Foreign }) ||
		slices.ContainsFunc(c.plan.Changes, func(ch Change) bool { return ch.Hook == nil && ch.Instance == d.Instance && ch.From == live.Foreign }))
}

// hookConflict blocks the plan: an object that is not ours, or is to be kept, is never deleted for a hook.
func (c *computation) hookConflict(ch *Change, live Live, why string) {
	ch.Action, ch.Code, ch.Why, ch.From = Conflict, CodeForeign, why, live.Foreign
	f := diag.Errorf("foreign-owner", "the hook cannot run: its object is there and is not to be deleted")
	f.Object, f.Instance, f.Pos = ch.Ref.String(), ch.Instance, ch.Pos
	f.Because(why)
	f.Fix = "rename the hook, or remove the object; --no-hooks goes on without hooks"
	switch {
	case live.Reconciled:
		f.Fix = "let the other owner release it first, or " + f.Fix
	case live.Hook && !live.Keep && !c.Options.Adopt:
		f.Fix = "a hook of Helm left it: --adopt replaces it as Helm would; or " + f.Fix
	}
	c.find(f)
}

// keepHook keeps the object of a hook in the inventory.
func (c *computation) keepHook(o InventoryEntry) {
	c.settled[o.Ref] = true
	c.plan.Kept = append(c.plan.Kept, o)
}

// hookLeft decides about the object of a hook that does not run: it stays until it runs again, and goes with its
// declaration, or when it should have gone after it succeeded (a run was killed before that). The object of a test stays although tests are declared only when they are asked for.
func (c *computation) hookLeft(o InventoryEntry) {
	first, isDeclared := c.first[o.Ref]
	isHook := isDeclared && first.Hook != nil
	if o.Hook == nil && !isHook || isDeclared && !isHook {
		return // a lasting object, now if not before
	}
	live := c.Live[o.Ref]
	switch {
	case c.Options.NoPrune, c.Suspended[o.Instance], !isHook && (c.unseen(o, live) || c.waiting(o.Instance) >= 0):
		c.keepHook(o)
	case isHook && !(o.Hook != nil && o.Hook.Done && live.Found && slices.Contains(first.Hook.Delete, object.HookSucceeded)),
		!isHook && o.Hook.Event == object.Test && c.here(o.Instance):
		if !live.Found || !c.isOurs(o, true, live) {
			c.plan.Refresh, c.plan.Forget = true, append(c.plan.Forget, o.Ref) // nothing of ours is there any more
			return
		}
		if o.Hook == nil {
			o.Hook, c.plan.Refresh = &HookRun{}, true
		}
		if isHook && o.Instance != first.Instance { // it was renamed
			o.Instance, c.plan.Refresh = first.Instance, true
		}
		o.UID = live.UID
		c.keepHook(o)
	default:
		ch := Change{Ref: o.Ref, Version: o.Version, Instance: o.Instance, UID: live.UID, ResourceVersion: live.ResourceVersion,
			ApplyHash: live.ApplyHash, Hook: &HookTask{Event: o.Hook.Event}}
		ch.Action, ch.Code, ch.Why = c.fate(o, live)
		c.eject(&ch)
		switch {
		case ch.Action == Delete && isHook:
			ch.Why = "it has succeeded"
		case ch.Action == Delete && c.away[o.Instance] && !o.Ref.Finishes():
			ch.Action, ch.Code, ch.Why = Release, CodeMoved, "left by a hook of an instance that was handed over, which may use it"
		case ch.Action == Delete && ch.Why != "":
			ch.Why = "left by a hook that is no longer declared"
		}
		c.add(ch)
	}
}

// IntendedHook is the inventory entry of a hook's object before the hook runs: that of its predecessor, whose uid tells
// the two apart after a crash. false: the change runs nothing.
func IntendedHook(before InventoryEntry, ch Change) (InventoryEntry, bool) {
	if ch.Hook == nil || ch.Action == Delete || ch.Action == Release || ch.Action == Conflict {
		return before, false
	}
	before.Ref, before.Version, before.Instance = ch.Ref, ch.Version, ch.Instance
	before.Hook = &HookRun{Event: ch.Hook.Event}
	return before, true
}

// runOf is how a hook runs for an event. What a removal made goes with it, whatever the policy says: no release would
// be left to remember it.
func runOf(h object.Hook, e object.HookPhase) *HookTask {
	r := &HookTask{Event: e, Weight: h.Weight, IfSucceeded: slices.Contains(h.Delete, object.HookSucceeded),
		IfFailed: slices.Contains(h.Delete, object.HookFailed)}
	if e == object.PreDelete || e == object.PostDelete {
		r.IfSucceeded = true
	}
	return r
}

// phaseOf is a change's place among those of its instance.
func phaseOf(ch Change) int {
	switch {
	case ch.Hook == nil:
		return 1
	case ch.Action == Delete || ch.Action == Release:
		return 4
	case ch.Hook.Event == object.Test:
		return 3
	case strings.HasPrefix(string(ch.Hook.Event), "pre-"):
		return 0
	}
	return 2
}
