package desired

import (
	"context"
	"crypto/rand"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/valuerefs"
)

// Reopen puts stand-ins in for everything that these instances take of others, and renders them with those. What was found in the state before is
// not told again, errors apart.
func (r Resolver) Reopen(ctx context.Context, s *State, instances []string) diag.Findings {
	var findings diag.Findings
	told := s.told
	for _, p := range s.Renders {
		if slices.Contains(instances, p.Placed.Name) {
			findings = append(findings, r.Bind(ctx, s, p, true)...)
		}
	}
	if findings.HasErrors() {
		return findings
	}
	findings = append(findings, r.Render(ctx, s)...)
	return slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity != diag.Error && slices.ContainsFunc(told, f.Equal) })
}

// tried renders a part. Where that fails with what stands in for references that are known when a bundle is done, it is rendered with the references
// as they are written, which is what the part has of them then.
func (r Resolver) tried(ctx context.Context, p *InstanceRender) (render.Result, error) {
	res, _, err := r.Memo.Render(redact.With(ctx, r.Redactor), p.Renderer, p.Request)
	if err != nil && ctx.Err() == nil && r.StandIns {
		if own, ok := r.withOwn(ctx, p); ok {
			return own, nil
		}
	}
	if err == nil || ctx.Err() != nil || len(valuerefs.Unknown(nil, p.Refs)) == 0 {
		return res, err
	}
	q := *p
	q.Instance.Values, q.Refs = bind.Written(p.Instance.Values, p.Refs)
	q.Request.Instance = q.Instance
	again, _, failed := r.Memo.Render(redact.With(ctx, r.Redactor), q.Renderer, q.Request)
	if failed == nil {
		failed = r.rekey(ctx, &q)
	}
	if failed != nil {
		return res, err
	}
	*p = q
	return again, nil
}

// withOwn renders a part, which failed with references in their own place, with what its source has there itself; false where that does not help.
func (r Resolver) withOwn(ctx context.Context, p *InstanceRender) (render.Result, bool) {
	ctx = redact.With(ctx, r.Redactor)
	q := *p
	var refs []bind.From
	if q.Instance.Values, refs = bind.OwnTexts(p.Instance.Values, p.Refs, r.own(ctx, p)); len(refs) == 0 {
		return render.Result{}, false
	}
	q.Request.Instance = q.Instance
	res, _, err := r.Memo.Render(ctx, q.Renderer, q.Request)
	if err != nil || r.rekey(ctx, &q) != nil {
		return render.Result{}, false
	}
	*p = q
	res.Findings = slices.Concat(res.Findings, withInstance(diag.Findings{bind.OwnStandsIn(refs)}, p.Instance))
	return res, true
}

// Doubtful are findings with one warning for each instance instead of the errors that may come of what stands in for its references, where that was
// wanted: whole says what does not do, with %s for the instance, undone what is not checked then.
func (r Resolver) Doubtful(s *State, fs diag.Findings, whole, undone string) diag.Findings {
	for _, p := range s.Renders {
		if r.StandIns {
			fs = bind.Doubtful(fs, p.Placed, p.Refs, whole, undone)
		}
	}
	return fs
}

