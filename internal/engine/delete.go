package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// end finds what stands against the end of a bundle: others that require it, and objects that no record names.
func (r *run) end(ctx context.Context, fp *Prepared, name string) diag.Findings {
	if fp.Findings.HasErrors() {
		return nil
	}
	requiring := make([]deletionguard.Requiring, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		if t := r.targets[i]; t.Record != nil {
			requiring[i] = deletionguard.Requiring{Cluster: t.Cluster.Name, Bundles: release.Requiring(ctx, t.Store, name, r.req.Among)}
		}
	})
	if fp.Guard = deletionguard.Required(requiring); fp.op().Leave { // deletes nothing
		fp.Guard, fp.Findings = nil, append(fp.Findings, deletionguard.Missed(requiring)...)
	}
	doubts := r.unrecorded(ctx, name, fp.Owner, plan.Options{Deleting: true})
	installed := slices.ContainsFunc(r.targets, func(t *target) bool { return t.Record != nil })
	if !doubts.HasErrors() && !installed && r.stats.Connected > 0 {
		doubts = fleetplan.NotInstalled(name, doubts)
	}
	return doubts
}

// fromRecords is a plan that is made of what the clusters' records say, and of no documents: what the operation wants of them, and what
// stands against that.
func (r *run) fromRecords(ctx context.Context, name string) (*Prepared, error) {
	op := r.req.Operation
	r.reading = r.req.Reads
	fp := &Prepared{run: r, FleetPlan: &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: op.Verb(), Bundle: name, Owner: r.owner(name), Fleet: r.fleetName(),
		Created: r.now(), Clusters: make([]*fleetplan.ClusterPlan, len(r.targets))}}
	works := make([]*work, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		cp := fp.begin(t, i)
		if t.session == nil {
			return
		}
		r.readRecord(ctx, t, fp.Owner)
		t.find(r.whose(t)...)
		s := r.desired(t).NewState(v1alpha1.BundleSpec{Name: name})
		if t.Record != nil {
			s.Depends = t.Record.Depends
		}
		works[i] = &work{ClusterPlan: cp, run: r, target: t, set: s}
		cp.Describe(t.Record, t.Facts.Values, r.redact)
	})
	fp.planned(works)
	fp.Findings = append(fp.Findings, r.findings()...)
	desire := r.goBack
	switch {
	case op.Ends():
		desire = r.end
	case op.Current:
		desire = r.asReleased
	}
	fp.Findings = append(fp.Findings, desire(ctx, fp, name)...)
	o := op.Options(r.req.PlanOptions)
	o.BackTo = fp.RollbackTo.String()
	return r.completed(ctx, fp, o)
}

// installed loads the fleet, and finds out the bundle's name from the request or from the files, and connects.
func (e *Engine) installed(ctx context.Context, req Request) (*run, string, error) {
	name := req.Bundle
	r, err := e.load(ctx, req, req.HasBundles())
	if err != nil {
		return nil, "", err
	}
	if name == "" && req.HasBundles() {
		names, findings := r.bundles()
		if err := findings.Err(); err != nil && len(names) != 1 {
			return nil, "", err
		}
		if len(names) != 1 {
			f := diag.Errorf("which-bundle", "the files hold %d bundles", len(names))
			f.Fix = "name one of them as argument"
			return nil, "", diag.Findings{f}.Err()
		}
		name = names[0]
	}
	// what the other bundles of the files declare may depend on runtime values
	if err := r.connect(ctx, req.Operation.Ends() && req.HasBundles() && r.several(name)); err != nil {
		r.close()
		return nil, "", err
	}
	if req.Bundle == "" && r.program.FormerName() != "" {
		r.formerName(ctx)
		name = r.program.Bundles()[0]
	}
	return r, name, nil
}

// unrecorded finds clusters that have objects of the bundle that no record names, and those where nobody can tell.
func (r *run) unrecorded(ctx context.Context, name, owner string, o plan.Options) diag.Findings {
	found := make([]diag.Findings, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		in := plan.Input{Options: o, Recorded: t.Record != nil, Inventory: t.inventory(), Delivered: r.input.Delivered(t.Cluster.Name, name)}
		if t.session == nil || in.Recorded && (o.RollingBack || len(t.Record.Unseen) == 0) || len(t.findings.Errors()) > 0 {
			return
		}
		found[i] = plan.LostAtDelete(name, in, t.session.Marked(ctx, owner, in.Namespaces()...)).OnCluster(t.Cluster.Name)
	})
	return slices.Concat(found...)
}
