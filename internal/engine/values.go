package engine

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/maskguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// remember hides what was secret when releases were applied, though nothing refers to it any more, and nothing of what gives rights.
func (r *run) remember(ctx context.Context, sets ...[]object.Object) {
	values := map[string][]string{}
	for _, o := range slices.Concat(sets...) {
		if ctx.Err() == nil {
			maskguard.Declared(o, r.Redactor)
			values[o.Instance] = slices.Concat(values[o.Instance], o.SensitiveValues(), o.SensitiveKeys())
		}
	}
	r.Redactor.AddKept(values)
}

// hideInStatus hides them in the texts of a status. Where there are no texts the record's objects are not read.
func (r *run) hideInStatus(ctx context.Context, t *target, rec release.Record, states map[object.Ref]health.Status) diag.Findings {
	if !slices.ContainsFunc(slices.Collect(maps.Values(states)), func(s health.Status) bool { return s.Reason != "" || len(s.Details) > 0 }) {
		return nil
	}
	objs, err := t.Store.Objects(ctx, rec)
	r.remember(ctx, objs)
	for _, o := range rec.Inventory {
		if s, ok := states[o.Ref]; ok {
			states[o.Ref] = s.Masked(func(text string) string { return r.Redactor.Said(o.Instance, text) })
		}
	}
	if err == nil {
		return nil
	}
	f := diag.Warnf("no-recorded-set", "what was secret in the release is not known: its objects cannot be read")
	f.Why = r.redact(err.Error())
	return diag.Findings{f}
}
