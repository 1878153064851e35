package desired

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
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/valuerefs"
)

// Made is what was made up for a bundle on one cluster: as it is kept there, and as this run will keep it.
type Made struct {
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
func (r Resolver) remembered(ctx context.Context, s *State) (*Made, error) {
	m := &r.Made
	_, err := m.read.Get(ctx, func() (_ struct{}, err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.id = rand.Text()
		keeper, ok := r.Store.(release.Keeper)
		if r.Session == nil || !ok {
			return struct{}{}, nil
		}
		m.now, m.recorded, m.fresh, m.settled = release.Kept{}, release.Kept{}, map[string]int{}, chance.Settled{}
		if m.stored, m.handle, err = keeper.Kept(ctx, s.Owner); errors.Is(err, release.ErrDamaged) {
			err = diag.Findings{chance.Damaged(err.Error(), s.Instances())}.Err()
		}
		if err == nil {
			m.settled, err = r.settle(ctx, s, m.stored)
		}
		of, own := *cmp.Or(r.Record, &release.Record{}), map[string]bool{}
		for _, name := range s.Instances() { // another bundle of the run may have what this one had
			own[name] = true
		}
		for name, a := range m.settled.Kept {
			r.hide(name, a)
			m.recorded[name] = a.Recorded(of.Made, of.Marks, name)
			if m.now[name] = a; own[name] && s.NotPlaced[name] == "" && !s.Suspended[name] { // else its objects stay as they are
				m.now[name] = r.Rotate.Of(name, a)
			}
		}
		return struct{}{}, err
	})
	return m, err
}

// settle says whose the bundle's kept values are, with what is kept for the other bundles of the same files and for those
// that were removed from them, where that matters.
func (r Resolver) settle(ctx context.Context, s *State, kept release.Kept) (chance.Settled, error) {
	own := chance.Own{Owner: s.Owner, Kept: kept, Delivered: r.Record.Delivered, Declared: s.Instances()}
	own.Placed = slices.DeleteFunc(s.Instances(), func(name string) bool { return s.NotPlaced[name] != "" })
	if r.Record != nil {
		own.Made = r.Record.Made
	}
	beside, err := r.Beside(ctx, s, own)
	return chance.Settle(own, beside), err
}

// hide lets the redactor know what was made up.
func (r Resolver) hide(instance string, a chance.Answers) {
	for _, text := range a.Generated() {
		r.Redactor.AddGenerated(instance, text)
	}
	for _, text := range a.Found() {
		r.Redactor.AddFor(instance, text)
	}
}

// answered gives a part's request what is kept for its instance, where its source makes anything up.
func (r Resolver) answered(ctx context.Context, s *State, p *InstanceRender) diag.Findings {
	maker, ok := p.Renderer.(render.Maker)
	if !ok || !maker.Makes(redact.With(ctx, r.Redactor), p.Request) {
		return nil
	}
	m, err := r.remembered(ctx, s)
	if err != nil {
		fs := withInstance(diag.From(err, "kept"), p.Placed)
		if r.Lenient {
			for i := range fs {
				fs[i].Severity = diag.Warning
			}
		}
		return fs
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Request.Answers = m.now[p.Placed.Name]
	return r.lost(r.Record, m, p.Placed)
}

// lost refuses to make anew what the record says was made and what is gone: passwords would change unasked. After a delete
// that was cut short, what is left of the objects decides (madeguard).
func (r Resolver) lost(record *release.Record, m *Made, in v1alpha1.Instance) diag.Findings {
	name := in.Name
	if record == nil || record.Phase == release.Deleting || record.Made[name] == "" || !m.stored[name].IsZero() || !m.settled.Kept[name].IsZero() || r.Rotate.Has(name) {
		return nil
	}
	return withInstance(diag.Findings{chance.Lost(name, object.SystemNamespace)}, in)
}

// Remade refuses to make anew, or to put another's values over, what objects that are there were made with, in a plan that in led to. Only
// those of the instances count when there are any.
func (r Resolver) Remade(s *State, now *plan.Plan, in plan.Input, instances ...string) diag.Findings {
	var out diag.Findings
	m := &r.Made
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range s.Renders {
		if len(instances) > 0 && !slices.Contains(instances, p.Placed.Name) {
			continue
		}
		v := madeguard.Values{Settled: m.settled, Now: m.now[p.Placed.Name], Rotate: r.Rotate, Open: p.makes, Takes: s.Takes[p.Placed.Name]}
		if p.makes && !p.Request.Answers.IsZero() {
			v.Now = p.Request.Answers // with what was found
		}
		out = append(out, withInstance(madeguard.Check(now, in, p.Placed.Name, v, s.Bodies), p.Placed)...)
	}
	return out
}

// generated is a text that the bundle wants made up: the kept one, a new one where the cluster can keep it, or a
// placeholder.
func (r Resolver) generated(ctx context.Context, s *State, in v1alpha1.Instance, g bind.Generate, placeholder bool) (*v1alpha1.Value, *diag.Finding) {
	m, err := r.remembered(ctx, s)
	if err != nil && !r.Lenient {
		f := diag.From(err, "kept")[0]
		return nil, &f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := chance.Call{Template: "values." + g.Key, Func: chance.Generate, Args: chance.DigestOf(strconv.Itoa(g.Length), g.Alphabet)}
	if i := slices.IndexFunc(m.now[in.Name].Calls, c.Same); i >= 0 && (!placeholder || slices.Contains(m.recorded[in.Name].Calls, m.now[in.Name].Calls[i])) {
		return g.Value(m.now[in.Name].Calls[i].Value), nil
	}
	if fs := r.lost(r.Record, m, in); len(fs) > 0 {
		return nil, &fs[0]
	}
	if _, keeps := r.Store.(release.Keeper); placeholder || r.Lenient || r.Session == nil || !keeps {
		f := diag.Warnf(render.CodePlaceholder, "the value is made up at the first apply: a placeholder stands there")
		f.Pos, f.Path = g.Pos, g.At
		return g.Value(g.Placeholder()), &f
	}
	if c.Value = r.Former.text(in.Name, c); c.Value == "" {
		c.Value = r.source(m).Text(g.Length, g.Alphabet)
	}
	a := m.now[in.Name]
	a.Calls = append(slices.Clone(a.Calls), c)
	m.now[in.Name] = a
	m.fresh[in.Name]++
	r.hide(in.Name, a)
	return g.Value(c.Value), nil
}

// text is what was made up for a call of an instance, "" for nothing.
func (m *Made) text(instance string, c chance.Call) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.now[instance].Calls, c.Same); i >= 0 {
		return m.now[instance].Calls[i].Value
	}
	return ""
}

// newValues is the number of the bundle's own values that this run made up for an instance, and unrecorded whether one before it made
// some that no release has: a saved plan is the same before and after that.
func (r Resolver) newValues(instance string) (n int, unrecorded bool) {
	r.Made.mu.Lock()
	defer r.Made.mu.Unlock()
	return r.Made.fresh[instance], len(r.Made.recorded[instance].Calls) < len(r.Made.settled.Kept[instance].Calls)
}

// unmade renders a part, for whose values something was made up, with placeholders: for plans that are saved.
func (r Resolver) unmade(ctx context.Context, s *State, p *InstanceRender, standIn bool) diag.Findings {
	q := *p
	var findings diag.Findings
	q.Instance, _, q.Refs, findings = r.bound(ctx, s, p.Placed, standIn, true)
	if findings.HasErrors() {
		return findings
	}
	q.Request.Instance = q.Instance
	if findings = r.typed(ctx, &q); findings.HasErrors() {
		return findings
	}
	q.Request.Answers = r.Rotate.Of(p.Placed.Name, r.Made.known(p.Placed.Name))
	if err := r.rekey(ctx, &q); err != nil {
		return diag.From(err, "source")
	}
	res, err := r.tried(ctx, &q)
	p.standIn = &stand{render: q, objects: res.Objects, ok: err == nil}
	return nil
}

// known is what was made up for an instance on the cluster so far, as its releases have it.
func (m *Made) known(instance string) chance.Answers {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recorded[instance]
}

// Rotated finds mistakes in what is to be made anew. among are the names of the bundles of the run, none where it is of one.
func (r Resolver) Rotated(ctx context.Context, s *State, among []string) diag.Findings {
	if len(r.Rotate) == 0 {
		return nil
	}
	m, err := r.remembered(ctx, s)
	if err != nil {
		return diag.From(err, "kept")
	}
	beside := map[string][]string{}
	for _, o := range r.Others(s.Spec.Name) {
		if slices.Contains(among, o.Name) {
			beside[o.Name] = source.Declared{Instances: o.Instances}.Names()
		}
	}
	return r.Rotate.Vet(chance.Rotated{Bundle: s.Spec.Name, Instances: s.Instances(), Beside: beside, Elsewhere: s.NotPlaced, Suspended: s.Suspended, Kept: m.settled.Kept})
}

// source is where the run's new values come from; it is one for each cluster and run.
func (r Resolver) source(m *Made) *chance.Source {
	return &chance.Source{ID: m.id, Now: r.Now, Read: func(p []byte) { _, _ = rand.Read(p) }} // never fails
}

// rendered is a part rendered with its answers. New ones are made where the cluster can keep them; what it was with
// placeholders stays in the part, for plans that are saved.
func (r Resolver) rendered(ctx context.Context, s *State, p *InstanceRender) (render.Result, error) {
	res, err := r.tried(ctx, p)
	unknown := valuerefs.Unknown(p.Open, p.Refs)
	_, keeps := r.Store.(release.Keeper)
	keeps = keeps && res.Open > 0 && !r.Lenient && r.Session != nil
	if keeps {
		if res, err = r.withFound(ctx, s, p, unknown, res, err); err != nil && res.Open == 0 {
			return res, err
		}
	}
	if len(unknown) > 0 && err == nil {
		res = r.unknown(ctx, p, unknown, res)
	}
	p.makes = res.Open > 0 && len(unknown) > 0
	if !keeps || len(unknown) > 0 {
		return res, err
	}
	m := &r.Made
	answers := p.Request.Answers
	if res.Open > 0 {
		if p.standIn == nil {
			p.standIn = &stand{render: *p, objects: res.Objects, ok: err == nil}
		}
		request := p.Request
		request.Chance = r.source(m)
		if res, _, err = r.Memo.Render(redact.With(ctx, r.Redactor), p.Renderer, request); err != nil {
			return res, err
		}
		answers = res.Answers
	}
	r.hide(p.Placed.Name, answers)
	m.mu.Lock()
	m.now[p.Placed.Name] = answers
	m.mu.Unlock()
	p.Request.Answers = answers
	return res, r.rekey(ctx, p)
}

// withFound is a part's render (res, or err) with what the cluster holds of what its source looks up, whatever else is not known; what is looked up by
// a name that holds something unknown is not.
func (r Resolver) withFound(ctx context.Context, s *State, p *InstanceRender, unknown []bind.From, res render.Result, err error) (render.Result, error) {
	if _, unread := r.remembered(ctx, s); unread != nil {
		return render.Result{}, unread
	}
	looksUp := slices.DeleteFunc(slices.Clone(res.LooksUp), func(ref object.Ref) bool { return bind.Holds([]any{ref.Namespace, ref.Name}, unknown) })
	answers, failed := r.found(ctx, p.Request.Answers, p, looksUp)
	if failed != nil {
		return render.Result{}, failed
	}
	if answers.Digest() == p.Request.Answers.Digest() {
		return res, err
	}
	p.Request.Answers = answers
	r.hide(p.Placed.Name, answers)
	if res, _, err = r.Memo.Render(redact.With(ctx, r.Redactor), p.Renderer, p.Request); err != nil {
		return res, err
	}
	return res, r.rekey(ctx, p)
}

// stand is a part as it was with placeholders.
type stand struct {
	render  InstanceRender
	objects []object.Object
	ok      bool
}

// found adds to answers what the cluster holds of Secrets that the source looks up and that nothing is kept of: those of
// an instance that is taken over. A Secret that cannot be looked at is an error: it may hold a password that is in use.
func (r Resolver) found(ctx context.Context, a chance.Answers, p *InstanceRender, looksUp []object.Ref) (chance.Answers, error) {
	if r.Rotate.Has(p.Placed.Name) || len(a.Secrets) > 0 {
		return a, nil
	}
	for _, ref := range looksUp {
		obj, err := r.look(ctx, wanted{ref: ref, apiVersion: "v1"})
		if err != nil && !kubeapi.IsAbsent(err) {
			f := chance.LookupFailed(ref.String(), p.Placed.Name, r.Redactor.Redact(err.Error()))
			return a, diag.Findings{f}.Err()
		}
		a = a.Holding(ref.Namespace+"/"+ref.Name, obj)
	}
	return a, nil
}

// stood are the digests that objects have with placeholders, of parts for which something was made up.
func (r Resolver) stood(s *State) {
	for _, p := range s.Renders {
		if p.standIn == nil || !p.standIn.ok {
			continue
		}
		if s.Stood == nil {
			s.Stood, s.Shown = map[object.Ref]string{}, map[object.Ref]object.Object{}
		}
		st := p.standIn
		objs, _ := r.mark(s, &st.render, "", st.objects)
		for _, o := range objs {
			d, _ := plan.Declared(o, p.Instance, r.ignores(s.Spec))
			s.Stood[d.Ref] = d.Digest
			if as, ok := s.Bodies[d.Ref]; ok {
				as.Body = bind.Made(as.Body, o.Body)
				s.Shown[d.Ref] = as
			}
		}
	}
}

// MadeNames are objects whose names, and not only what they hold, were made up in this run.
func (s *State) MadeNames() []object.Ref {
	var out []object.Ref
	for _, p := range s.Renders {
		if p.standIn == nil {
			continue
		}
		for _, d := range s.Desired {
			if _, ok := s.Stood[d.Ref]; !ok && d.Instance == p.Placed.Name && !d.OwnNamespace {
				out = append(out, d.Ref)
			}
		}
	}
	return out
}

// Digests are those of what is kept from now on, with the marks of each value; of a bundle whose values this run did not need, what
// the record says.
func (m *Made) Digests(record *release.Record) (map[string]string, map[string][]chance.Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil && record != nil {
		return record.Made, record.Marks
	}
	return m.now.Digests(), m.now.Marks()
}

// Keep writes what was made up, before anything that holds it is written. release.ErrConflict where another run has made values up meanwhile.
func (t *Target) Keep(ctx context.Context, owner string) error {
	m := &t.Made
	m.mu.Lock()
	defer m.mu.Unlock()
	keeper, ok := t.Store.(release.Keeper)
	if m.settled.Stamp(m.now); !ok || m.now == nil || chance.Same(m.now, m.stored) {
		return nil
	}
	handle, err := keeper.Keep(ctx, owner, m.now, m.handle)
	if errors.Is(err, release.ErrConflict) {
		return errors.Join(errors.New("another run has made values up since: plan again"), err)
	}
	if err == nil {
		m.stored, m.handle = maps.Clone(m.now), handle
	}
	return err
}

// Reread reads what is kept on the cluster, by the names that instances had in a release that is gone back to.
func (r Resolver) Reread(ctx context.Context, owner string, then madeguard.Then) diag.Findings {
	keeper, ok := r.Store.(release.Keeper)
	if !ok {
		return nil
	}
	m, err := &r.Made, error(nil)
	if m.stored, m.handle, err = keeper.Kept(ctx, owner); err != nil {
		return diag.From(err, "kept")
	}
	if m.stored == nil {
		m.stored = release.Kept{}
	}
	m.now = madeguard.Renamed(m.stored, then)
	m.settled.Kept = m.now
	for name, a := range m.now {
		r.hide(name, a)
	}
	return nil
}

// Read reports whether what is kept on the cluster was read.
func (m *Made) Read() bool { return m.stored != nil }

// Now is what is kept from now on, by instance.
func (m *Made) Now() release.Kept { return m.now }
