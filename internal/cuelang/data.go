package cuelang

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
)

// Data turns a concrete value into plain data: defaults resolved, hidden fields, definitions and optional fields left out,
// in field order. Every field and value has the position v.Pos() gives, the field's line in the user's file.
// It fails with a CUE error (path and positions) where the value is an error or not concrete.
func Data(v cue.Value) (*v1alpha1.Value, error) {
	v, _ = v.Default()
	if err := v.Err(); err != nil {
		return nil, err
	}
	out := &v1alpha1.Value{Pos: position(v.Pos())}
	switch v.Kind() {
	case cue.StructKind:
		return out, structData(v, out)
	case cue.ListKind:
		return out, listData(v, out)
	case cue.NullKind:
		return out, nil
	case cue.BoolKind:
		b, err := v.Bool()
		out.Kind, out.Text = v1alpha1.KindBool, strconv.FormatBool(b)
		return out, err
	case cue.StringKind:
		s, err := v.String()
		out.Kind, out.Text = v1alpha1.KindString, s
		return out, err
	case cue.BytesKind:
		b, err := v.Bytes()
		out.Kind, out.Text = v1alpha1.KindBytes, string(b)
		return out, err
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		return out, numberData(v, out)
	}
	return nil, Errorf(v.Pos(), PathOf(v), "incomplete value %v", v.IncompleteKind())
}

func structData(v cue.Value, out *v1alpha1.Value) error {
	it, err := v.Fields()
	if err != nil {
		return err
	}
	out.Kind = v1alpha1.KindStruct
	for it.Next() {
		x, err := Data(it.Value())
		if err != nil {
			return err
		}
		out.Fields = append(out.Fields, v1alpha1.Field{Name: it.Selector().Unquoted(), Value: x, Pos: position(it.Value().Pos())})
	}
	return nil
}

func listData(v cue.Value, out *v1alpha1.Value) error {
	it, err := v.List()
	if err != nil {
		return err
	}
	out.Kind = v1alpha1.KindList
	for it.Next() {
		x, err := Data(it.Value())
		if err != nil {
			return err
		}
		out.Items = append(out.Items, x)
	}
	return nil
}

// numberData keeps all digits of the number, and that 4.0 is a float.
func numberData(v cue.Value, out *v1alpha1.Value) error {
	x, _ := v.Syntax(cue.Final()).(ast.Expr)
	kind, text, err := scalar(x)
	if err != nil || kind != intScalar && kind != floatScalar {
		return Errorf(v.Pos(), PathOf(v), "number has no literal form")
	}
	if v.Kind() == cue.FloatKind && kind == intScalar {
		kind, text = floatScalar, text+".0"
	}
	out.Kind, out.Text = plainKinds[kind], jsonNumber(text)
	return nil
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
