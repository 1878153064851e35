package cuelang

import (
	"encoding/json"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
)

// FromSyntax is data of CUE's syntax as plain data, nil for nil. What is no data (a reference, a label given twice) is a CUE error with
// positions.
func FromSyntax(x ast.Expr) (*v1alpha1.Value, error) {
	switch x := x.(type) {
	case nil:
		return nil, nil
	case *ast.StructLit:
		fields, err := Fields(x)
		if err != nil {
			return nil, err
		}
		out := &v1alpha1.Value{Kind: v1alpha1.KindStruct, Pos: position(x.Pos()), Fields: make([]v1alpha1.Field, 0, len(fields))}
		for _, f := range fields {
			value, err := FromSyntax(f.Value)
			if err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, v1alpha1.Field{Name: f.Name, Value: value, Pos: position(f.Pos)})
		}
		return out, nil
	case *ast.ListLit:
		out := &v1alpha1.Value{Kind: v1alpha1.KindList, Pos: position(x.Pos()), Items: make([]*v1alpha1.Value, 0, len(x.Elts))}
		for _, e := range x.Elts {
			item, err := FromSyntax(e)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	}
	kind, text, err := scalar(x)
	if err != nil {
		return nil, err
	}
	return plainScalar(kind, text, x.Pos()), nil
}

// FromFile is the data of a file of one value.
func FromFile(f *ast.File) (*v1alpha1.Value, error) { return FromSyntax(FileData(f)) }

// plainKinds are the kinds of scalars.
var plainKinds = map[scalarKind]v1alpha1.Kind{nullScalar: v1alpha1.KindNull, boolScalar: v1alpha1.KindBool, intScalar: v1alpha1.KindInt,
	floatScalar: v1alpha1.KindFloat, strScalar: v1alpha1.KindString, bytesScalar: v1alpha1.KindBytes}

func plainScalar(kind scalarKind, text string, pos token.Pos) *v1alpha1.Value {
	switch kind {
	case nullScalar:
		text = ""
	case intScalar, floatScalar:
		text = jsonNumber(text)
	}
	return &v1alpha1.Value{Kind: plainKinds[kind], Text: text, Pos: position(pos)}
}

// jsonNumber is a decimal number as JSON writes it: with digits on both sides of a point.
func jsonNumber(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	sign := ""
	if rest, neg := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-"); neg {
		sign, text = "-", rest
	}
	exp := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exp = text[:i], text[i:]
	}
	whole, part, point := strings.Cut(strings.TrimPrefix(text, "+"), ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if point && part == "" {
		part = "0"
	}
	if point {
		part = "." + part
	}
	return sign + whole + part + exp
}

// position is where a token stands, as plain data says it.
func position(p token.Pos) v1alpha1.Position { return v1alpha1.Position(Pos(p)) }

// Syntax is plain data as CUE's syntax, nil for nil. The tree is new, so that a compiler may write into it; its tokens stand where the
// data says, in files that hold nothing else.
func Syntax(v *v1alpha1.Value) ast.Expr {
	if v == nil {
		return nil
	}
	s := syntax{}
	s.reach(v)
	return s.expr(v)
}

// TokenPos is a position as CUE's errors have it.
func TokenPos(p v1alpha1.Position) token.Pos {
	s := syntax{}
	s.see(p)
	return s.pos(p)
}

// syntax knows the files of a tree's positions.
type syntax map[string]*sheet

// sheet is a file whose lines are all of one width.
type sheet struct {
	file         *token.File
	lines, width int
}

func (s syntax) see(p v1alpha1.Position) {
	if p.File == "" || p.Line < 1 {
		return
	}
	at := s[p.File]
	if at == nil {
		at = &sheet{}
		s[p.File] = at
	}
	at.lines, at.width = max(at.lines, p.Line), max(at.width, p.Column+1)
}

func (s syntax) reach(v *v1alpha1.Value) {
	s.see(v.Pos)
	for _, f := range v.Fields {
		s.see(f.Pos)
		s.reach(f.Value)
	}
	for _, e := range v.Items {
		s.reach(e)
	}
}

func (s syntax) pos(p v1alpha1.Position) token.Pos {
	at := s[p.File]
	if at == nil || p.Line < 1 {
		return token.NoPos
	}
	if at.file == nil {
		lines := make([]int, at.lines)
		for i := range lines {
			lines[i] = i * at.width
		}
		at.file = token.NewFile(p.File, -1, at.lines*at.width+1)
		at.file.SetLines(lines)
	}
	return at.file.Pos((p.Line-1)*at.width+max(p.Column, 1)-1, token.NoRelPos)
}

func (s syntax) expr(v *v1alpha1.Value) ast.Expr {
	pos := s.pos(v.Pos)
	switch v.Kind {
	case v1alpha1.KindStruct:
		out := &ast.StructLit{Lbrace: pos, Elts: make([]ast.Decl, 0, len(v.Fields))}
		for _, f := range v.Fields {
			out.Elts = append(out.Elts, field(f.Name, s.expr(f.Value), s.pos(f.Pos)))
		}
		return out
	case v1alpha1.KindList:
		out := &ast.ListLit{Lbrack: pos, Elts: make([]ast.Expr, 0, len(v.Items))}
		for _, e := range v.Items {
			out.Elts = append(out.Elts, s.expr(e))
		}
		return out
	case v1alpha1.KindBool:
		return at(ast.NewBool(v.Text == "true"), pos)
	case v1alpha1.KindInt:
		return number(v.Text, token.INT, pos)
	case v1alpha1.KindFloat:
		return number(v.Text, token.FLOAT, pos)
	case v1alpha1.KindString:
		return at(ast.NewString(v.Text), pos)
	case v1alpha1.KindBytes:
		return at(ast.NewLit(token.STRING, literal.Bytes.Quote(v.Text)), pos)
	}
	return at(ast.NewNull(), pos)
}

// Line is plain data as CUE text on one line, "" for nil.
func Line(v *v1alpha1.Value) string {
	if v == nil {
		return ""
	}
	var b strings.Builder
	line(&b, v)
	return b.String()
}

func line(b *strings.Builder, v *v1alpha1.Value) {
	switch v.Kind {
	case v1alpha1.KindStruct:
		b.WriteByte('{')
		for i, f := range v.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(label(f.Name) + ": ")
			line(b, f.Value)
		}
		b.WriteByte('}')
	case v1alpha1.KindList:
		b.WriteByte('[')
		for i, e := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			line(b, e)
		}
		b.WriteByte(']')
	case v1alpha1.KindString:
		b.WriteString(literal.String.Quote(v.Text))
	case v1alpha1.KindBytes:
		b.WriteString(literal.Bytes.Quote(v.Text))
	case v1alpha1.KindNull:
		b.WriteString("null")
	default:
		b.WriteString(v.Text)
	}
}

// label is a field's name, in quotes where it needs them.
func label(name string) string {
	if id, ok := ast.NewStringLabel(name).(*ast.Ident); ok {
		return id.Name
	}
	return literal.String.Quote(name)
}
