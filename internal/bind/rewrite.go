package bind

import (
	"errors"
	"path"
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
)

// rewrite gives data with every node replaced that visit has a replacement for; what lies below such a node is not
// visited. Nodes without replacements below them are shared with x, others are new: x is not changed. The path that visit
// gets is used again: it must not be kept.
func rewrite(x ast.Expr, at v1alpha1.Path, visit func(ast.Expr, v1alpha1.Path) (ast.Expr, bool)) ast.Expr {
	if got, done := visit(x, at); done {
		return got
	}
	below := func(s v1alpha1.Step) v1alpha1.Path { return append(at, s) }
	switch x := x.(type) {
	case *ast.StructLit:
		out := x
		for i, d := range x.Elts {
			f, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			name, _, err := ast.LabelName(f.Label)
			if err != nil {
				continue
			}
			value := rewrite(f.Value, below(v1alpha1.Step{Name: name}), visit)
			if value == f.Value {
				continue
			}
			if out == x {
				out = &ast.StructLit{Lbrace: x.Lbrace, Rbrace: x.Rbrace, Elts: append([]ast.Decl(nil), x.Elts...)}
			}
			out.Elts[i] = &ast.Field{Label: f.Label, TokenPos: f.TokenPos, Value: value}
		}
		return out
	case *ast.ListLit:
		out := x
		for i, e := range x.Elts {
			value := rewrite(e, below(v1alpha1.Step{Name: strconv.Itoa(i), Index: true}), visit)
			if value == e {
				continue
			}
			if out == x {
				out = &ast.ListLit{Lbrack: x.Lbrack, Rbrack: x.Rbrack, Elts: append([]ast.Expr(nil), x.Elts...)}
			}
			out.Elts[i] = value
		}
		return out
	}
	return x
}

// seal wraps a struct so that merging layers takes it for one value: it is replaced as a whole.
func seal(s *ast.StructLit) ast.Expr { return &ast.ParenExpr{Lparen: s.Pos(), X: s, Rparen: s.Rbrace} }

// fromStruct is the struct {from: {...}} that a node is, sealed or not; nil for anything else. It has exactly the one
// field from, a struct with instance or file.
func fromStruct(x ast.Expr) *ast.StructLit {
	if p, ok := x.(*ast.ParenExpr); ok {
		x = p.X
	}
	s, ok := x.(*ast.StructLit)
	if !ok {
		return nil
	}
	fields, err := cuelang.Fields(s)
	if err != nil || len(fields) != 1 || fields[0].Name != "from" || !isSource(fields[0].Value) {
		return nil
	}
	return s
}

// isSource reports whether a value is a struct with instance or file.
func isSource(x ast.Expr) bool {
	return cuelang.Lookup(x, "instance") != nil || cuelang.Lookup(x, "file") != nil
}

// plain warns of {from: ...} that is plain data and hardly meant as that: other fields stand beside it, or it names files
// in a way that from does not have.
func plain(v v1alpha1.Values) diag.Findings {
	if v.Struct == nil {
		return nil
	}
	var fs diag.Findings
	rewrite(v.Struct, nil, func(x ast.Expr, at v1alpha1.Path) (ast.Expr, bool) {
		s, ok := x.(*ast.StructLit)
		if fromStruct(x) != nil {
			return x, true
		}
		if !ok {
			return nil, false
		}
		from := cuelang.Lookup(s, "from")
		if from == nil {
			return nil, false
		}
		why, fix := "", "give it a field of its own, or put the other fields into a layer of valuesFor"
		switch {
		case len(s.Elts) > 1 && isSource(from):
			why = "other fields stand beside it"
		case namesFiles(from, len(at) == 0 && len(s.Elts) == 1):
			why, fix = "one file is named by {from: {file: PATH}}", "for one file write {from: {file: PATH}}; each further file is a layer without a selector: valuesFor: {NAME: {values: {from: {file: PATH}}}}"
		default:
			return nil, false
		}
		n := diag.Warnf("value-from", "from is plain data here: %s", why)
		n.Pos, n.Path, n.Fix = cuelang.Pos(from.Pos()), at.String(), fix
		fs = append(fs, n)
		return nil, false
	})
	return fs
}

// namesFiles reports whether what stands in from is files as somebody would write them who does not know how: a list with
// {file: ...} or names in it, {files: ...}, or, where all the values would come from it, the name of a file.
func namesFiles(from ast.Expr, all bool) bool {
	switch x := from.(type) {
	case *ast.ListLit:
		return slices.ContainsFunc(x.Elts, func(e ast.Expr) bool { return cuelang.Lookup(e, "file") != nil || namesFiles(e, all) })
	case *ast.StructLit:
		return cuelang.Lookup(x, "files") != nil
	case *ast.BasicLit:
		name, err := literal.Unquote(x.Value)
		return all && err == nil && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
	}
	return false
}

// cycleOf is a cycle of the graph, each node needing the next, the first repeated at the end; nil when there is none.
func cycleOf(g *dag.Graph[string]) []string {
	var cycle *dag.CycleError[string]
	if !errors.As(g.Cycle(), &cycle) {
		return nil
	}
	return cycle.Path
}
