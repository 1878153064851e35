package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/objectset"
	"hawser.dev/hawser/internal/render"
)

// try is one render, and what it asked for.
type try struct {
	*answers
	objects  []object.Object
	warnings diag.Findings
}

// view is what look-ups find of the chart's own Secrets, and the entries whose answers no call gets then: they belong to those. objects are those that the
// chart declares without it, and goes on declaring: none of needed may be missing.
type view struct {
	found, held chance.Entries
	objects     []object.Object
	needed      objectset.Refs
}

// errMissing is a view with which a chart declares no longer what it has to.
var errMissing = errors.New("with what is found of its Secret, the chart declares no longer an object that it makes something up for")

// try renders in a mode, with what look-ups find.
func (j *job) try(ctx context.Context, m mode, kept chance.Answers, v view) (try, error) {
	a := &answers{mode: m, source: j.req.Chance, found: v.found, book: chance.NewBook(kept, j.chart.holds)}
	a.book.Hold(v.held)
	before := j.warnings
	objects, err := j.once(ctx, a)
	objects, there := objectset.With(objects, v.objects, v.needed)
	if err == nil && !there {
		err = errMissing
	}
	out := try{answers: a, objects: objects, warnings: j.warnings}
	j.warnings = before
	return out, err
}

// holds reports whether the chart has a call at this place.
func (l *loaded) holds(c chance.Call) bool {
	return slices.ContainsFunc(l.sites, func(s site) bool { return s.template == c.Template && s.fn == c.Func && s.text == c.Line })
}

// settle renders with what is kept. Where an object depends on more than that, the rest is made, or, without a source
// of chance, a placeholder stands there.
//
// A chart that looks its own Secret up finds of it what it would make up now: what the user gives goes before.
func (j *job) settle(ctx context.Context) ([]object.Object, error) {
	kept := j.req.Answers
	cur, err := j.try(ctx, usual, kept, view{})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	j.out.Open = len(cur.open)
	if err != nil && (len(cur.open) == 0 || j.req.Chance == nil) {
		return nil, err
	}
	m, fresh := toMake{}, false
	if err == nil {
		if len(cur.open) == 0 && (len(kept.Secrets) == 0 || len(cur.looked) == 0) {
			return j.done(cur), nil
		}
		all, failed := j.try(ctx, otherAll, kept, view{})
		if failed == nil && objectset.Same(cur.objects, all.objects) { // nothing of it reaches an object
			j.out.Open = 0
			return j.done(cur), ctx.Err()
		}
		m = toMake{keys: madeKeys(cur, all, j.req.Instance.Namespace), depends: objectset.Differing(cur.objects, all.objects)}
		if len(kept.Secrets.Within(m.keys)) > 0 {
			if m.view, fresh, err = j.find(ctx, &cur, all, kept, m); err != nil {
				return nil, err
			}
		}
		if !fresh && j.settled(ctx, cur, kept, m.view) {
			cur.open = nil
		}
		if j.out.Open = len(cur.open); len(cur.open) == 0 {
			return j.done(cur), ctx.Err()
		}
		j.lookedUp(cur)
		if j.req.Chance == nil {
			objects := j.done(cur)
			j.standIns(cur)
			return objects, ctx.Err()
		}
	}
	return j.make(ctx, kept, m)
}

// settled reports whether nothing that is open reaches an object.
func (j *job) settled(ctx context.Context, t try, kept chance.Answers, v view) bool {
	if len(t.open) == 0 {
		return true
	}
	other, err := j.try(ctx, otherOpen, kept, v)
	return err == nil && objectset.Same(t.objects, other.objects)
}

