package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/staleplan"
)

// late are the instances with stand-ins for values.
func (s *set) late() map[string]string {
	out := map[string]string{}
	for _, p := range s.parts {
		if len(p.late) > 0 {
			out[p.placed.Name] = join(p.late)
		}
	}
	return out
}

// taken are the objects that values are taken from, by the instance that takes them.
func (w *work) taken() map[string][]plan.Source {
	out := map[string][]plan.Source{}
	for _, p := range w.set.parts {
		name := p.placed.Name
		for _, f := range w.set.takes[name] {
			if f.Instance == "" {
				continue
			}
			out[name] = append(out[name], plan.Source{Instance: f.Instance, Object: w.target.wants(w.set, f).ref})
		}
	}
	return out
}

// uncertain are the instances whose values are not certain while the plan is not carried out, with the reason.
func (r *run) uncertain(ctx context.Context, w *work, p *plan.Plan) map[string]string {
	open := map[object.Ref]bool{}
	for _, part := range w.set.parts {
		if len(part.late) == 0 {
			continue
		}
		for _, f := range w.set.takes[part.placed.Name] {
			if f.Instance == "" {
				continue
			}
			if x, _ := r.taken(ctx, w.target, w.set, part.placed.Name, f); x == nil {
				open[w.target.wants(w.set, f).ref] = true
			}
		}
	}
	return plan.Uncertain(p, w.taken(), func(ref object.Ref) bool { return !open[ref] })
}

// reopen puts stand-ins into the late instances that have none yet, and renders them with those.
func (r *run) reopen(ctx context.Context, w *work, late map[string]string) diag.Findings {
	var findings diag.Findings
	for _, p := range w.set.parts {
		if late[p.placed.Name] != "" && len(p.late) == 0 {
			findings = append(findings, r.fillIn(ctx, w.target, w.set, p, true)...)
		}
	}
	if findings.HasErrors() {
		return findings
	}
	return append(findings, r.fill(ctx, w.target, w.set)...)
}

// missing finds values that will not come by themselves: the object is there as declared and does not hold them.
func (r *run) missing(ctx context.Context, w *work) diag.Findings {
	moving := w.input.Moving()
	var findings diag.Findings
	for _, p := range w.set.parts {
		if len(p.late) == 0 {
			continue
		}
		for _, f := range w.set.takes[p.placed.Name] {
			if f.Instance == "" || moving[w.target.wants(w.set, f).ref] {
				continue
			}
			if _, n := r.taken(ctx, w.target, w.set, p.placed.Name, f); n != nil {
				n.Instance, n.Path = p.placed.Name, "values."+n.Path
				findings = append(findings, *n)
			}
		}
	}
	return findings
}

// mark tells of every change which values it waits for.
func (s *set) mark(p *plan.Plan) {
	for i := range p.Changes {
		ch := &p.Changes[i]
		if ch.Action == plan.Delete || ch.Action == plan.Release {
			continue
		}
		ch.After = s.standsIn(ch.Ref)
	}
}

// standsIn are the instances whose values an object has stand-ins for.
func (s *set) standsIn(ref object.Ref) []string {
	body, ok := s.bodies[ref]
	if !ok {
		return nil
	}
	for _, p := range s.parts {
		if p.placed.Name == body.Instance && len(p.late) > 0 && (body.Unknown || bind.Holds(body.Body, s.takes[body.Instance])) {
			return p.late
		}
	}
	return nil
}

// unknown marks what an instance's objects have of values that are open, by rendering it with other stand-ins, and with
// something else made up where it makes anything up. Where that cannot be, it is found where the stand-ins are seen.
func (r *run) unknown(ctx context.Context, p *part, objs []object.Object, makes bool) []object.Object {
	other := p.request
	if makes { // with a placeholder in both, what is computed of it would look certain
		other.Chance = r.source(&made{id: rand.Text()})
	}
	other.Instance.Values = bind.Otherwise(p.instance.Values, p.open)
	second, _, err := r.memo.Render(r.secretly(ctx), p.renderer, other)
	if err != nil {
		return objs
	}
	return bind.Unknown(objs, second.Objects, p.open)
}

// steps carries a cluster's plan out: at once, or, where values are known only when others have been written, in as
// many steps as they need. Each step does at most what was shown.
func (l *loop) steps(ctx context.Context, w *work, record *release.Record) cluster.ExecuteResult {
	var names []string
	for _, p := range w.set.parts {
		names = append(names, p.placed.Name)
	}
	levels := plan.Levels(names, w.set.depends, w.taken(), w.set.late())
	steps := max(len(levels), 1)
	end := l.now().Add(l.req.timeout())
	var total cluster.ExecuteResult
	now := w.Plan
	for n := range steps {
		if n > 0 {
			var problem *cluster.Problem
			if now, problem = l.advance(ctx, w, levels, n, end); problem != nil {
				total.Problems = append(total.Problems, *problem)
			} else {
				record.Hooks = plan.Merge(record.Hooks, now.HookStates, levels[n])
			}
		}
		if len(total.Problems) == 0 {
			done := l.execute(ctx, w, plan.Step(now, levels, n), record, total.Done, max(end.Sub(l.now()), time.Second))
			total = total.Then(done)
			if len(levels) > 0 {
				w.lives = plan.Merge(w.Plan.Staying(w.known(plan.Options{}).HookStates), done.HookStates, levels[n])
			}
			record.Inventory, record.Hooks, w.inventory = done.Inventory, done.HookStates, done.Inventory
		}
		if total.OK() && !l.stopped() {
			continue
		}
		total.Cancelled = total.Cancelled || n+1 < steps && l.stopped()
		total.NotStarted = append(total.NotStarted, cluster.NotBegun(w.Plan, levels, n+1, total.Problems)...)
		break
	}
	total.Inventory, total.HookStates = record.Inventory, record.Hooks
	return total
}

