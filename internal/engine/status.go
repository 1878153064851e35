package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Status reads records and live objects of one bundle (or of every bundle, when none is named) on the selected
// clusters. It reads no runtime values and renders nothing. The error wraps ErrNotReady when anything is not ready,
// ErrPartial when a cluster did not answer.
func (e *Engine) Status(ctx context.Context, req Request) (*StatusReport, error) {
	r, name, err := e.installed(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	report := &StatusReport{V: 1, Bundle: name}
	rows := make([][]ClusterStatus, len(r.targets))
	each(len(r.targets), 0, func(i int) { rows[i] = r.statusOf(ctx, r.targets[i], name) })
	unknown, bad, found := 0, 0, 0
	for i, t := range r.targets {
		report.Findings = append(report.Findings, t.findings...)
		for _, row := range rows[i] {
			report.Clusters = append(report.Clusters, row)
			switch {
			case row.Unreachable != "":
				unknown++
			case row.Bundle != "":
				found++
			}
			if !row.ready() {
				bad++
			}
		}
	}
	report.Findings = report.Findings.Sorted()
	switch {
	case report.Findings.HasErrors():
		return report, report.Findings.Err()
	case unknown > 0:
		return report, fmt.Errorf("%d clusters did not answer: %w", unknown, ErrPartial)
	case bad > 0:
		return report, ErrNotReady
	case found == 0 && name != "":
		f := diag.Errorf("not-installed", "bundle %s is not installed on any selected cluster", name)
		f.Fix = "status without a name shows every bundle"
		report.Findings = append(report.Findings, f)
		return report, diag.Findings{f}.Err()
	}
	return report, nil
}

func (s ClusterStatus) ready() bool {
	if s.Unreachable != "" {
		return false
	}
	if s.Bundle != "" && !release.Phase(s.Phase).Complete() {
		return false
	}
	for _, in := range s.Instances {
		if in.State != string(health.Ready) {
			return false
		}
	}
	return true
}

func (r *run) statusOf(ctx context.Context, t *target, name string) []ClusterStatus {
	base := ClusterStatus{Cluster: t.cluster.Name, Group: t.cluster.Group, Server: t.facts.Server, Unreachable: t.unreachable}
	if t.session == nil {
		return []ClusterStatus{base}
	}
	var records []release.Record
	if name == "" {
		var err error
		if records, err = t.store.Bundles(ctx); err != nil {
			t.find(diag.From(err, "record")...)
		}
	} else {
		r.readRecord(ctx, t, object.OwnerID("", "", name))
		if t.record != nil {
			records = []release.Record{*t.record}
		}
	}
	if len(records) == 0 {
		return []ClusterStatus{base}
	}
	var rows []ClusterStatus
	for _, rec := range records {
		row := base
		row.Bundle, row.Revision, row.Phase, row.Head = rec.Bundle, rec.Revision, string(rec.Phase), rec.Head
		row.Applied, row.Author = rec.Finished, rec.Author
		row.Instances = r.instances(ctx, t, rec)
		rows = append(rows, row)
	}
	return rows
}

// instances are the states of a record's instances: health and drift of everything its inventory names.
func (r *run) instances(ctx context.Context, t *target, rec release.Record) []InstanceStatus {
	rules := map[string]health.Rules{}
	for _, o := range rec.Inventory {
		rules[o.Instance] = health.Rules{Checks: rec.Checks[o.Instance], Checker: r.Checker}
	}
	rec.Inventory = slices.DeleteFunc(slices.Clone(rec.Inventory), func(o plan.Owned) bool { return o.Hook != nil })
	states, fs := t.session.Health(ctx, rec.Owner, rec.Inventory, rules)
	t.find(fs...)
	t.find(r.hideInStatus(ctx, t, rec, states)...)
	obs, fs := t.session.Observe(ctx, cluster.ObserveRequest{Owner: rec.Owner, Owned: rec.Inventory})
	t.find(fs...)
	byName := map[string]*InstanceStatus{}
	var order []string
	for _, o := range rec.Inventory {
		in := byName[o.Instance]
		if in == nil {
			in = &InstanceStatus{Instance: o.Instance, Source: rec.Sources[o.Instance], State: string(health.Ready),
				Suspended: slices.Contains(rec.Suspended, o.Instance)}
			byName[o.Instance] = in
			order = append(order, o.Instance)
		}
		st := ObjectStatus{Object: o.Ref, Status: states[o.Ref]}
		live := obs.Live[o.Ref]
		if !live.Found {
			st.Status = health.Status{State: health.Missing, Reason: "not in the cluster"}
		} else if live.Terminating {
			st.Status = health.Status{State: health.Terminating, Reason: "is being deleted"}
			if len(live.Finalizers) > 0 {
				st.Status.Reason += ", held by finalizer " + strings.Join(live.Finalizers, ", ")
			}
		} else if live.ResourceVersion != o.ResourceVersion && live.Own != o.Own && !o.Once && !live.Yielded {
			st.Drifted, st.By = true, live.Foreign
		}
		in.Objects = append(in.Objects, st)
		in.State = health.Worse(in.State, st.Status.State, st.Drifted, o.NoWait)
	}
	slices.Sort(order)
	out := make([]InstanceStatus, 0, len(order))
	for _, n := range order {
		out = append(out, *byName[n])
	}
	return out
}
