package cuelang

import (
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"
)

// Kind is that of a plain expression, as far as syntax tells.
type Kind string

// The kinds. What is neither a text, a number, a bool nor null is OtherKind, which people read as what it is.
const (
	UnknownKind Kind = ""
	StringKind  Kind = "string"
	NumberKind  Kind = "number"
	BoolKind    Kind = "bool"
	NullKind    Kind = "null"
	OtherKind   Kind = "struct or list"
)

// PlainExpr tells whether an expression is a plain value, which an injected value replaces like a default: a literal, an
// interpolation, arithmetic, or a reference that resolves to a plain field. Everything else (types, bounds, `|`, `&`,
// definitions, calls) is a constraint and is kept.
func PlainExpr(x ast.Expr) (Kind, bool) { return plainExpr(x, map[ast.Node]bool{}) }

func plainExpr(x ast.Expr, seen map[ast.Node]bool) (Kind, bool) {
	if x == nil || seen[x] {
		return UnknownKind, false
	}
	seen[x] = true
	defer delete(seen, x)
	switch x := x.(type) {
	case *ast.BasicLit:
		return literalKind(x), true
	case *ast.Interpolation:
		return StringKind, true
	case *ast.ParenExpr:
		return plainExpr(x.X, seen)
	case *ast.StructLit, *ast.ListLit:
		return OtherKind, true
	case *ast.UnaryExpr:
		k, ok := plainExpr(x.X, seen)
		return k, ok && (x.Op == token.SUB || x.Op == token.ADD || x.Op == token.NOT)
	case *ast.BinaryExpr:
		return plainBinary(x, seen)
	case *ast.Ident:
		return plainIdent(x, seen)
	case *ast.SelectorExpr, *ast.IndexExpr:
		if target := resolveSelector(x, map[ast.Node]bool{}); target != nil {
			return plainExpr(target, seen)
		}
	}
	return UnknownKind, false
}

func literalKind(x *ast.BasicLit) Kind {
	switch x.Kind {
	case token.STRING:
		return StringKind
	case token.INT, token.FLOAT:
		return NumberKind
	case token.TRUE, token.FALSE:
		return BoolKind
	case token.NULL:
		return NullKind
	}
	return UnknownKind
}

func plainBinary(x *ast.BinaryExpr, seen map[ast.Node]bool) (Kind, bool) {
	a, okA := plainExpr(x.X, seen)
	_, okB := plainExpr(x.Y, seen)
	if !okA || !okB {
		return UnknownKind, false
	}
	switch x.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		return a, true
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR, token.MAT, token.NMAT:
		return BoolKind, true
	}
	return UnknownKind, false // & and | are constraints
}

func plainIdent(x *ast.Ident, seen map[ast.Node]bool) (Kind, bool) {
	if strings.HasPrefix(x.Name, "#") || strings.HasPrefix(x.Name, "_#") {
		return UnknownKind, false
	}
	if x.Node == nil {
		switch x.Name {
		case "true", "false":
			return BoolKind, true
		case "null":
			return NullKind, true
		}
		return UnknownKind, false
	}
	target := Resolve(x)
	if target == nil {
		return UnknownKind, false
	}
	return plainExpr(target, seen)
}

// Resolve is the expression an identifier of the same file stands for.
func Resolve(x *ast.Ident) ast.Expr {
	switch n := x.Node.(type) {
	case *ast.LetClause:
		return n.Expr
	case *ast.Alias:
		return n.Expr
	case *ast.Field:
		return n.Value
	case *ast.ImportSpec:
		return nil
	case ast.Expr:
		return n
	}
	return nil
}

// resolveSelector follows a.b and a["b"] through struct literals of the same file.
func resolveSelector(x ast.Expr, seen map[ast.Node]bool) ast.Expr {
	if seen[x] {
		return nil
	}
	seen[x] = true
	switch x := x.(type) {
	case *ast.Ident:
		if x.Node == nil {
			return nil
		}
		return resolveSelector(Resolve(x), seen)
	case *ast.ParenExpr:
		return resolveSelector(x.X, seen)
	case *ast.SelectorExpr:
		return fieldOf(resolveSelector(x.X, seen), LabelText(x.Sel))
	case *ast.IndexExpr:
		if name, ok := StringLit(x.Index); ok {
			return fieldOf(resolveSelector(x.X, seen), name)
		}
		return nil
	}
	return x
}

func fieldOf(x ast.Expr, name string) ast.Expr {
	s, ok := x.(*ast.StructLit)
	if !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "_#") {
		return nil
	}
	var out ast.Expr
	for _, d := range s.Elts {
		f, isField := d.(*ast.Field)
		if !isField || LabelText(f.Label) != name {
			continue
		}
		if out != nil || f.Constraint != token.ILLEGAL {
			return nil // given twice: a conjunction
		}
		out = f.Value
	}
	return out
}

// ResolveSelector follows a.b and a["b"] through struct literals of the same file; nil where that leads nowhere.
func ResolveSelector(x ast.Expr) ast.Expr { return resolveSelector(x, map[ast.Node]bool{}) }

// LabelText is a label's name, or else its text.
func LabelText(l ast.Label) string {
	if name, _, err := ast.LabelName(l); err == nil {
		return name
	}
	if b, err := format.Node(l); err == nil {
		return string(b)
	}
	return ""
}
