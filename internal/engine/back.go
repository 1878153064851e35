package engine

import (
	"context"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/rollout"
)

// Touched reports whether a cluster has what the rollout brought, whether that ended there or not.
func (l *loop) Touched(cluster string) bool {
	w := l.fp.works[cluster]
	return w != nil && (w.target.signed.Of(l.stamp.Rollout) || w.target.Record.Of(l.stamp.Rollout))
}

// Undo readies a rollback of clusters of a wave that failed, as somebody would ask for who knows of that, or finds what stands against it.
func (l *loop) Undo(ctx context.Context, clusters []string, why string) (passes.Back, diag.Findings) {
	req := l.req
	req.Operation = Operation{Desired: fleetplan.Stored, Undoes: l.stamp.Rollout, Undone: l.stamp.SourceDigest}
	req.Bundle, req.To, req.Message = l.fp.Bundle, "", fmt.Sprintf("release %s failed in %s", l.stamp.Called(), why)
	req.SkipWaves, req.SkipWindows, req.SkipUnreachable = true, true, true
	req.UntilWave, req.ConfirmDelete, req.Among, req.Before = 0, nil, nil, nil
	sub := l.fp.run.again(req, func(cluster string) bool { return slices.Contains(clusters, cluster) })
	if err := sub.connect(ctx, false); err != nil {
		sub.close()
		return nil, diag.From(err, "connect")
	}
	p, err := sub.fromRecords(ctx, req.Bundle)
	if err != nil {
		return nil, diag.From(err, "rollback")
	}
	for name, w := range p.works {
		p.Findings = append(p.Findings, w.target.Record.NotOf(l.stamp.Rollout).OnCluster(name)...)
	}
	p.Schedule = rollout.Undoing(p.Schedule)
	back, err := l.Begin(ctx, p, req)
	return back, append(diag.From(err, "rollback"), back.Blocked...)
}

// To is the release that a rollback goes back to.
func (o *Rollout) To() string { return o.loop.fp.RollbackTo.String() }
