package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"hawser.dev/hawser/internal/diag"
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
	h.Await(r.owner, clusters, r.awaits(ctx, r.req.Bundle)...)
	h.Findings = append(h.Findings, r.findings()...)
	return h, cmp.Or(h.Verdict(r.req.Bundle), fleetplan.Unknown(len(h.Unknown)))
}

// Compare compares what the selected clusters keep. Where nothing was found c is as it was.
func (e *Engine) Compare(ctx context.Context, req Request, c history.Comparer) error {
	r, clusters, err := e.kept(ctx, req)
	if err != nil {
		return err
	}
	defer r.close()
	if err := c.Find(clusters, r.req.Bundle); err != nil {
		return errors.Join(err, fleetplan.Unknown(len(history.Of(clusters).Unknown)))
	}
	reading := history.Reading{Store: func(name string) release.Store { return r.target(name).Store }, Content: req.ShowContent, Redact: r.redact,
		Learn: func(sets ...[]object.Object) { r.remember(ctx, sets...) }}
	rows := c.Rows()
	each(len(rows), 0, func(i int) { rows[i].Read(ctx, reading) })
	c.Regroup(r.Redactor, r.findings())
	return fleetplan.Unknown(len(c.Unknown()))
}

// findings are those of all targets.
func (r *run) findings() (all diag.Findings) {
	for _, t := range r.targets {
		all = append(all, t.findings...)
	}
	return all
}

// kept is what the selected clusters keep of a bundle, or of all, in the order of the run's targets.
func (e *Engine) kept(ctx context.Context, req Request) (*run, []history.Cluster, error) {
	r, name, err := e.installed(ctx, req)
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
	c := history.Cluster{Name: t.Cluster.Name, Group: t.Cluster.Group, Chosen: t.Facts.Chosen, Unreachable: t.unreachable}
	if t.session != nil {
		var budget release.Budget
		unknown := r.eachRecord(ctx, t, name, func(rec release.Record) {
			k, err := history.Read(ctx, t.Store, rec, &budget)
			if err != nil {
				c.Unknown = r.redact(err.Error())
			}
			c.Bundles = append(c.Bundles, k)
		})
		if c.Unknown = cmp.Or(c.Unknown, unknown); r.strange(t) == nil {
			c.Held = r.waits.Held(ctx, c.Name, t.Store, name, r.owner)
		}
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
		r.unselected = append(r.unselected, t.Record.On(t.Cluster.Name))
	}
	return out
}
