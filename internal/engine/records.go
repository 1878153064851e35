package engine

import (
	"cmp"
	"context"

	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
)

// TendRecords does what the report's verb says with the records of its bundle on the selected clusters, after confirm has seen what there is.
// from has the fleet whose store records are moved from, nil for the clusters' own.
func (e *Engine) TendRecords(ctx context.Context, req Request, about *recordkeeping.Report, from input.Source, confirm func() error) error {
	r, name, err := e.installed(ctx, req)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.findings().Err(); err != nil { // a cluster that is another one than is known
		return err
	}
	former, owner := e.Records(nil, nil), r.owner(name)
	if from != nil {
		req.Documents = from
		other, err := e.load(ctx, req, false)
		if err != nil {
			return err
		}
		former = other.open
	}
	about.Clusters = make([]recordkeeping.Row, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		about.Clusters[i] = recordkeeping.Row{Cluster: t.Cluster.Name, Unreachable: t.unreachable}.Look(ctx, about.Verb, owner, t.Store, func() release.Store { return former(t.session, t.Cluster.Name) }, recordkeeping.Target{Name: t.Cluster.Name, Identity: t.Facts.Identity(), Fleet: r.fleet, Accepted: r.accepts(t.Cluster.Name)})
	})
	if err := confirm(); err != nil {
		return err
	}
	each(len(r.targets), 0, func(i int) { about.Clusters[i].Do(ctx, about.Verb, owner, cmp.Or(req.Author, "hawser"), lockTTL) })
	return about.Verdict()
}
