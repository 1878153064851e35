package engine

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// late are the instances with stand-ins for values.
func (s *set) late() map[string]string {
	out := map[string]string{}
	for _, p := range s.parts {
		if len(p.late) > 0 {
			out[p.placed.Name] = strings.Join(p.late, ", ")
		}
	}
	return out
}

// takesOfOthers are what an instance takes of other instances' objects.
func (s *set) takesOfOthers(p *part) []bind.From {
	return slices.DeleteFunc(slices.Clone(s.takes[p.placed.Name]), func(f bind.From) bool { return f.Instance == "" })
}

// taken are the objects that values are taken from, by the instance that takes them.
func (s *set) taken(t *target) map[string][]latevalues.Source {
	out := map[string][]latevalues.Source{}
	for _, p := range s.parts {
		for _, f := range s.takesOfOthers(p) {
			out[p.placed.Name] = append(out[p.placed.Name], latevalues.Source{Instance: f.Instance, Object: t.wants(s, f).ref})
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
		for _, f := range w.set.takesOfOthers(part) {
			if x, _ := r.taken(ctx, w.target, w.set, part.placed.Name, f); x == nil {
				open[w.target.wants(w.set, f).ref] = true
			}
		}
	}
	return latevalues.Uncertain(p, w.set.taken(w.target), func(ref object.Ref) bool { return !open[ref] })
}

// reopen puts stand-ins into the late instances that have none yet, and renders them with those.
func (r *run) reopen(ctx context.Context, w *work, late func(instance string) bool) diag.Findings {
	var findings diag.Findings
	for _, p := range w.set.parts {
		if late(p.placed.Name) && len(p.late) == 0 {
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
		for _, f := range w.set.takesOfOthers(p) {
			if moving[w.target.wants(w.set, f).ref] {
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
		for _, f := range w.set.takesOfOthers(p) {
			w.target.seen.Forget(w.target.wants(w.set, f))
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
