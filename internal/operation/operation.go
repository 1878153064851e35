// Package operation does one thing to several bundles of one set of files: all are planned before the first write of any, and
// then each has its turn, after those it requires.
//
// operation must not know how a plan is made, carried out, shown or confirmed.
package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
)

// Plans makes plans: the engine.
type Plans interface {
	// Plan is the plan of the request's operation; its findings say what blocks it.
	Plan(ctx context.Context, req engine.Request) (*engine.Prepared, error)
}

// Planner makes plans, anew too, and carries them out: the engine.
type Planner interface {
	Plans
	// Renew is the plan made anew when those before it (Request.Written) were carried out; it refuses where that does something
	// else than the one that was shown.
	Renew(ctx context.Context, shown *engine.Prepared, req engine.Request) (*engine.Prepared, error)
	// Apply carries a plan out; the outcome is there also beside an error, unless nothing was begun.
	Apply(ctx context.Context, p *engine.Prepared, req engine.Request) (*fleetplan.Outcome, error)
}

// Bundle is one bundle's part of a run.
type Bundle struct {
	// Name is empty where the files have but one.
	Name    string
	Request engine.Request
	// Plan is nil where there is an Err instead.
	Plan *engine.Prepared
	Err  error
	// Ended: the bundle had its turn, or it cannot have one; Done: it was carried out, or had nothing to do.
	Ended, Done bool
	wrote       bool
	waits       string // for what, where it was not done and did not fail
}

// Bundles are those of a run, in the order in which they have their turns.
type Bundles []*Bundle

// Several reports that a command refused to choose among several bundles.
func Several(err error) bool {
	return slices.ContainsFunc(diag.From(err, ""), func(f diag.Finding) bool { return f.Code == place.CodeWhich })
}

// Names are the bundles that a request stands for, none where it is for the one it names, or for the only one: names tells
// those of the files, and is asked when refused, what a command said to the request, is that it does not choose.
func Names(ctx context.Context, req engine.Request, refused error, names func(context.Context, engine.Request) ([]string, error)) []string {
	if req.Bundle != "" || names == nil || !Several(refused) {
		return nil
	}
	all, err := names(ctx, req)
	if err != nil || len(all) < 2 {
		return nil
	}
	return all
}

// Plan plans every bundle that a request stands for, each with what those before it bring; nothing is written. What went
// wrong stands beside each bundle. A number of deletions that was confirmed is that of all of them.
func Plan(ctx context.Context, p Planner, req engine.Request, names func(context.Context, engine.Request) ([]string, error)) Bundles {
	first := &Bundle{Name: req.Bundle, Request: req}
	first.Plan, first.Err = p.Plan(ctx, req)
	all := Names(ctx, req, first.Err, names)
	if len(all) == 0 {
		return Bundles{first}
	}
	var out Bundles
	for _, name := range all {
		b := &Bundle{Name: name, Request: req}
		b.Request.Bundle, b.Request.Among, b.Request.ConfirmDelete, b.Request.Before = name, all, nil, out.byName()
		b.Plan, b.Err = p.Plan(ctx, b.Request)
		if out = append(out, b); ctx.Err() != nil {
			break
		}
	}
	if out.alike() {
		return Bundles{{Name: req.Bundle, Request: req, Err: out[0].Err}}
	}
	out.confirm(req.ConfirmDelete)
	return out
}

// alike reports whether all have one and the same mistake: it is one of the files, or of what all of them need, and told once.
func (bs Bundles) alike() bool {
	return !slices.ContainsFunc(bs, func(b *Bundle) bool { return !Alike(b.Err, bs[0].Err) })
}

// Alike reports whether two errors say the same; no error is like none.
func Alike(a, b error) bool {
	return a != nil && b != nil && exitcode.Of(a) == exitcode.Of(b) && slices.EqualFunc(said(a), said(b), diag.Finding.Equal)
}

// said is what an error says, in one order.
func said(err error) diag.Findings {
	if r, ok := errors.AsType[*fleetplan.RefusedError](err); ok {
		return r.Findings.Sorted()
	}
	return diag.From(err, "error").Sorted()
}

