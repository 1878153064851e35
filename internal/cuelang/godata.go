package cuelang

import (
	"encoding/json"

	"cuelang.org/go/cue/ast"
)

// GoData is CUE data as Go's JSON types, integers as int64 and other numbers as json.Number in the user's spelling.
func GoData(x ast.Expr) any {
	switch x := x.(type) {
	case *ast.StructLit:
		fields, err := Fields(x)
		if err != nil {
			return nil
		}
		out := make(map[string]any, len(fields))
		for _, f := range fields {
			out[f.Name] = GoData(f.Value)
		}
		return out
	case *ast.ListLit:
		out := make([]any, 0, len(x.Elts))
		for _, e := range x.Elts {
			out = append(out, GoData(e))
		}
		return out
	}
	v, err := ToJSON(x)
	if _, isFloat := v.(float64); isFloat && err == nil {
		sign := ""
		if u, ok := x.(*ast.UnaryExpr); ok {
			sign, x = "-", u.X
		}
		if lit, ok := x.(*ast.BasicLit); ok {
			return json.Number(sign + lit.Value)
		}
	}
	return v
}
