package cuelang

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// Data turns a concrete value into data: defaults resolved, hidden fields, definitions and optional fields left out,
// in field order. Every label and literal has the position v.Pos() gives, the field's line in the user's file.
// It fails with a CUE error (path and positions) where the value is an error or not concrete.
func Data(v cue.Value) (ast.Expr, error) {
	v, _ = v.Default()
	if err := v.Err(); err != nil {
		return nil, err
	}
	switch v.Kind() {
	case cue.StructKind:
		return structData(v)
	case cue.ListKind:
		return listData(v)
	case cue.NullKind:
		return at(ast.NewNull(), v.Pos()), nil
	case cue.BoolKind:
		b, err := v.Bool()
		return at(ast.NewBool(b), v.Pos()), err
	case cue.StringKind:
		s, err := v.String()
		return at(ast.NewString(s), v.Pos()), err
	case cue.BytesKind:
		b, err := v.Bytes()
		return at(ast.NewLit(token.STRING, literal.Bytes.Quote(string(b))), v.Pos()), err
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		return numberData(v)
	}
	return nil, Errorf(v.Pos(), PathOf(v), "incomplete value %v", v.IncompleteKind())
}

func structData(v cue.Value) (ast.Expr, error) {
	it, err := v.Fields()
	if err != nil {
		return nil, err
	}
	out := &ast.StructLit{Lbrace: v.Pos()}
	for it.Next() {
		x, err := Data(it.Value())
		if err != nil {
			return nil, err
		}
		out.Elts = append(out.Elts, field(it.Selector().Unquoted(), x, it.Value().Pos()))
	}
	return out, nil
}

func listData(v cue.Value) (ast.Expr, error) {
	it, err := v.List()
	if err != nil {
		return nil, err
	}
	out := &ast.ListLit{Lbrack: v.Pos()}
	for it.Next() {
		x, err := Data(it.Value())
		if err != nil {
			return nil, err
		}
		out.Elts = append(out.Elts, x)
	}
	return out, nil
}

// numberData keeps the number as CUE writes it, so that 4.0 stays a float and large integers stay exact.
func numberData(v cue.Value) (ast.Expr, error) {
	text, ok := numberText(v.Syntax(cue.Final()))
	if !ok {
		return nil, Errorf(v.Pos(), PathOf(v), "number has no literal form")
	}
	tok := token.INT
	if v.Kind() == cue.FloatKind || v.Kind() == cue.NumberKind && strings.ContainsAny(text, ".eE") {
		tok = token.FLOAT
	}
	return number(text, tok, v.Pos()), nil
}

func numberText(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.BasicLit:
		return x.Value, x.Kind == token.INT || x.Kind == token.FLOAT
	case *ast.UnaryExpr:
		s, ok := numberText(x.X)
		return "-" + s, ok && x.Op == token.SUB && !strings.HasPrefix(s, "-")
	}
	return "", false
}

// number makes the literal of a signed number.
func number(text string, tok token.Token, pos token.Pos) ast.Expr {
	if rest, neg := strings.CutPrefix(text, "-"); neg {
		return &ast.UnaryExpr{OpPos: pos, Op: token.SUB, X: at(ast.NewLit(tok, rest), pos)}
	}
	return at(ast.NewLit(tok, text), pos)
}

// field makes a regular field whose label carries pos.
func field(name string, value ast.Expr, pos token.Pos) *ast.Field {
	label := ast.NewStringLabel(name)
	ast.SetPos(label, pos)
	return &ast.Field{Label: label, Value: value, TokenPos: pos}
}

func at(x ast.Expr, pos token.Pos) ast.Expr {
	ast.SetPos(x, pos)
	return x
}

// Field is one field of a data struct.
type Field struct {
	Name  string
	Value ast.Expr
	Pos   token.Pos
}

// Fields lists the fields of a data struct in order; a label used twice or anything that is not data is an error
// with positions.
func Fields(s *ast.StructLit) ([]Field, error) {
	if s == nil {
		return nil, nil
	}
	return fieldsOf(s.Elts)
}

func fieldsOf(elts []ast.Decl) ([]Field, error) {
	out := make([]Field, 0, len(elts))
	seen := make(map[string]token.Pos, len(elts))
	for _, d := range elts {
		f, ok := d.(*ast.Field)
		if !ok {
			if _, isComment := d.(*ast.CommentGroup); isComment {
				continue
			}
			return nil, errors.Newf(d.Pos(), "not data: %T", d)
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil || f.Constraint != token.ILLEGAL {
			return nil, errors.Newf(f.Pos(), "not data: a field needs a plain name")
		}
		if first, dup := seen[name]; dup {
			return nil, &Error{Pos: f.Label.Pos(), Also: []token.Pos{first}, Text: fmt.Sprintf("field %q is given twice", name)}
		}
		seen[name] = f.Label.Pos()
		out = append(out, Field{Name: name, Value: f.Value, Pos: f.Label.Pos()})
	}
	return out, nil
}

// Lookup returns the value at the path of field names, nil when there is none.
func Lookup(x ast.Expr, path ...string) ast.Expr {
	for _, name := range path {
		s, ok := x.(*ast.StructLit)
		if !ok {
			return nil
		}
		fields, err := Fields(s)
		if err != nil {
			return nil
		}
		x = nil
		for _, f := range fields {
			if f.Name == name {
				x = f.Value
			}
		}
	}
	return x
}
