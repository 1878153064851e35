package cue

import (
	"cmp"
	"fmt"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
)

// timoniOrder gives merged values the order of fields that Timoni's merge leaves them in, so that what a module makes of
// the order (a checksum over its values) is the same. Timoni fills the module's values into the user's, field by field, and
// writes down what CUE makes of that: fields that only one side has keep their order, mixed ones are sorted by name where
// neither side says otherwise. Values that CUE cannot read so keep the order they have.
func (p *pkg) timoniOrder(merged, user *v1alpha1.Value) *v1alpha1.Value {
	ctx := cuecontext.New()
	path := cue.ParsePath(valuesField)
	// CUE's order is also one of positions: both are texts by themselves, as they are for Timoni.
	lower := ctx.CompileBytes(p.values.text).LookupPath(path)
	upper := ctx.CompileString(fmt.Sprintf("%s: %v", valuesField, ctx.BuildExpr(cuelang.Syntax(user)))).LookupPath(path)
	if !lower.Exists() || lower.Err() != nil || upper.Err() != nil {
		return merged
	}
	return arrange(merged, filled(ctx, upper, lower))
}

// filled is the module's values filled into the user's. Lists have the length of the user's.
func filled(ctx *cue.Context, upper, lower cue.Value) cue.Value {
	switch lower.IncompleteKind() {
	case cue.StructKind:
		out := upper
		it, err := lower.Fields()
		for err == nil && it.Next() {
			at := cue.MakePath(it.Selector())
			value := it.Value()
			if own := upper.LookupPath(at); own.Exists() {
				value = filled(ctx, own, value)
			}
			out = out.FillPath(at, value)
		}
		return out
	case cue.ListKind:
		mine, err := upper.List()
		its, _ := lower.List()
		var items []cue.Value
		for err == nil && mine.Next() {
			item := mine.Value()
			if its.Next() {
				item = filled(ctx, item, its.Value())
			}
			items = append(items, item)
		}
		return ctx.NewList(items...)
	}
	return upper
}

// arrange sorts the fields of data as a value has them.
func arrange(x *v1alpha1.Value, like cue.Value) *v1alpha1.Value {
	out := *x
	switch x.Kind {
	case v1alpha1.KindStruct:
		it, err := like.Fields()
		if err != nil {
			return x
		}
		rank, of := map[string]int{}, map[string]cue.Value{}
		for it.Next() {
			name := it.Selector().Unquoted()
			rank[name], of[name] = len(rank), it.Value()
		}
		out.Fields = slices.Clone(x.Fields)
		for i, f := range x.Fields {
			v, known := of[f.Name]
			if !known {
				return x
			}
			out.Fields[i].Value = arrange(f.Value, v)
		}
		slices.SortStableFunc(out.Fields, func(a, b v1alpha1.Field) int {
			return cmp.Compare(rank[a.Name], rank[b.Name])
		})
	case v1alpha1.KindList:
		it, err := like.List()
		out.Items = slices.Clone(x.Items)
		for i, e := range x.Items {
			if err == nil && it.Next() {
				out.Items[i] = arrange(e, it.Value())
			}
		}
	}
	return &out
}

// origins knows where the values of one evaluation come from. To CUE they are one file, the module's values.cue, as they
// are for Timoni: the order of fields depends on positions. To people they are what the bundle and the module say.
type origins struct {
	file *token.File
	of   []token.Pos
}

// at is the place that stands for a position.
func (o *origins) at(p token.Pos) token.Pos {
	if o.file == nil || p.File() != o.file || p.Offset() >= len(o.of) {
		return p
	}
	return o.of[p.Offset()]
}

// place puts data that nobody else holds into one file, in the order in which it is written.
func (o *origins) place(x ast.Expr, name string) {
	all := make([]ast.Node, 0, 64)
	ast.Walk(x, func(n ast.Node) bool {
		all = append(all, n)
		return true
	}, nil)
	o.file, o.of = token.NewFile(name, 0, len(all)+1), make([]token.Pos, len(all))
	for i, n := range all {
		o.of[i] = n.Pos()
	}
	for i, n := range all {
		pos := o.file.Pos(i, token.Newline)
		switch n := n.(type) {
		case *ast.StructLit:
			n.Lbrace, n.Rbrace = pos, token.NoPos
		case *ast.ListLit:
			n.Lbrack, n.Rbrack = pos, token.NoPos
		case *ast.UnaryExpr:
			n.OpPos = pos
		case *ast.Field:
			n.TokenPos = pos
		default:
			ast.SetPos(n, pos)
		}
	}
}
