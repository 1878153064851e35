package engine

import (
	"context"
	"crypto/rand"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// reopen puts stand-ins into the late instances that have none yet, and renders them with those.
func (r *run) reopen(ctx context.Context, w *work, late func(instance string) bool) diag.Findings {
	var findings diag.Findings
	for _, p := range w.set.parts {
		if late(p.placed.Name) && len(p.open) == 0 {
			findings = append(findings, r.fillIn(ctx, w.target, w.set, p, true)...)
		}
	}
	if findings.HasErrors() {
		return findings
	}
	return append(findings, r.fill(ctx, w.target, w.set)...)
}

// unknown marks what an instance's objects have of values that are open, by rendering it with other stand-ins, and with
// something else made up where it makes anything up. Where that cannot be, it is found where the stand-ins are seen.
func (r *run) unknown(ctx context.Context, p *part, objs []object.Object, makes bool) []object.Object {
	other := p.request
	if makes { // with a placeholder in both, what is computed of it would look certain
		other.Chance = r.source(&made{id: rand.Text()})
	}
	other.Instance.Values = bind.Otherwise(p.instance.Values, p.open)
	second, _, err := r.memo.Render(r.secretly(ctx), p.renderer, other)
	if err != nil {
		return objs
	}
	return bind.Unknown(objs, second.Objects, p.open)
}

// unmoved checks under the lock that values taken from other instances are what the plan was made with.
func (r *run) unmoved(ctx context.Context, w *work) diag.Findings {
	refs := r.givers(w.target, w.set)
	var findings diag.Findings
	for _, p := range w.set.parts {
		if len(p.open) > 0 || len(w.set.takes[p.placed.Name]) == 0 {
			continue
		}
		for _, f := range w.set.takes[p.placed.Name] {
			w.target.seen.Forget(wanted{refs.Object(f), f.Object.APIVersion})
		}
		again := *p
		if fs := r.fillIn(ctx, w.target, w.set, &again, false); fs.HasErrors() {
			findings = append(findings, fs.Errors()...)
		} else if again.key != p.key {
			f := w.Stale("a value that %s takes from another instance has changed since", p.placed.Name)
			f.Instance = p.placed.Name
			findings = append(findings, f)
		}
	}
	return findings
}
