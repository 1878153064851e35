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
	"hawser.dev/hawser/internal/values"
)

// forValues is the cluster as the reader of values sees it: one that can be asked for Secrets when it is connected.
func (r *run) forValues(t *target, s *set, instance string) values.Target {
	out := values.Target{Cluster: t.cluster.Name, Instance: instance}
	for _, need := range s.spec.Requires {
		if w := r.req.Before[need.Bundle].work(t.cluster.Name); w != nil && !r.req.done && !w.settled() {
			out.Later = need.Bundle
		}
	}
	if t.session != nil {
		out.Secrets = t.secretData
	}
	return out
}

// sensitive is the object with the paths at which a value known to be secret turns up: there also what was before is
// hidden. Secrets are hidden by their kind.
func (r *run) sensitive(o object.Object) object.Object {
	r.shows(o)
	if !r.Redactor.Knows() {
		return o // nothing is secret
	}
	return o.MarkSecrets(func(text string) string { return r.Redactor.Value(o.Instance, text) },
		func(text string) string { return r.Redactor.Own(o.Instance, text) }, func(key string) bool { return r.Redactor.Redact(key) != key })
}

// shows leaves shown what an object that was declared or kept has at places that are never secret, whatever a cluster's record says, and
// whatever others take.
func (r *run) shows(o object.Object) { maskguard.Declared(o, r.Redactor) }

// remember hides what was secret when releases were applied, though nothing refers to it any more, and nothing of what gives rights.
func (r *run) remember(ctx context.Context, sets ...[]object.Object) {
	values := map[string][]string{}
	for _, o := range slices.Concat(sets...) {
		if ctx.Err() == nil {
			r.shows(o)
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
	objs, err := t.store.Objects(ctx, rec)
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

// secretData reads the data of a Secret of the cluster.
func (t *target) secretData(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	obj, err := t.session.Get(ctx, "v1", "Secret", namespace, name)
	if err != nil {
		return nil, err
	}
	return object.SecretData(obj)
}
