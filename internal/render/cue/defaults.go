package cue

import (
	"context"
	"slices"
	"strconv"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

var _ render.Defaulter = (*Renderer)(nil)

// Default is the value in the module's values.cue, or else the default of its schema.
func (r *Renderer) Default(ctx context.Context, req render.Request, path v1alpha1.Path) (*v1alpha1.Value, diag.Pos) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	p, err := r.load(ctx, req)
	if err != nil {
		return nil, diag.Pos{}
	}
	if slices.ContainsFunc(path, func(s v1alpha1.Step) bool { return s.Key != "" }) {
		return nil, diag.Pos{}
	}
	place := func(pos v1alpha1.Position) diag.Pos {
		pos.File = r.show(req).Rename(pos.File)
		return diag.Pos(pos)
	}
	if base, err := p.baseValues(); err == nil && base != nil {
		if x := below(base, path); x != nil {
			return x, place(x.Pos)
		}
	}
	v, err := p.build(req, func(source) bool { return true }, nil)
	if err != nil {
		return nil, diag.Pos{}
	}
	v = v.LookupPath(cue.ParsePath(valuesField))
	for _, step := range path {
		sel := cue.Str(step.Name)
		if n, err := strconv.Atoi(step.Name); err == nil && v.IncompleteKind() == cue.ListKind {
			sel = cue.Index(n)
		}
		v = v.LookupPath(cue.MakePath(sel))
	}
	if x, err := cuelang.Data(v); v.Exists() && err == nil {
		return x, place(x.Pos)
	}
	return nil, diag.Pos{}
}

// below follows a path through data; nil when it leads nowhere.
func below(x *v1alpha1.Value, path v1alpha1.Path) *v1alpha1.Value {
	for _, step := range path {
		step.Index = false
		x, _ = x.Step(step)
	}
	return x
}
