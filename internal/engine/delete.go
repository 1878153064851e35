package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
)

// PlanDelete is the plan with the empty desired set: everything the inventories name goes, waves reversed. The
// bundle is named by the request or by its files; no runtime queries are read and nothing is rendered.
func (e *Engine) PlanDelete(ctx context.Context, req Request) (*Prepared, error) {
	r, name, err := e.installed(ctx, req, true)
	if err != nil {
		return nil, err
	}
	fp := &Prepared{run: r, FleetPlan: &fleetplan.FleetPlan{V: 1, Verb: "delete", Bundle: name, Owner: object.OwnerID("", "", name), Fleet: r.fleetName(),
		Created: e.now(), Clusters: make([]*fleetplan.ClusterPlan, len(r.targets))}}
	found, works := make([]diag.Findings, len(r.targets)), make([]*work, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		cp := fp.begin(t, i)
		if t.session == nil {
			return
		}
		r.readRecord(ctx, t, fp.Owner)
		r.judge(t)
		found[i] = t.findings
		s := &set{owner: fp.Owner, bodies: map[object.Ref]object.Object{}}
		s.spec.Name = name
		if t.record != nil {
			s.depends = t.record.Depends
		}
		works[i] = &work{ClusterPlan: cp, run: r, target: t, set: s}
		cp.Describe(t.record, t.facts.Values, r.redact)
	})
	doubts := r.lostAtDelete(ctx, name, fp.Owner)
	fp.planned(works)
	installed := 0
	for i, w := range works {
		fp.Findings = append(fp.Findings, found[i]...)
		if w != nil && w.target.record != nil {
			installed++
		}
	}
	if err := fp.Findings.Err(); err != nil {
		r.close()
		return nil, err
	}
	if !doubts.HasErrors() && installed == 0 && r.stats.Connected > 0 {
		doubts = plan.NotInstalled(name, doubts)
	}
	if err := doubts.Err(); err != nil {
		r.close()
		return nil, err
	}
	fp.Findings = append(fp.Findings, doubts...)
	r.computeAll(ctx, fp, plan.Options{Deleting: true, LetUnserved: req.LetUnserved, NoHooks: req.NoHooks})
	if err := ctx.Err(); err != nil {
		r.close()
		return nil, err
	}
	fp.Schedule = rollout.Reversed(fp.Schedule)
	fp.Order()
	return fp, nil
}

// installed loads the fleet, and finds out the bundle's name from the request or from the files, and connects.
func (e *Engine) installed(ctx context.Context, req Request, deleting bool) (*run, string, error) {
	name := req.Bundle
	r, err := e.loadFor(ctx, req, len(req.Files) > 0, deleting)
	if err != nil {
		return nil, "", err
	}
	if name == "" && len(req.Files) > 0 {
		for _, t := range r.targets {
			t.facts = r.offlineFacts(t.cluster)
		}
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
	if err := r.connect(ctx, deleting && len(req.Files) > 0 && r.several(name)); err != nil {
		r.close()
		return nil, "", err
	}
	if req.Bundle == "" && r.program.FormerName() != "" {
		r.formerName(ctx)
		name = r.program.Bundles()[0]
	}
	return r, name, nil
}

// lostAtDelete finds clusters that have objects of the bundle that no record names, and those where nobody can tell.
func (r *run) lostAtDelete(ctx context.Context, name, owner string) diag.Findings {
	found := make([]diag.Findings, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		in := plan.Input{Recorded: t.record != nil, Owned: t.inventory(), Delivered: r.lock.Delivered(r.fleetName(), t.cluster.Name, name)}
		if t.session == nil || in.Recorded && len(t.record.Unseen) == 0 || len(t.findings.Errors()) > 0 {
			return
		}
		found[i] = plan.LostAtDelete(name, in, t.session.Marked(ctx, owner, in.Namespaces()...)).OnCluster(t.cluster.Name)
	})
	return slices.Concat(found...)
}