// unknown marks what an instance's objects have of values that are open (all), by rendering it with other stand-ins, and with
// something else made up where it makes anything up. What its schema does not let be otherwise (a preview among few allowed values) stays
// as it is, while the others are otherwise, part by part (bind.Parts); of that, it is found where the stand-ins are seen. Texts are numbers once more,
// for charts that take them as such.
func (r Resolver) unknown(ctx context.Context, p *InstanceRender, all []bind.From, res render.Result) render.Result {
	other := p.Request
	makes := res.Open > 0
	if makes { // with a placeholder in both, what is computed of it would look certain
		other.Chance = r.source(&Made{id: rand.Text()})
	}
	was := bind.Taken(p.Instance.Values, all)
	var seconds []render.Result
	var values []v1alpha1.Values
	with := func(ways []v1alpha1.Values) bool {
		for _, other.Instance.Values = range ways {
			if second, _, err := r.Memo.Render(redact.With(ctx, r.Redactor), p.Renderer, other); err == nil {
				res.Objects = bind.Unknown(res.Objects, second.Objects, all)
				seconds, values = append(seconds, second), append(values, other.Instance.Values)
				return true
			}
		}
		return false
	}
	refused, untried := bind.Parts(all, func(part []bind.From) bool { return ctx.Err() == nil && with(bind.Others(p.Instance.Values, part)) })
	texts := bind.Texts(all)
	again, _ := bind.Parts(texts, func(part []bind.From) bool { return ctx.Err() == nil && with(bind.Numbers(p.Instance.Values, part)) })
	if makes && len(seconds) == 0 {
		with([]v1alpha1.Values{p.Instance.Values})
	}
	refused = bind.Without(refused, bind.Without(texts, again))
	res.Objects = bind.Seen(res.Objects, refused)
	if untried = bind.Without(untried, bind.Without(texts, again)); len(untried) > 0 {
		res.Findings = slices.Concat(res.Findings, withInstance(diag.Findings{bind.Untried(len(untried), all)}, p.Instance))
	}
	if len(p.Open) > 0 {
		return res
	}
	var decided []string
	for i, second := range seconds {
		decided = append(decided, staleplan.Decided(res.Objects, second.Objects, was, bind.Taken(values[i], all))...)
	}
	if slices.Sort(decided); len(decided) > 0 {
		res.Findings = slices.Concat(res.Findings, withInstance(diag.Findings{bind.Decides(slices.Compact(decided), all)}, p.Instance))
	}
	return res
}

// Moved are the instances that take a value of another one which is not what the state was made with any more.
func (r Resolver) Moved(ctx context.Context, s *State) ([]string, diag.Findings) {
	refs := r.Givers(s)
	var moved []string
	var findings diag.Findings
	for _, p := range s.Renders {
		if len(p.Open) > 0 || len(s.Takes[p.Placed.Name]) == 0 {
			continue
		}
		for _, f := range s.Takes[p.Placed.Name] {
			r.Forget(f, refs.Object(f))
		}
		again := *p
		if fs := r.Bind(ctx, s, &again, false); fs.HasErrors() {
			findings = append(findings, fs.Errors()...)
		} else if again.Key != p.Key {
			moved = append(moved, p.Placed.Name)
		}
	}
	return moved, findings
}

// Relearn gives the instances that are the same with the kinds that the run itself brought, or took away, those for inputs, and their hooks' states
// with them: else the next run would have to learn them.
func (r Resolver) Relearn(ctx context.Context, s *State, states map[string]plan.HookState) {
	for _, p := range s.Renders {
		again, now := *p, r.NewState(s.Spec)
		if p.Renderer == nil || r.Bind(ctx, s, &again, false).HasErrors() || again.Key == p.Key || r.RenderInstances(ctx, now, []*InstanceRender{&again}).HasErrors() {
			continue
		}
		if name := p.Placed.Name; plan.SameDeclared(name, s.Desired, now.Desired) {
			plan.Rekey(states, name, p.Key, again.Key)
			p.Key = again.Key
		}
	}
}

// Unrendered are the instances taken from the record of which a plan writes objects.
func (s *State) Unrendered(changes []plan.Change) []*InstanceRender {
	need := map[string]bool{}
	for _, ch := range changes {
		if _, ok := s.Bodies[ch.Ref]; !ok && ch.Action != plan.Delete && ch.Action != plan.Release {
			need[ch.Instance] = true
		}
	}
	var out []*InstanceRender
	for _, p := range s.Renders {
		if p.Recorded && need[p.Instance.Name] {
			out = append(out, p)
		}
	}
	return out
}

// RenderRecorded renders instances taken from the record. Equal inputs must give equal objects; anything else is an error of the renderer and
// refused.
func (r Resolver) RenderRecorded(ctx context.Context, s *State, renders []*InstanceRender) diag.Findings {
	if len(renders) == 0 {
		return nil
	}
	late := &State{Spec: s.Spec, Owner: s.Owner, Bodies: s.Bodies}
	findings := r.RenderInstances(ctx, late, renders)
	for _, p := range renders {
		p.Recorded = false
	}
	return append(findings, render.Deterministic(s.Desired, late.Desired)...)
}
