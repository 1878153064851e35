package document

import (
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/fleet"
)

// Comparisons lists the comparisons (== and !=) of fields bound to the cluster's name or group with string literals.
func (p *Program) Comparisons() []fleet.Comparison {
	var out []fleet.Comparison
	for _, s := range p.files {
		if s.syntax != syntaxCUE {
			continue
		}
		f, err := parser.ParseFile(s.name, s.data)
		if err != nil {
			continue
		}
		bound := boundFields(f)
		ast.Walk(f, func(n ast.Node) bool {
			x, ok := n.(*ast.BinaryExpr)
			if !ok || x.Op != token.EQL && x.Op != token.NEQ {
				return true
			}
			for _, side := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
				text, isString := cuelang.StringLit(side[1])
				fact := factOf(side[0], bound)
				if isString && fact != "" {
					out = append(out, fleet.Comparison{
						Fact: fact, Constant: text, Pos: cuelang.Pos(x.Pos()),
						Expr: exprText(side[0]) + " " + x.Op.String() + ` "` + text + `"`,
					})
				}
			}
			return true
		}, nil)
	}
	return out
}

// binding tells what a field's value carries.
type binding struct {
	fact string // "name", "group", or "cluster" for the whole struct of @hawser(cluster)
}

// boundFields finds the fields with attributes for the cluster's identity, by their value's node.
func boundFields(f *ast.File) map[ast.Node]binding {
	out := map[ast.Node]binding{}
	ast.Walk(f, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		a, at, err := attributeOf(field)
		if at == nil || err != nil {
			return true
		}
		fact := fleet.ClusterVar(a.Var)
		if a.Cluster() {
			fact = "cluster"
		}
		if fact != "" {
			out[field.Value] = binding{fact}
		}
		return true
	}, nil)
	return out
}

// factOf is the fact an identifier or selector carries, "" for none.
func factOf(x ast.Expr, bound map[ast.Node]binding) string {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return factOf(x.X, bound)
	case *ast.Ident:
		b := bound[x.Node]
		if b.fact != "cluster" {
			return b.fact
		}
	case *ast.SelectorExpr:
		name := cuelang.LabelText(x.Sel)
		if id, ok := x.X.(*ast.Ident); ok && bound[id.Node].fact == "cluster" && (name == "name" || name == "group") {
			return name
		}
		if target := cuelang.ResolveSelector(x); target != nil && bound[target].fact != "cluster" {
			return bound[target].fact
		}
	}
	return ""
}

func exprText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return exprText(x.X) + "." + cuelang.LabelText(x.Sel)
	case *ast.ParenExpr:
		return exprText(x.X)
	}
	return "it"
}

// readsVersion reports whether a file may read the version of a struct of @hawser(cluster): by name, or by using the
// struct as a whole.
func readsVersion(f *ast.File) bool {
	bound := boundFields(f)
	reads := false
	known := map[ast.Node]bool{}
	ast.Walk(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok && bound[id.Node].fact == "cluster" && cuelang.LabelText(x.Sel) != "version" {
				known[id] = true
			}
		case *ast.Ident:
			if bound[x.Node].fact == "cluster" && x.Node != nil && !known[x] {
				reads = true
			}
		}
		return true
	}, nil)
	return reads
}
