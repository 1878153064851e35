package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/madeguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
)

// made is what was made up for a bundle on one cluster: as it is kept there, and as this run will keep it.
type made struct {
	read   once.Value[struct{}]
	handle release.RecordVersion
	id     string

	mu          sync.Mutex
	stored, now release.Kept
	fresh       map[string]int
	// settled is whose the stored ones are, recorded those of them that a release has: a run that ended before its record made the others.
	settled  chance.Settled
	recorded release.Kept
}

// remembered reads what is kept on the cluster, once, and finds out whose it is. What the request wants made anew is left
// out.
func (r *run) remembered(ctx context.Context, t *target, s *set) (*made, error) {
	m := &t.made
	_, err := m.read.Get(ctx, func() (_ struct{}, err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.id = rand.Text()
		keeper, ok := t.store.(release.Keeper)
		if t.session == nil || !ok {
			return struct{}{}, nil
		}
		m.now, m.recorded, m.fresh, m.settled = release.Kept{}, release.Kept{}, map[string]int{}, chance.Settled{}
		if m.stored, m.handle, err = keeper.Kept(ctx, s.owner); errors.Is(err, release.ErrDamaged) {
			err = diag.Findings{chance.Damaged(err.Error(), s.instances())}.Err()
		}
		if err == nil {
			m.settled, err = r.settle(ctx, t, s, m.stored)
		}
		of := *cmp.Or(t.record, &release.Record{})
		for name, a := range m.settled.Kept {
			r.hide(name, a)
			m.recorded[name] = a.Recorded(of.Made, of.Marks, name)
			if m.now[name] = a; s.notPlaced[name] == "" && !s.suspended[name] { // else its objects stay as they are
				m.now[name] = r.req.Rotate.Of(name, a)
			}
		}
		return struct{}{}, err
	})
	return m, err
}

// settle says whose the bundle's kept values are, with what is kept for the other bundles of the same files and for those
// that were removed from them, where that matters.
func (r *run) settle(ctx context.Context, t *target, s *set, kept release.Kept) (chance.Settled, error) {
	own := chance.Own{Owner: s.owner, Kept: kept, Delivered: t.record.Delivered, Declared: s.instances()}
	own.Placed = slices.DeleteFunc(s.instances(), func(name string) bool { return s.notPlaced[name] != "" })
	if t.record != nil {
		own.Made = t.record.Made
	}
	if !r.req.HasBundles() {
		return chance.Settle(own, nil), nil
	}
	others, _ := r.others(t, s.spec.Name)
	beside, err := release.Beside(ctx, t.store, r.req.Scope, own, s.spec, others, r.isBeside)
	return chance.Settle(own, beside), err
}

// hide lets the redactor know what was made up.
func (r *run) hide(instance string, a chance.Answers) {
	for _, text := range a.Generated() {
		r.Redactor.AddGenerated(instance, text)
	}
	for _, text := range a.Found() {
		r.Redactor.AddFor(instance, text)
	}
}

