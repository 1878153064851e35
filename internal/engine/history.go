package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
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
	h.Await(r.req.Bundle, r.awaits(ctx, r.req.Bundle), clusters)
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
		return nil, errors.Join(err, fleetplan.Unknown(len(history.Of(clusters).Unknown)))
	}
	each(len(c.Clusters), 0, func(i int) {
		if row := &c.Clusters[i]; row.Unknown == "" {
			olds, news := row.Objects(ctx, r.targets[i].store)
			r.remember(ctx, olds, news)
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
	each(len(r.targets), 0, func(i int) { out[i] = r.keeps(ctx, r.targets[i], name) })
	return r, out, nil
}

// keeps is what a cluster keeps of a bundle, or of all.
func (r *run) keeps(ctx context.Context, t *target, name string) history.Cluster {
	c := history.Cluster{Name: t.cluster.Name, Group: t.cluster.Group, Chosen: t.facts.Chosen, Unreachable: t.unreachable}
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
	c.Unknown = cmp.Or(c.Unknown, strings.Join(t.findings.Errors().Whats(), "; "))
	return c
}

// whole is what all clusters of the fleet keep of a bundle: which releases there were is no matter of which are selected. Those that the
// run does not go to are asked as far as they let it look, and their records kept in unselected.
func (r *run) whole(ctx context.Context, name string) []history.Cluster {
	sub := r.aside(ctx, func(cluster string) bool { t := r.target(cluster); return t == nil || t.later })
	defer sub.close()
	out := make([]history.Cluster, len(r.all))
	each(len(r.all), 0, func(i int) {
		t, beside := r.target(r.all[i].Name), sub.target(r.all[i].Name)
		out[i] = r.keeps(ctx, cmp.Or(beside, t), name)
		out[i].Beside, out[i].Later = t == nil, t != nil && t.later
	})
	for _, t := range sub.targets {
		r.unselected = append(r.unselected, t.record.On(t.cluster.Name))
	}
	return out
}
