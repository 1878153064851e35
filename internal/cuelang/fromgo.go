package cuelang

import (
	"encoding/json"
	"maps"
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// FromGo is a value of JSON types (and maps of texts) as data, fields sorted by name, everything at one position. What is no
// such value is null.
func FromGo(v any, pos token.Pos) ast.Expr {
	switch v := v.(type) {
	case map[string]any:
		out := &ast.StructLit{Lbrace: pos}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out.Elts = append(out.Elts, NewField(k, FromGo(v[k], pos), pos))
		}
		return out
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, s := range v {
			m[k] = s
		}
		return FromGo(m, pos)
	case []any:
		out := &ast.ListLit{Lbrack: pos}
		for _, e := range v {
			out.Elts = append(out.Elts, FromGo(e, pos))
		}
		return out
	case string:
		return at(ast.NewString(v), pos)
	case bool:
		return at(ast.NewBool(v), pos)
	case nil:
		return at(ast.NewNull(), pos)
	}
	if text, err := json.Marshal(v); err == nil {
		if x, ok := Number(string(text), pos); ok {
			return x
		}
	}
	return at(ast.NewNull(), pos)
}

// NewField is a field of data, its name at pos.
func NewField(name string, value ast.Expr, pos token.Pos) *ast.Field { return field(name, value, pos) }

// Number is the literal of a text that is one number, with or without a sign, and nothing else.
func Number(text string, pos token.Pos) (ast.Expr, bool) {
	digits := text
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	var info literal.NumInfo
	if digits == "" || digits[0] == '-' || digits[0] == '+' || literal.ParseNum(digits, &info) != nil {
		return nil, false
	}
	tok := token.FLOAT
	if info.IsInt() {
		tok = token.INT
	}
	lit := at(ast.NewLit(tok, digits), pos)
	if text[0] == '-' {
		return &ast.UnaryExpr{OpPos: pos, Op: token.SUB, X: lit}, true
	}
	return lit, true
}