// answered gives a part's request what is kept for its instance, where its source makes anything up.
func (r *run) answered(ctx context.Context, t *target, s *set, p *part) diag.Findings {
	maker, ok := p.renderer.(render.Maker)
	if !ok || !maker.Makes(r.secretly(ctx), p.request) {
		return nil
	}
	m, err := r.remembered(ctx, t, s)
	if err != nil {
		fs := withInstance(diag.From(err, "kept"), p.placed)
		if r.lenient {
			for i := range fs {
				fs[i].Severity = diag.Warning
			}
		}
		return fs
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p.request.Answers = m.now[p.placed.Name]
	return r.lost(t.record, m, p.placed)
}

// lost refuses to make anew what the record says was made and what is gone: passwords would change unasked. After a delete
// that was cut short, what is left of the objects decides (madeguard).
func (r *run) lost(record *release.Record, m *made, in v1alpha1.Instance) diag.Findings {
	name := in.Name
	if record == nil || record.Phase == release.Deleting || record.Made[name] == "" || !m.stored[name].IsZero() || !m.settled.Kept[name].IsZero() || r.req.Rotate.Has(name) {
		return nil
	}
	return withInstance(diag.Findings{chance.Lost(name, object.SystemNamespace)}, in)
}

// remade refuses to make anew, or to put another's values over, what objects that are there were made with. Only those of the
// instances count when there are any.
func (r *run) remade(w *work, now *plan.Plan, instances ...string) diag.Findings {
	var out diag.Findings
	m := &w.target.made
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range w.set.parts {
		if len(instances) > 0 && !slices.Contains(instances, p.placed.Name) || w.back != nil {
			continue
		}
		v := madeguard.Values{Settled: m.settled, Now: m.now[p.placed.Name], Rotate: r.req.Rotate, Open: p.makes, Takes: w.set.takes[p.placed.Name]}
		out = append(out, withInstance(madeguard.Check(now, w.input, p.placed.Name, v, w.set.bodies), p.placed)...)
	}
	if w.input.Options.Deleting && w.target.record != nil {
		out = append(out, madeguard.LeftBehind(now, w.input.Beside, w.target.record.Made)...)
	}
	return out
}

// generated is a text that the bundle wants made up: the kept one, a new one where the cluster can keep it, or a
// placeholder.
func (r *run) generated(ctx context.Context, t *target, s *set, in v1alpha1.Instance, g bind.Generate, placeholder bool) (*v1alpha1.Value, *diag.Finding) {
	m, err := r.remembered(ctx, t, s)
	if err != nil && !r.lenient {
		f := diag.From(err, "kept")[0]
		return nil, &f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := chance.Call{Template: "values." + g.Key, Func: chance.Generate, Args: chance.DigestOf(strconv.Itoa(g.Length), g.Alphabet)}
	if i := slices.IndexFunc(m.now[in.Name].Calls, c.Same); i >= 0 && (!placeholder || slices.Contains(m.recorded[in.Name].Calls, m.now[in.Name].Calls[i])) {
		return g.Value(m.now[in.Name].Calls[i].Value), nil
	}
	if fs := r.lost(t.record, m, in); len(fs) > 0 {
		return nil, &fs[0]
	}
	if _, keeps := t.store.(release.Keeper); placeholder || r.lenient || t.session == nil || !keeps {
		f := diag.Warnf(render.CodePlaceholder, "the value is made up at the first apply: a placeholder stands there")
		f.Pos, f.Path = g.Pos, g.At
		return g.Value(g.Placeholder()), &f
	}
	c.Value = r.source(m).Text(g.Length, g.Alphabet)
	a := m.now[in.Name]
	a.Calls = append(slices.Clone(a.Calls), c)
	m.now[in.Name] = a
	m.fresh[in.Name]++
	r.hide(in.Name, a)
	return g.Value(c.Value), nil
}

// newValues is the number of the bundle's own values that this run made up for an instance, and unrecorded whether one before it made
// some that no release has: a saved plan is the same before and after that.
func (r *run) newValues(t *target, instance string) (n int, unrecorded bool) {
	t.made.mu.Lock()
	defer t.made.mu.Unlock()
	return t.made.fresh[instance], len(t.made.recorded[instance].Calls) < len(t.made.settled.Kept[instance].Calls)
}

// unmade renders a part, for whose values something was made up, with placeholders: for plans that are saved.
func (r *run) unmade(ctx context.Context, t *target, s *set, p *part, standIn bool) diag.Findings {
	q := *p
	var findings diag.Findings
	q.instance, _, findings = r.bound(ctx, t, s, p.placed, standIn, true)
	if findings.HasErrors() {
		return findings
	}
	q.request.Instance, q.request.Answers = q.instance, r.req.Rotate.Of(p.placed.Name, t.made.known(p.placed.Name))
	if err := r.rekey(ctx, &q); err != nil {
		return diag.From(err, "source")
	}
	res, _, err := r.memo.Render(r.secretly(ctx), q.renderer, q.request)
	p.standIn = &stand{part: q, objects: res.Objects, ok: err == nil}
	return nil
}

// known is what was made up for an instance on the cluster so far, as its releases have it.
func (m *made) known(instance string) chance.Answers {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recorded[instance]
}

// rotated finds mistakes in what is to be made anew.
func (r *run) rotated(ctx context.Context, t *target, s *set) diag.Findings {
	if len(r.req.Rotate) == 0 {
		return nil
	}
	m, err := r.remembered(ctx, t, s)
	if err != nil {
		return diag.From(err, "kept")
	}
	return r.req.Rotate.Vet(s.instances(), s.notPlaced, s.suspended, m.settled.Kept)
}

// instances are the names of the bundle's instances, wherever they are placed.
func (s *set) instances() []string {
	return source.Declared{Instances: s.spec.Instances}.Names()
}

// source is where the run's new values come from; it is one for each cluster and run.
func (r *run) source(m *made) *chance.Source {
	return &chance.Source{ID: m.id, Now: r.now, Read: func(p []byte) { _, _ = rand.Read(p) }} // never fails
}

// rendered is a part rendered with its answers. New ones are made where the cluster can keep them; what it was with
// placeholders stays in the part, for plans that are saved.
func (r *run) rendered(ctx context.Context, t *target, s *set, p *part) (render.Result, error) {
	res, _, err := r.memo.Render(r.secretly(ctx), p.renderer, p.request)
	if len(p.open) > 0 && err == nil {
		res.Objects = r.unknown(ctx, p, res.Objects, res.Open > 0)
	}
	_, keeps := t.store.(release.Keeper)
	p.makes = res.Open > 0 && len(p.open) > 0
	if res.Open == 0 || r.lenient || t.session == nil || !keeps || len(p.open) > 0 {
		return res, err
	}
	m, unread := r.remembered(ctx, t, s)
	if unread != nil {
		return res, unread
	}
	before := p.request.Answers
	if p.request.Answers, err = r.found(ctx, t, before, p, res.LooksUp); err != nil {
		return res, err
	}
	if p.request.Answers.Digest() != before.Digest() {
		r.hide(p.placed.Name, p.request.Answers)
		if res, _, err = r.memo.Render(r.secretly(ctx), p.renderer, p.request); err != nil && res.Open == 0 {
			return res, err
		}
	}
	answers := p.request.Answers
	if res.Open > 0 {
		if p.standIn == nil {
			p.standIn = &stand{part: *p, objects: res.Objects, ok: err == nil}
		}
		request := p.request
		request.Chance = r.source(m)
		if res, _, err = r.memo.Render(r.secretly(ctx), p.renderer, request); err != nil {
			return res, err
		}
		answers = res.Answers
	}
	r.hide(p.placed.Name, answers)
	m.mu.Lock()
	m.now[p.placed.Name] = answers
	m.mu.Unlock()
	p.request.Answers = answers
	return res, r.rekey(ctx, p)
}

// stand is a part as it was with placeholders.
type stand struct {
	part    part
	objects []object.Object
	ok      bool
}

// found adds to answers what the cluster holds of Secrets that the source looks up and that nothing is kept of: those of
// an instance that is taken over. A Secret that cannot be looked at is an error: it may hold a password that is in use.
func (r *run) found(ctx context.Context, t *target, a chance.Answers, p *part, looksUp []object.Ref) (chance.Answers, error) {
	ofSource := func(c chance.Call) bool { return c.Func != chance.Generate }
	if r.req.Rotate.Has(p.placed.Name) || len(a.Secrets) > 0 || slices.ContainsFunc(a.Calls, ofSource) {
		return a, nil
	}
	for _, ref := range looksUp {
		obj, err := t.look(ctx, wanted{ref: ref, apiVersion: "v1"})
		if err != nil && !kubeapi.IsAbsent(err) {
			f := chance.LookupFailed(ref.String(), p.placed.Name, r.redact(err.Error()))
			return a, diag.Findings{f}.Err()
		}
		a = a.Holding(ref.Namespace+"/"+ref.Name, obj)
	}
	return a, nil
}

// stood are the digests that objects have with placeholders, of parts for which something was made up.
func (r *run) stood(t *target, s *set) {
	for _, p := range s.parts {
		if p.standIn == nil || !p.standIn.ok {
			continue
		}
		if s.stood == nil {
			s.stood, s.shown = map[object.Ref]string{}, map[object.Ref]object.Object{}
		}
		st := p.standIn
		objs, _ := r.mark(t, s, &st.part, st.objects)
		for _, o := range objs {
			d, _ := plan.Declared(o, p.instance, r.ignores(s.spec))
			s.stood[d.Ref] = d.Digest
			if as, ok := s.bodies[d.Ref]; ok {
				as.Body = bind.Made(as.Body, o.Body)
				s.shown[d.Ref] = as
			}
		}
	}
}

// madeNames are objects whose names, and not only what they hold, were made up in this run.
func (s *set) madeNames() []object.Ref {
	var out []object.Ref
	for _, p := range s.parts {
		if p.standIn == nil {
			continue
		}
		for _, d := range s.desired {
			if _, ok := s.stood[d.Ref]; !ok && d.Instance == p.placed.Name && !d.OwnNamespace {
				out = append(out, d.Ref)
			}
		}
	}
	return out
}

// digests are those of what is kept from now on, with the marks of each value; of a bundle whose values this run did not need, what
// the record says.
func (m *made) digests(record *release.Record) (map[string]string, map[string][]chance.Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil && record != nil {
		return record.Made, record.Marks
	}
	return m.now.Digests(), m.now.Marks()
}

// keep writes what was made up, before anything that holds it is written.
func (l *loop) keep(ctx context.Context, w *work) error {
	m := &w.target.made
	m.mu.Lock()
	defer m.mu.Unlock()
	keeper, ok := w.target.store.(release.Keeper)
	if m.settled.Stamp(m.now); !ok || m.now == nil || chance.Same(m.now, m.stored) {
		return nil
	}
	handle, err := keeper.Keep(ctx, w.set.owner, m.now, m.handle)
	if errors.Is(err, release.ErrConflict) {
		return errors.Join(errors.New("another run has made values up since: plan again"), err)
	}
	if err == nil {
		m.stored, m.handle = maps.Clone(m.now), handle
	}
	return err
}

// forget removes what was made up for a bundle that is deleted. What other bundles of the same files declare goes to those
// first.
func (w *work) forget(ctx context.Context) error {
	if w.target.record == nil {
		return nil
	}
	others, _ := w.run.others(w.target, w.set.spec.Name)
	return release.Bequeath(ctx, w.target.store, w.run.req.Scope, *w.target.record, others, w.run.isBeside)
}