// find renders cur again with what look-ups find of kept Secrets, where the chart goes on declaring all that it does then; fresh says that an entry is
// new among them. An entry that the chart does not take from there is left to the calls; one that is given is found with the given value, and so is a
// new one, as there are charts that fail where a Secret lacks it (failOnNew). What belongs to an entry that is gone from its Secret is held for it.
func (j *job) find(ctx context.Context, cur *try, all try, kept chance.Answers, m toMake) (v view, fresh bool, err error) {
	namespace, keys, v := j.req.Instance.Namespace, m.keys, view{objects: cur.objects, needed: m.depends}
	if len(kept.Calls) == 0 { // taken over: nobody here declared what goes with a first install
		v.needed = objectset.Differing(cur.objects, nil)
	}
	rendered := secretsOf(*cur, namespace)
	old := kept.Secrets.Within(rendered)
	of := func(found chance.Entries) view {
		v.found, v.held = found.Beside(rendered, keys), kept.Secrets.OfSecrets(rendered).Without(keys).Over(found)
		return v
	}
	found := old.Within(keys)
	lacks := found.Lacking(keys)
	try := found.Over(secretsOf(all, namespace).Within(lacks))
	again, err := j.try(ctx, usual, kept, of(try))
	if err != nil {
		return view{}, false, ctx.Err()
	}
	taken := try.Equal(secretsOf(again, namespace))
	if found, lacks = found.Within(taken), lacks.Within(taken); len(found) == 0 {
		return view{}, false, nil
	}
	if fresh = len(lacks) > 0; fresh {
		from := all // stand-ins
		if j.req.Chance != nil {
			if from, err = j.try(ctx, making, kept, of(found)); err != nil {
				from, err = j.try(ctx, making, chance.Answers{}, view{})
			}
		}
		if err != nil {
			return view{}, false, err
		}
		found = found.Over(secretsOf(from, namespace).Within(lacks))
	}
	if again, err = j.try(ctx, usual, kept, of(found)); err != nil {
		return view{}, false, err
	}
	if fresh && len(again.open) == 0 {
		again.open, again.secret = slices.DeleteFunc(slices.Clone(all.called), func(name string) bool { return j.site(name).fn == "lookup" })[:1], true
	}
	*cur = again
	return of(found), fresh, nil
}

// toMake is what new answers are made with: what look-ups find, the entries of Secrets that are made up, and the objects that depend on what is.
type toMake struct {
	view
	keys    chance.Entries
	depends objectset.Refs
}

// make renders with new answers, and takes what look-ups will find from what came out: as long as the chart declares the same then, with the same entries
// of its Secrets. What else is made of those (a checksum) is as it comes out with them found.
func (j *job) make(ctx context.Context, kept chance.Answers, m toMake) ([]object.Object, error) {
	namespace := j.req.Instance.Namespace
	made, err := j.try(ctx, making, kept, m.view)
	if err != nil {
		return nil, err
	}
	j.out.Answers, j.out.Open = made.book.Answers(), 0
	j.out.Answers.Secrets = kept.Secrets.Over(m.held) // what is new among them, too
	held := secretsOf(made, namespace)
	for own := held.Within(m.keys); len(own) > 0; {
		v := view{found: own.Beside(held, m.keys), held: m.held.Over(own), objects: made.objects, needed: m.depends}
		again, err := j.try(ctx, usual, j.out.Answers, v)
		if err != nil {
			break
		}
		if taken := own.Equal(secretsOf(again, namespace)); taken.Len() < own.Len() { // the others are asked for
			own = taken
			continue
		}
		if entries := held.Within(m.keys); entries.Equal(secretsOf(again, namespace)).Len() == entries.Len() &&
			objectset.Differing(made.objects, again.objects).Within(m.depends) && j.settled(ctx, again, j.out.Answers, v) {
			j.out.Answers.Secrets = kept.Secrets.Over(own)
			made = again
		}
		break
	}
	return j.done(made), ctx.Err()
}

// done is the render that counts.
func (j *job) done(t try) []object.Object {
	j.warnings = append(t.warnings, j.offline(t)...)
	return t.objects
}

