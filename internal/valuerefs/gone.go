package valuerefs

import (
	"context"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Loses says why a Secret that another bundle takes a key of has none when this one is done, which does as fate says to it; "" where it has it, or may:
// as for Lacking, but that what is the bundle's alone goes also with all other keys.
func (r References) Loses(ctx context.Context, fate plan.Action, at object.Ref, key string) string {
	if fate == plan.Delete {
		return "deletes " + at.String()
	}
	body, rendered := r.Bodies[at]
	if !rendered || len(r.StandsIn(at)) > 0 || r.leftToOthers(at) {
		return ""
	}
	f := bind.OfSecret(body.Instance, at, key)
	if _, err := f.Path.Lookup(body.Body); err == nil {
		return ""
	}
	x, n := r.Lookup.Read(ctx, body.Instance, f, at)
	switch goes := x != nil && (fate == plan.Recreate || r.Lookup.Goes(ctx, f, at)); {
	case bind.Unasked(n), x != nil && !goes, !goes && bind.FilledByOthers(body.Body):
		return ""
	}
	return "declares " + at.String() + " without " + key
}

// Given finds values of the instances of a bundle that will not come, or go: those that are there without them (Missing), and what the plan takes away of
// what they take (Gone), or of what instances of bundles before do. fate is what the bundle's plan does to an object, "" for nothing.
func (r References) Given(ctx context.Context, moving map[object.Ref]bool, before []Before, bundle string, fate func(object.Ref) plan.Action) diag.Findings {
	out := append(r.Missing(ctx, moving), r.Gone(ctx, fate)...)
	for _, b := range before {
		if b.References == nil {
			continue
		}
		out = append(out, b.References().LostTo(ctx, "bundle "+bundle+", which comes after "+b.Bundle+",", r, fate)...)
	}
	return out
}

// Gone finds values that instances take of what their own bundle takes away while it is carried out, which does to an object as fate says ("" is
// nothing): of an object that is deleted, and by reference of a Secret that is deleted or loses the key.
func (r References) Gone(ctx context.Context, fate func(object.Ref) plan.Action) diag.Findings {
	var findings diag.Findings
	for _, t := range r.Takers {
		if r.idle(t.Instance) {
			continue
		}
		for _, f := range t.Takes {
			if at := r.Object(f); fate(at) == plan.Delete {
				findings = append(findings, valueOf(t.Instance, f.Gone(at.String(), t.Instance)))
			}
		}
	}
	return append(findings, r.LostTo(ctx, "this bundle", r, fate)...)
}

// LostTo finds references to Secrets that a bundle, which is the same one or comes later in the run, deletes or leaves without the key: what it declares
// and who asks for it is by, what it does to an object is fate.
func (r References) LostTo(ctx context.Context, bundle string, by References, fate func(object.Ref) plan.Action) diag.Findings {
	var findings diag.Findings
	for _, t := range r.Takers {
		for _, f := range t.Refs {
			if does := fate(f.Secret); does != "" && !r.idle(t.Instance) {
				if lost := by.Loses(ctx, does, f.Secret, f.Key); lost != "" {
					findings = append(findings, valueOf(t.Instance, f.Lost(t.Instance, bundle+" "+lost)))
				}
			}
		}
	}
	return findings
}

// idle reports whether nothing is done for an instance.
func (r References) idle(instance string) bool { return r.Behind[instance] || r.Suspended[instance] }
