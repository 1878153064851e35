package plan

import (
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Beside is what the other bundles of the same files say about a cluster. The zero value is no other bundle, or that
// nobody asked them, see AsksBeside.
type Beside struct {
	// Declares is the bundle that declares an object there, by object.
	Declares map[object.Ref]string
	// Yields are bundles by owner id: what they have in the cluster and declare no longer goes over to the bundle that does.
	Yields map[string]string
}

// AsksBeside reports whether a plan depends on what the other bundles of the same files declare: it deletes something, or
// another bundle has something that is declared.
func AsksBeside(in Input) bool {
	for _, d := range in.Desired {
		if d.Hook == nil && in.Live[d.Ref].ForeignBundle {
			return true
		}
	}
	for _, ch := range Compute(in).Changes {
		if ch.Action == Delete && ch.Hook == nil {
			return true
		}
	}
	return false
}

// movedFrom is the bundle of the same files from which a live object was moved into this one: it wrote the object, nobody
// else's bundle did, and none declares it any more. It is "" when there is none.
func (c *computation) movedFrom(r object.Ref, live Live) string {
	if !live.ForeignBundle || len(live.ForeignManagers) != 1 || c.Beside.Declares[r] != "" {
		return ""
	}
	for owner, bundle := range c.Beside.Yields {
		if live.ForeignManagers[0] == object.Manager(owner) && (live.OwnerLabel == owner || live.OwnerLabel == c.Owner) {
			return bundle
		}
	}
	return ""
}

// handed is why an object is let go that another bundle of the same files declares, "" when none does.
func (c *computation) handed(r object.Ref) string {
	to := c.Beside.Declares[r]
	switch {
	case to == "":
		return ""
	case r.Kind == "Namespace" && r.Group == "":
		return "handed to bundle " + to + " of the same files, which declares or uses it"
	}
	return "handed to bundle " + to + " of the same files, which declares it"
}

// alsoDeclared says of a conflict that another bundle of the same files declares the object too, "" when none does.
func (c *computation) alsoDeclared(r object.Ref) string {
	if to := c.Beside.Declares[r]; to != "" {
		return "bundle " + to + " of the same files declares it too"
	}
	return ""
}

// Add adds what a bundle declares, and what the inventory has of its instances that are left as they are. Where two declare
// an object, the first counts.
func (b *Beside) Add(bundle string, desired []Desired, owned []Owned, suspended map[string]bool) {
	if b.Declares == nil {
		b.Declares = map[object.Ref]string{}
	}
	add := func(r object.Ref) {
		if b.Declares[r] == "" {
			b.Declares[r] = bundle
		}
	}
	for _, d := range desired {
		if d.Hook == nil {
			add(d.Ref)
		}
	}
	for _, o := range owned {
		if suspended[o.Instance] && o.Hook == nil {
			add(o.Ref)
		}
	}
}

// Untold refuses to decide without knowing what a bundle of the same files declares (bundle "": any of them), when the
// findings why have errors; nil when they have none.
func Untold(bundle string, why diag.Findings) diag.Findings {
	if !why.HasErrors() {
		return nil
	}
	first := why.Errors()[0]
	f := diag.Errorf("untold-bundle", "it cannot be told what bundle %s of the same files declares, and the plan depends on it", bundle)
	if bundle == "" {
		f.What = "it cannot be told what the other bundles of the same files declare, and the plan depends on it"
	}
	f.Pos, f.Instance, f.Why = first.Pos, first.Instance, first.What
	if first.Why != "" {
		f.Why += ": " + first.Why
	}
	f.Fix = "mend that, or keep the bundles in files of their own: what is deleted here may be declared there"
	return diag.Findings{f}
}