// standIns warns that placeholders stand in for what is not made yet.
func (j *job) standIns(t try) {
	var at []string
	for _, name := range t.open {
		if s := j.site(name); s.template != "" {
			if text := fmt.Sprintf("%s (%s)", s.fn, j.sitePos(s)); !slices.Contains(at, text) {
				at = append(at, text)
			}
		} else if !slices.Contains(at, s.what()) {
			at = append(at, s.what())
		}
	}
	if len(at) > 3 {
		at = append(at[:3:3], fmt.Sprintf("%d more", len(at)-3))
	}
	f := diag.Warnf(render.CodePlaceholder, "the chart makes values up: placeholders stand there")
	f.Why = "they are made at the first apply on a cluster, and kept there: " + strings.Join(at, ", ")
	f.Pos = j.sitePos(j.site(t.open[0]))
	if !t.secret {
		f.Code = render.CodeMoment
	}
	j.warnings = append(j.warnings, f)
}

// lookedUp notes the Secrets that the chart declares and looks up.
func (j *job) lookedUp(t try) {
	for _, secret := range slices.Sorted(maps.Keys(secretsOf(t, j.req.Instance.Namespace))) {
		namespace, name, _ := strings.Cut(secret, "/")
		j.out.LooksUp = append(j.out.LooksUp, object.Ref{Kind: "Secret", Namespace: namespace, Name: name})
	}
}

func namespaceOf(o object.Object, fallback string) string {
	if ns := o.Ref().Namespace; ns != "" {
		return ns
	}
	return fallback
}

// secretsOf are the Secrets that a render declares and looked up, with their data.
func secretsOf(t try, namespace string) chance.Entries {
	out := chance.Entries{}
	for _, o := range t.objects {
		if ref := o.Ref(); ref.Kind != "Secret" || ref.Group != "" || o.Hook != nil {
			continue
		}
		name := namespaceOf(o, namespace) + "/" + o.Ref().Name
		if !slices.ContainsFunc(t.looked, func(l look) bool { return l.secret == name }) {
			continue
		}
		out[name] = objectset.Held(o)
	}
	return out
}

// madeKeys are the entries of the Secrets looked up that depend on what is made up.
func madeKeys(t, other try, namespace string) chance.Entries {
	held := secretsOf(t, namespace)
	return held.Without(held.Equal(secretsOf(other, namespace)))
}

// names finds the names of functions that make something up.
var names = lazyregexp.New(`\b(` + strings.Join(slices.Concat(random, clock), "|") + `)\b`)

// asks reports whether a text, as a template, may ask for chance or the time. It errs on the side of yes.
func asks(text []byte) bool { return bytes.Contains(text, []byte("{{")) && names.Match(text) }

// Makes reports whether any template of the chart, or a text that it may hand to tpl, asks for chance or the time.
func (r *Renderer) Makes(ctx context.Context, req render.Request) bool {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	ch, err := r.read(ctx, req)
	return err == nil && ch.makes(req)
}

func (l *loaded) makes(req render.Request) bool {
	return l.chance || valuesAsk(req)
}

// valuesAsk reports whether the user's values hold such a text.
func valuesAsk(req render.Request) bool {
	values, err := values(req)
	if err != nil {
		return true
	}
	text, err := json.Marshal(values)
	return err != nil || asks(text)
}

// textsAsk reports whether any text of the chart does.
func textsAsk(c *chart.Chart) bool {
	for _, files := range [][]*common.File{c.Raw, c.Templates, c.Files} {
		if slices.ContainsFunc(files, func(f *common.File) bool { return asks(f.Data) }) {
			return true
		}
	}
	return slices.ContainsFunc(c.Dependencies(), textsAsk)
}

// madeOf is what the key holds of answers and their source; nothing where the chart asks for none.
func (l *loaded) madeOf(req render.Request) string {
	if !l.makes(req) {
		return ""
	}
	if req.Chance != nil {
		return req.Answers.Digest() + " " + req.Chance.ID
	}
	return req.Answers.Digest()
}
