package engine

import (
	"cmp"
	"context"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// History are the releases of a bundle, or with "" of every one, as the records of the selected clusters tell them. The
// error wraps ErrPartial when a cluster did not answer or its records could not be read.
func (e *Engine) History(ctx context.Context, req Request) (*history.History, error) {
	r, clusters, err := e.kept(ctx, req)
	if err != nil {
		return nil, err
	}
	defer r.close()
	h := history.Of(clusters)
	for _, t := range r.targets {
		h.Findings = append(h.Findings, t.findings...)
	}
	if err := h.Verdict(r.req.Bundle); err != nil {
		return h, err
	}
	return h, fleetplan.Unknown(len(h.Unknown))
}

// Compare tells what changed between two releases of a bundle, each by its number or rollout, on every selected cluster.
func (e *Engine) Compare(ctx context.Context, req Request, from, to string) (*history.Comparison, error) {
	r, clusters, err := e.kept(ctx, req)
	if err != nil {
		return nil, err
	}
	defer r.close()
	c, err := history.Compare(clusters, r.req.Bundle, from, to)
	if err != nil {
		return nil, err
	}
	each(len(c.Clusters), 0, func(i int) {
		if row := &c.Clusters[i]; row.Unknown == "" {
			before, after := row.Records()
			olds, news := r.objectsOf(ctx, r.targets[i], before), r.objectsOf(ctx, r.targets[i], after)
			row.Change(olds, news, req.ShowContent, r.redact)
		}
	})
	for _, t := range r.targets {
		c.Findings = append(c.Findings, t.findings...)
	}
	c.Regroup(r.Redactor)
	return c, fleetplan.Unknown(len(c.Unknown()))
}

// kept is what the selected clusters keep of a bundle, or of all, in the order of the run's targets.
func (e *Engine) kept(ctx context.Context, req Request) (*run, []history.Cluster, error) {
	r, name, err := e.installed(ctx, req, false)
	if err != nil {
		return nil, nil, err
	}
	r.reading, r.req.Bundle = true, name
	out := make([]history.Cluster, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		c := history.Cluster{Name: t.cluster.Name, Group: t.cluster.Group, Unreachable: t.unreachable}
		if t.session != nil {
			var budget release.Budget
			unknown := r.eachRecord(ctx, t, name, func(rec release.Record) {
				k, err := history.Read(ctx, t.store, rec, &budget)
				if err != nil {
					c.Unknown = r.redact(err.Error())
				}
				c.Bundles = append(c.Bundles, k)
			})
			c.Unknown = cmp.Or(c.Unknown, unknown)
		}
		out[i] = c
	})
	return r, out, nil
}

// objectsOf are the objects that a record declares, nil where they are not kept or cannot be read; what is secret in them is
// hidden from then on.
func (r *run) objectsOf(ctx context.Context, t *target, rec *release.Record) []object.Object {
	if rec == nil {
		return nil
	}
	objects, err := t.store.Objects(ctx, *rec)
	if err != nil {
		return nil
	}
	r.remember(objects)
	return objects
}
