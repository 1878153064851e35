package cue

import (
	"cmp"
	"fmt"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
)

// timoniOrder gives merged values the order of fields that Timoni's merge leaves them in, so that what a module makes of
// the order (a checksum over its values) is the same. Timoni fills the module's values into the user's, field by field, and
// writes down what CUE makes of that: fields that only one side has keep their order, mixed ones are sorted by name where
// neither side says otherwise. Values that CUE cannot read so keep the order they have.
func (p *pkg) timoniOrder(merged, user ast.Expr) ast.Expr {
	ctx := cuecontext.New()
	path := cue.ParsePath(valuesField)
	// CUE's order is also one of positions: both are texts by themselves, as they are for Timoni.
	lower := ctx.CompileBytes(p.values.text).LookupPath(path)
	upper := ctx.CompileString(fmt.Sprintf("%s: %v", valuesField, ctx.BuildExpr(cuelang.Clone(user)))).LookupPath(path)
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
func arrange(x ast.Expr, like cue.Value) ast.Expr {
	switch x := x.(type) {
	case *ast.StructLit:
		it, err := like.Fields()
		if err != nil {
			return x
		}
		rank, of := map[string]int{}, map[string]cue.Value{}
		for it.Next() {
			name := it.Selector().Unquoted()
			rank[name], of[name] = len(rank), it.Value()
		}
		out := &ast.StructLit{Lbrace: x.Lbrace, Rbrace: x.Rbrace}
		for _, d := range x.Elts {
			f, ok := d.(*ast.Field)
			v, known := of[nameOf(d)]
			if !ok || !known {
				return x
			}
			out.Elts = append(out.Elts, &ast.Field{Label: f.Label, TokenPos: f.TokenPos, Value: arrange(f.Value, v)})
		}
		slices.SortStableFunc(out.Elts, func(a, b ast.Decl) int {
			return cmp.Compare(rank[nameOf(a)], rank[nameOf(b)])
		})
		return out
	case *ast.ListLit:
		out := &ast.ListLit{Lbrack: x.Lbrack, Rbrack: x.Rbrack}
		it, err := like.List()
		for _, e := range x.Elts {
			if err == nil && it.Next() {
				e = arrange(e, it.Value())
			}
			out.Elts = append(out.Elts, e)
		}
		return out
	}
	return x
}

func nameOf(d ast.Decl) string {
	f, ok := d.(*ast.Field)
	if !ok {
		return ""
	}
	name, _, _ := ast.LabelName(f.Label)
	return name
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
