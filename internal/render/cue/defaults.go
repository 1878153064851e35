package cue

import (
	"context"
	"slices"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

var _ render.Defaulter = (*Renderer)(nil)

// Default is the value in the module's values.cue, or else the default of its schema.
func (r *Renderer) Default(ctx context.Context, req render.Request, path v1alpha1.Path) (ast.Expr, diag.Pos) {
	defer r.opts.Watch.Enter("instance " + req.Instance.Name)()
	p, err := r.load(ctx, req)
	if err != nil {
		return nil, diag.Pos{}
	}
	if slices.ContainsFunc(path, func(s v1alpha1.Step) bool { return s.Key != "" }) {
		return nil, diag.Pos{}
	}
	place := func(pos token.Pos) diag.Pos {
		return diag.Pos{File: r.show(req).Rename(pos.Filename()), Line: pos.Line(), Column: pos.Column()}
	}
	if base, err := p.baseValues(); err == nil && base != nil {
		if x := below(base, path); x != nil {
			return x, place(x.Pos())
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
		return x, place(v.Pos())
	}
	return nil, diag.Pos{}
}

// below follows a path through data; nil when it leads nowhere.
func below(x ast.Expr, path v1alpha1.Path) ast.Expr {
	for _, step := range path {
		switch at := x.(type) {
		case *ast.StructLit:
			x = cuelang.Lookup(at, step.Name)
		case *ast.ListLit:
			n, err := strconv.Atoi(step.Name)
			if err != nil || n >= len(at.Elts) {
				return nil
			}
			x = at.Elts[n]
		default:
			return nil
		}
	}
	return x
}
