package cue

import (
	"context"
	"strconv"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/render"
)

var _ render.Typer = (*Renderer)(nil)

// Kinds are those of the module's schema; where it lets anything stand, a boolean where values.cue has one.
func (r *Renderer) Kinds(ctx context.Context, req render.Request, paths []v1alpha1.Path) [][]v1alpha1.Kind {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	out := make([][]v1alpha1.Kind, len(paths))
	p, err := r.load(ctx, req)
	if err != nil {
		return out
	}
	v, err := p.build(req, func(s source) bool { return s.name != p.values.name }, nil)
	if err != nil {
		return out
	}
	schema := v.LookupPath(cue.ParsePath(valuesField))
	base, _ := p.baseValues()
	for i, path := range paths {
		own := below(base, path)
		switch kind := kindAt(schema, path); {
		case kind == cue.TopKind && own != nil && own.Kind == v1alpha1.KindBool:
			out[i] = []v1alpha1.Kind{v1alpha1.KindBool}
		case kind&(cue.StringKind|cue.BytesKind) == 0:
			for _, k := range []struct {
				cue  cue.Kind
				kind v1alpha1.Kind
			}{{cue.BoolKind, v1alpha1.KindBool}, {cue.IntKind, v1alpha1.KindInt}, {cue.FloatKind, v1alpha1.KindFloat}} {
				if kind&k.cue != 0 {
					out[i] = append(out[i], k.kind)
				}
			}
		}
	}
	return out
}

// kindAt is what a schema lets the value at a path be: anything where it says nothing.
func kindAt(schema cue.Value, path v1alpha1.Path) cue.Kind {
	for _, step := range path {
		next := member(schema, step.Name)
		if n, err := strconv.Atoi(step.Name); step.Index && err == nil {
			if next = schema.LookupPath(cue.MakePath(cue.Index(n))); !next.Exists() {
				next = schema.LookupPath(cue.MakePath(cue.AnyIndex))
			}
		}
		schema = next
	}
	if !schema.Exists() {
		return cue.TopKind
	}
	return schema.IncompleteKind()
}