// Delete plans the deletion of every bundle that a request stands for: where the files hold several, those that require others
// first. One that is nowhere is no mistake then, as a run that was interrupted may have deleted it. A number of deletions that was
// confirmed is that of all of them.
func Delete(ctx context.Context, d Plans, req engine.Request, names func(context.Context, engine.Request) ([]string, error)) Bundles {
	first := One(req, func(req engine.Request) (*engine.Prepared, error) { return d.Plan(ctx, req.For(engine.Delete)) })
	all := Names(ctx, req, first[0].Err, names)
	if len(all) == 0 {
		return first
	}
	number := req.ConfirmDelete
	req.ConfirmDelete = nil
	out := Deletions(ctx, d, req, all)
	if out.alike() {
		return Bundles{{Name: req.Bundle, Request: req, Err: out[0].Err}}
	}
	out = out.present()
	out.confirm(number)
	return out
}

// One is the run of the one bundle that a request names.
func One(req engine.Request, plan func(engine.Request) (*engine.Prepared, error)) Bundles {
	p, err := plan(req)
	return Bundles{{Name: req.Bundle, Request: req, Plan: p, Err: err}}
}

// present leaves out the bundles that are known to be nowhere, and says so; all stay where none is anywhere.
func (bs Bundles) present() Bundles {
	var out Bundles
	var gone diag.Findings
	for _, b := range bs {
		// the engine's error: nothing is computed where something stands against the plan
		if no := diag.From(b.Err, "").Errors(); len(no) == 1 && no[0].Code == fleetplan.CodeNotInstalled && no[0].Why == "" {
			no[0].Severity = diag.Info
			gone = append(gone, no[0])
			continue
		}
		out = append(out, b)
	}
	if len(out) == 0 {
		return bs
	}
	if plans := out.plans(); len(plans) > 0 {
		plans[0].Findings = append(plans[0].Findings, gone...)
	}
	return out
}

// Deletions plans the deletion of bundles, each of which goes before those that it requires: names has them the other way
// round. Nothing is written.
func Deletions(ctx context.Context, d Plans, req engine.Request, names []string) Bundles {
	var out Bundles
	for _, name := range slices.Backward(names) {
		b := &Bundle{Name: name, Request: req}
		b.Request.Bundle, b.Request.Among, b.Request.Before = name, names, out.byName()
		b.Plan, b.Err = d.Plan(ctx, b.Request.For(engine.Delete))
		out = append(out, b)
	}
	return out
}

// Reviewed asks, before the first of several bundles is begun, whether the others could be: what rights are missing for them, and
// who is at work on them. Where one before grants rights, they are known only then.
func (bs Bundles) Reviewed(ctx context.Context) error {
	var findings diag.Findings
	grants := false
	for i, b := range bs {
		if i > 0 && !grants {
			findings = append(findings, b.Plan.Reviewed(ctx)...)
		}
		grants = grants || b.Plan.Grants()
	}
	if len(findings) > 0 {
		bs.Close()
		return &fleetplan.RefusedError{Findings: findings}
	}
	return nil
}

// confirm compares the number of deletions of all plans with the one that was given, nil for none.
func (bs Bundles) confirm(number *int) {
	var planned Bundles
	var plans []*fleetplan.FleetPlan
	for _, b := range bs {
		if b.Plan != nil {
			planned, plans = append(planned, b), append(plans, b.Plan.FleetPlan)
		}
	}
	each := fleetplan.Confirm(plans, number)
	if len(planned) == len(bs) {
		bs[0].Plan.Findings = append(bs[0].Plan.Findings, fleetplan.Miscounted(plans, number)...)
	}
	for i, b := range planned {
		if number != nil {
			b.Request.ConfirmDelete = &each[i]
		}
	}
}

// plans are those there are.
func (bs Bundles) plans() []*engine.Prepared {
	var out []*engine.Prepared
	for _, b := range bs {
		if b.Plan != nil {
			out = append(out, b.Plan)
		}
	}
	return out
}

