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
// another instance now, of this bundle or of another. Removal hooks would run against what goes on running.
func (c *computation) goesOver(name string) bool {
	over, deleted := false, ""
	for _, o := range c.Owned {
		if o.Instance != name || o.UID == "" || !lasting(o.Ref, o.Hook != nil, o.OwnNamespace) {
			continue
		}
		first, declared := c.first[o.Ref]
		live := c.Live[o.Ref]
		over = over || declared && first.Hook == nil && live.UID == o.UID
		for _, ch := range c.plan.Changes {
			switch {
			case ch.Ref != o.Ref || ch.Hook != nil:
			case ch.Action == Delete:
				deleted = ch.Ref.String()
			case ch.Action == Release:
				if ch.Code == CodeMoved || ch.Code == CodeForeign && live.ForeignBundle && live.UID == o.UID {
					over, c.away[name] = true, true
				}
			}
		}
	}
	if over && deleted != "" && len(c.Lives[name].Hooks) > 0 {
		f := diag.Warnf("hooks-handed-over", "the hooks for the removal of instance %s are not run: another instance delivers a part of it now", name)
		f.Object, f.Instance, f.Why = deleted, name, "what nobody declares of it is deleted without them"
		f.Fix = "move what stays in one run and remove the rest in the next, when the hooks have to run"
		c.find(f)
	}
	return over
}

// takesOver reports whether the cluster has something lasting of an instance that this bundle has not delivered under its
// name: what another instance or bundle had, or somebody else. An installation of that other one that never ended goes on.
func (c *computation) takesOver(name string) bool {
	for _, d := range c.Desired {
		if d.Instance != name || !lasting(d.Ref, d.Hook != nil, d.OwnNamespace) {
			continue
		}
		if o, owned := c.owned[d.Ref]; owned && o.Instance != name && o.Hook == nil && o.UID != "" && o.UID == c.Live[d.Ref].UID &&
			c.Lives[o.Instance].Moment != Install {
			return true
		}
	}
	return slices.ContainsFunc(c.plan.Changes, func(ch Change) bool {
		taken := ch.Action == Adopt || ch.Action == Recreate && ch.From != ""
		return taken && ch.Instance == name && lasting(ch.Ref, ch.Hook != nil, false)
	})
}

// Staying are the lives without those of instances that the plan hands over: nothing of them is to be removed.
func (p *Plan) Staying(lives map[string]Life) map[string]Life {
	out := maps.Clone(lives)
	maps.DeleteFunc(out, func(name string, _ Life) bool { return slices.Contains(p.HandedOver, name) })
	return out
}
