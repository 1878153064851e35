package plan

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// lasting reports whether an object is a part of its instance that is no step of its life, and that others do not stand on.
func lasting(r object.Ref, hook, ownNamespace bool) bool { return !hook && !ownNamespace && !holds(r) }

// goesOver reports whether an instance that is no longer declared was not removed: something lasting of it is delivered by
// another instance now, of this bundle or of another. Removal hooks would run against what goes on running. Of what a run
// that ended in the middle was to take over, another bundle's is no less than what was written; and what a run was to adopt
// and did not is the former owner's, whose system our hooks are not for.
func (c *computation) goesOver(name string) bool {
	by, deleted, installed := "", "", c.installed(name)
	for _, o := range c.Inventory {
		if o.Instance != name || !lasting(o.Ref, o.Hook != nil, o.OwnNamespace) {
			continue
		}
		first, declared := c.first[o.Ref]
		live := c.Live[o.Ref]
		same := live.Found && (live.UID == o.UID || o.UID == "" && !installed)
		if declared && first.Hook == nil && same {
			by = "instance " + first.Instance
		}
		for _, ch := range c.plan.Changes {
			switch {
			case ch.Ref != o.Ref || ch.Hook != nil:
			case ch.Action == Delete:
				deleted = ch.Ref.String()
			case ch.Action == Release:
				if ch.Code == CodeMoved || ch.Code == CodeForeign && ((live.ForeignBundle || live.Reconciled || live.Released) && same || o.UID == "" && !installed) {
					by = map[bool]string{true: "bundle " + c.Beside.Declares[o.Ref].Bundle, false: orUnknown(live.Foreign)}[c.handed(o.Ref) != ""]
					c.away[name] = true
				}
			}
		}
	}
	if by != "" && deleted != "" && len(c.HookStates[name].Hooks) > 0 {
		f := diag.Warnf("hooks-handed-over", "the hooks for the removal of instance %s are not run: %s delivers a part of it now", name, by)
		f.Object, f.Instance = deleted, name
		f.Because("what nobody declares of it is deleted without them")
		f.Fix = "move what stays in one run and remove the rest in the next, when the hooks have to run"
		c.find(f)
	}
	return by != ""
}

// takesOver reports whether the cluster has something lasting of an instance that this bundle has not delivered under its
// name: what another instance or bundle had, or somebody else, and what was let go and stayed. An installation of that other
// one that never ended goes on.
func (c *computation) takesOver(name string) bool {
	if c.stayed(name) {
		return true
	}
	for _, d := range c.Desired {
		if d.Instance != name || !lasting(d.Ref, d.Hook != nil, d.OwnNamespace) {
			continue
		}
		o, owned := c.owned[d.Ref]
		live, life := c.Live[d.Ref], c.HookStates[o.Instance]
		was := o.UID != "" && o.UID == live.UID && life.Step != Install || o.UID == "" && c.ours(live) && (life.Step == Upgrade || life.Step == Rollback)
		if owned && o.Instance != name && o.Hook == nil && was {
			return true
		}
	}
	return slices.ContainsFunc(c.plan.Changes, func(ch Change) bool {
		taken := ch.Action == Adopt || ch.Action == Recreate && ch.From != ""
		return taken && ch.Instance == name && lasting(ch.Ref, ch.Hook != nil, false) && !c.begun(ch)
	})
}

// begun reports whether a change takes an object of another bundle whose installation of it has not ended: it goes on here.
func (c *computation) begun(ch Change) bool {
	if len(ch.FromManagers) == 0 {
		return false
	}
	former := c.Beside.Former[object.OwnerOf(ch.FromManagers[0])]
	return slices.ContainsFunc(former.Inventory, func(o InventoryEntry) bool {
		return o.Ref == ch.Ref && o.Hook == nil && former.HookStates[o.Instance].Step == Install
	})
}

// waits reports whether an object stays in the inventory until the bundle that declares it now takes it over: let go, nobody would
// know that the installation of its instance has not ended.
func (c *computation) waits(o InventoryEntry) bool {
	if c.Options.Deleting || c.HookStates[o.Instance].Step != Install || c.here(o.Instance) || o.Hook != nil {
		return false
	}
	_, code, _ := c.fate(o, c.Live[o.Ref])
	return code == CodeMoved && c.Beside.declarer(o.Ref) != "" // who merely stands on it never takes it
}

// waiting is the object for which an instance stays with this bundle until another one goes on with its installation, -1 for none.
func (c *computation) waiting(name string) int {
	return slices.IndexFunc(c.Inventory, func(o InventoryEntry) bool { return o.Instance == name && c.waits(o) })
}

// held finds an instance that is waiting.
func (c *computation) held(name string) bool {
	i := c.waiting(name)
	if i >= 0 {
		f := diag.Warnf("hooks-handed-over", "the installation of instance %s has not ended: it is let go when the bundle that declares it goes on with it", name)
		f.Object, f.Instance, f.Fix = c.Inventory[i].Ref.String(), name, "apply bundle "+c.Beside.Declares[c.Inventory[i].Ref].Bundle+" too"
		c.find(f)
	}
	return i >= 0
}

// stayed reports whether an instance was let go and is declared again: something lasting of it is there with our marks, and in
// no record. What is annotated to be kept outlives its instance: it tells only where nothing of that is missing.
func (c *computation) stayed(name string) bool {
	some, all := false, true
	for _, d := range c.Desired {
		if d.Instance != name || !lasting(d.Ref, d.Hook != nil, d.OwnNamespace) {
			continue
		}
		live := c.Live[d.Ref]
		_, owned := c.owned[d.Ref]
		switch there := live.Found && !live.Terminating && !owned && c.ours(live) && !live.ForeignBundle; {
		case there && !live.Keep:
			return true
		case there:
			some = true
		default:
			all = false
		}
	}
	return some && all
}

// installed reports whether the record has something lasting of an instance that was written, and not only to be written.
func (c *computation) installed(name string) bool {
	return slices.ContainsFunc(c.Inventory, func(o InventoryEntry) bool {
		return o.Instance == name && o.Hook == nil && !o.OwnNamespace && o.UID != ""
	})
}

// Staying are the lives without those of instances that the plan hands over: nothing of them is to be removed.
func (p *Plan) Staying(lives map[string]HookState) map[string]HookState {
	out := maps.Clone(lives)
	maps.DeleteFunc(out, func(name string, _ HookState) bool { return slices.Contains(p.HandedOver, name) })
	return out
}