func (l *loop) stopped() bool {
	select {
	case <-l.req.Stop:
		return true
	default:
		return false
	}
}

// advance makes the plan of the next step: the values are put in, the instances rendered, and what is to be done is
// compared with what was shown.
func (l *loop) advance(ctx context.Context, w *work, levels [][]string, n int, end time.Time) (*plan.Plan, *cluster.Problem) {
	r := l.fp.run
	var findings diag.Findings
	for _, p := range w.set.parts {
		if len(p.late) == 0 || !slices.Contains(levels[n], p.placed.Name) {
			continue
		}
		for _, f := range w.set.takes[p.placed.Name] {
			if f.Instance == "" {
				continue
			}
			if problem := l.await(ctx, w, p, f, end); problem != nil {
				return nil, problem
			}
		}
		findings = append(findings, r.fillIn(ctx, w.target, w.set, p, false)...)
	}
	if !findings.HasErrors() {
		findings = append(findings, r.fill(ctx, w.target, w.set)...)
	}
	if err := findings.Errors(); len(err) > 0 {
		return nil, cluster.ProblemOf(err[0], object.Ref{})
	}
	o := w.input.Options // what was decided with the plan holds for what comes late, too
	o.Diff = false
	p, findings := r.compute(ctx, w, o)
	w.set.mark(p)
	shown := staleplan.Allows(w.Plan, plan.Step(p, levels, n))
	if err := slices.Concat(findings, p.Findings, shown, r.remade(w, p, levels[n]...)).Errors(); len(err) > 0 {
		return nil, cluster.ProblemOf(err[0], object.Ref{})
	}
	if err := l.keep(ctx, w); err != nil {
		return nil, cluster.ProblemOf(diag.From(err, "kept")[0], object.Ref{})
	}
	return p, nil
}

// await reads a value that another instance gives, and waits for one that somebody has yet to make: until the run's end,
// and at most for the instance's own time.
func (l *loop) await(ctx context.Context, w *work, p *part, f bind.From, end time.Time) *cluster.Problem {
	if d := p.placed.Timeout.Duration; d > 0 && l.now().Add(d).Before(end) {
		end = l.now().Add(d)
	}
	t := w.target
	want := t.wants(w.set, f)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		t.forget(want)
		x, n := l.fp.run.taken(ctx, t, w.set, p.placed.Name, f)
		if x != nil {
			return nil
		}
		if n == nil && w.set.mayCome(want, f) && l.now().Before(end) && ctx.Err() == nil && !l.stopped() {
			if pause == 100*time.Millisecond {
				l.emit(fleetplan.Event{Type: fleetplan.EventWaiting, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: w.Wave, Cluster: w.Cluster,
					Instance: p.placed.Name, Object: &want.ref, Message: fmt.Sprintf("%s takes its %s", p.placed.Name, f.Path)})
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			case <-l.req.Stop:
			}
			continue
		}
		if n == nil {
			n = l.absent(ctx, t, want, p, f)
		}
		n.Instance, n.Cluster, n.Path = p.placed.Name, w.Cluster, "values."+n.Path
		return cluster.ProblemOf(*n, want.ref)
	}
}

// absent says why a value has not come.
func (l *loop) absent(ctx context.Context, t *target, want wanted, p *part, f bind.From) *diag.Finding {
	body, err := t.look(ctx, want)
	if err == nil {
		if _, n := l.fp.run.reader.Object(p.placed.Name, f, body); n != nil {
			return n
		}
	}
	return f.Absent(want.ref.String(), p.placed.Name)
}

// unmoved checks under the lock that values taken from other instances are what the plan was made with.
func (r *run) unmoved(ctx context.Context, w *work) diag.Findings {
	var findings diag.Findings
	for _, p := range w.set.parts {
		if len(p.late) > 0 || len(w.set.takes[p.placed.Name]) == 0 {
			continue
		}
		for _, f := range w.set.takes[p.placed.Name] {
			if f.Instance != "" {
				w.target.forget(w.target.wants(w.set, f))
			}
		}
		again := *p
		if fs := r.fillIn(ctx, w.target, w.set, &again, false); fs.HasErrors() {
			findings = append(findings, fs.Errors()...)
		} else if again.key != p.key {
			f := w.Stale("a value that %s takes from another instance has changed since", p.placed.Name)
			f.Instance = p.placed.Name
			findings = append(findings, f)
		}
	}
	return findings
}
