package desired

import (
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/valuerefs"
)

// expected renders the parts whose values have not come once more, with those that are to be expected: of objects that are declared as they are declared,
// of others as they are now. Nothing is certain of those. What is otherwise with them is not known, what they decide about beyond that is warned of, and
// what would be there with them is given back, for the first of the results marked like those. Of parts that could not be rendered (errs) nothing is.
func (r Resolver) expected(ctx context.Context, s *State, parts []*InstanceRender, results []render.Result, errs []error) [][]object.Object {
	extra := make([][]object.Object, len(parts))
	for i, p := range parts {
		if errs[i] != nil {
			continue
		}
		values, any := r.foreseen(ctx, s, p, parts, results)
		if !any || ctx.Err() != nil {
			continue
		}
		with := p.Request
		with.Instance.Values = values
		second, _, err := r.Memo.Render(redact.With(ctx, r.Redactor), p.Renderer, with)
		if err != nil {
			continue // it may be that they come as others
		}
		all, res := valuerefs.Unknown(p.Open, p.Refs), &results[i]
		res.Objects = bind.Unknown(res.Objects, second.Objects, all)
		if decided := staleplan.Decided(res.Objects, second.Objects, bind.Taken(p.Instance.Values, all), bind.Taken(values, all)); len(decided) > 0 {
			res.Findings = append(res.Findings[:len(res.Findings):len(res.Findings)], withInstance(diag.Findings{bind.Decides(decided, all)}, p.Instance)...)
		}
		extra[i] = slices.DeleteFunc(slices.Clone(second.Objects), func(o object.Object) bool { return find(res.Objects, o.Ref()) != nil })
	}
	return extra
}

// foreseen are the values of a part with those in the place of stand-ins that are to be expected, and whether there are any.
func (r Resolver) foreseen(ctx context.Context, s *State, p *InstanceRender, parts []*InstanceRender, results []render.Result) (v1alpha1.Values, bool) {
	at, givers := map[string]*v1alpha1.Value{}, r.Givers(s)
	for _, f := range p.Open {
		ref := givers.Object(f)
		for i, from := range parts {
			if from.Placed.Name != f.Instance || len(from.Open) > 0 {
				continue
			}
			if o := find(results[i].Objects, ref); o != nil {
				if x, n := r.Reader.Object(p.Placed.Name, f, o.Marked(s.Owner, s.Spec.Name).Body); n == nil {
					at[f.At] = x
				}
			}
		}
		if at[f.At] == nil && givers.Lookup.Asked() {
			if x, n := givers.Lookup.Read(ctx, p.Placed.Name, f, ref); n == nil && x != nil {
				at[f.At] = x
			}
		}
	}
	return bind.Replaced(p.Instance.Values, at), len(at) > 0
}

// find is the object of an identity, nil when it is not among the given ones; those without a namespace get that of the identity.
func find(objs []object.Object, at object.Ref) *object.Object {
	for i, o := range objs {
		ref := o.Ref()
		if ref.Namespace == "" {
			ref.Namespace = at.Namespace
		}
		if ref == at {
			return &objs[i]
		}
	}
	return nil
}

// add adds the objects of a part to what may be declared.
func (s *State) add(p *InstanceRender, objs []object.Scoped, ignores []v1alpha1.IgnoreRule) {
	for _, o := range objs {
		d, _ := plan.Declared(o, p.Instance, ignores)
		s.Maybe = append(s.Maybe, d)
	}
}
