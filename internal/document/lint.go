package document

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Comparison is a comparison of the cluster's name or group with a constant.
type Comparison struct {
	// Fact is "name" or "group"; Constant the text it is compared with.
	Fact, Constant string
	// Expr is the comparison as people read it.
	Expr string
	Pos  diag.Pos
}

// Comparisons lists the comparisons (== and !=) of fields bound to the cluster's name or group with string literals.
func (p *Program) Comparisons() []Comparison {
	var out []Comparison
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
				text, isString := stringOf(side[1])
				fact := factOf(side[0], bound)
				if isString && fact != "" {
					out = append(out, Comparison{
						Fact: fact, Constant: text, Pos: position(x.Pos()),
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
		name := labelText(x.Sel)
		if id, ok := x.X.(*ast.Ident); ok && bound[id.Node].fact == "cluster" && (name == "name" || name == "group") {
			return name
		}
		if target := resolveSelector(x, map[ast.Node]bool{}); target != nil && bound[target].fact != "cluster" {
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
		return exprText(x.X) + "." + labelText(x.Sel)
	case *ast.ParenExpr:
		return exprText(x.X)
	}
	return "it"
}

// Lint warns of comparisons with a name or group that none of the clusters has: such a branch never counts. The
// clusters are all of the fleet, not a selection; with the implicit one alone nothing is said.
func (p *Program) Lint(clusters []fleet.Cluster) diag.Findings {
	var specs []v1alpha1.ClusterSpec
	for _, c := range clusters {
		if c.Implicit {
			return nil
		}
		specs = append(specs, c.ClusterSpec)
	}
	if len(specs) == 0 {
		return nil
	}
	have := map[string][]string{"name": fleet.Names(specs), "group": fleet.Groups(specs)}
	var fs diag.Findings
	for _, c := range p.Comparisons() {
		if slices.Contains(have[c.Fact], c.Constant) {
			continue
		}
		n := diag.Warnf("never-matches", "%s: no cluster of the fleet has the %s %q", c.Expr, c.Fact, c.Constant)
		n.Pos = c.Pos
		if n.Fix = diag.DidYouMean(c.Constant, have[c.Fact]); n.Fix == "" {
			n.Fix = "there is: " + strings.Join(have[c.Fact], ", ")
		}
		fs = append(fs, n)
	}
	return fs.Sorted()
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
			if id, ok := x.X.(*ast.Ident); ok && bound[id.Node].fact == "cluster" && labelText(x.Sel) != "version" {
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