// byName are they by their bundles' names.
func (bs Bundles) byName() map[string]*engine.Prepared {
	out := map[string]*engine.Prepared{}
	for _, p := range bs.plans() {
		out[p.Bundle] = p
	}
	return out
}

// Counts sums what all plans do.
func (bs Bundles) Counts() plan.Counts {
	var c plan.Counts
	for _, p := range bs.plans() {
		c = c.Add(p.Counts())
	}
	return c
}

// Destroys says what a plan with these counts does that no yes of Timoni's flags covers, and why.
func Destroys(c plan.Counts) string {
	var out []string
	for _, d := range []struct {
		count     int
		verb, why string
	}{
		{c.Delete, "delete", "Timoni keeps what leaves a bundle, Hawser prunes it"},
		{c.Adopt, "adopt", "--overwrite-ownership takes over what others have"},
		{c.Recreate, "recreate", "--force deletes what cannot be changed in place, with what it holds, and creates it again"},
	} {
		if d.count > 0 {
			out = append(out, fmt.Sprintf("%d to %s (%s)", d.count, d.verb, d.why))
		}
	}
	return strings.Join(out, "; ")
}

// Close ends what the plans hold open of which none is applied.
func (bs Bundles) Close() {
	for _, p := range bs.plans() {
		p.Close()
	}
}

// Waits says why a bundle cannot have its turn, "" when it can: stopped, or one that it requires was not done.
func (bs Bundles) Waits(b *Bundle, stop <-chan struct{}) string {
	select {
	case <-stop:
		return "the run was interrupted"
	default:
	}
	undone := map[string]string{}
	for _, other := range bs {
		if !other.Ended || other.Done {
			continue
		}
		if undone[other.Name] = cmp.Or(other.waits, "was not done"); b.Plan.Verb == "delete" { // each goes before those that it requires
			return other.Name + " " + cmp.Or(other.waits, "was not deleted")
		}
	}
	return b.Plan.Ready(undone)
}

// NotBegun ends a bundle that has no turn; the outcome says so.
func (b *Bundle) NotBegun(why string) *fleetplan.Outcome {
	b.Ended = true
	b.Plan.Close()
	return b.Plan.NotBegun(why)
}

// Turn makes a bundle's plan ready to be applied when its turn has come: the one that was shown, or, when others wrote since it
// was made, or something stands in it for what they were to write, one that does the same. An error ends the bundle's turn.
func (bs Bundles) Turn(ctx context.Context, p Planner, b *Bundle) error {
	before, wrote := Bundles{}, false
	for _, other := range bs {
		if other == b {
			break
		}
		before, wrote = append(before, other), wrote || other.wrote
	}
	if !wrote && !b.Plan.Awaits() || b.Plan.Verb == "drift" { // what its record declares is the same, whatever others wrote
		return nil
	}
	for _, p := range before.plans() {
		b.Request.Written = append(b.Request.Written, p.FleetPlan)
	}
	renewed, err := p.Renew(ctx, b.Plan, b.Request)
	if err != nil {
		b.Ended, b.Err = true, err
		return err
	}
	b.Plan = renewed
	return nil
}

// Apply carries a bundle's plan out.
func (b *Bundle) Apply(ctx context.Context, p Planner) (*fleetplan.Outcome, error) {
	out, err := p.Apply(ctx, b.Plan, b.Request)
	b.Ended, b.Done, b.Err = true, err == nil, err
	if err != nil {
		b.waits = out.Waits(b.Plan.Schedule)
	}
	b.wrote = out != nil && out.Result != fleetplan.UpToDate && !errors.Is(err, fleetplan.ErrRefused)
	return out, err
}

// Where says on how many clusters something is done, or the name of the only one.
func (b Bundles) Where() string {
	var names []string
	for _, one := range b {
		for _, c := range one.Plan.Clusters {
			if c.Does(one.Request.Wait) && !slices.Contains(names, c.Cluster) {
				names = append(names, c.Cluster)
			}
		}
	}
	if len(names) == 1 {
		return "cluster " + names[0]
	}
	return fmt.Sprintf("%d clusters", len(names))
}
