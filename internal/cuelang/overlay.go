package cuelang

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// Overlay lays over on base, both data, and returns new data that shares their literals (so positions stay):
//   - structs merge field by field; the order is over's fields, then what only base has;
//   - lists merge element by element and have over's length, [] empties;
//   - anything else replaces, also null over a scalar (an expression in parentheses is one such thing); a struct with fields or a list is never replaced by another
//     kind: that is an error which names both positions.
//
// A nil argument stands for no value. The rules are those of Timoni's values, with lists longer than the default's
// allowed.
func Overlay(base, over ast.Expr) (ast.Expr, error) {
	return overlay(base, over, false, nil)
}

// OverlayChart is Overlay with Helm's rules for files of values: structs merge field by field, anything else replaces,
// whatever stands there. A null stays, so that it removes what the chart itself has.
func OverlayChart(base, over ast.Expr) (ast.Expr, error) {
	return overlay(base, over, true, nil)
}

func overlay(base, over ast.Expr, chart bool, path []string) (ast.Expr, error) {
	if over == nil {
		return base, nil
	}
	if _, isStruct := over.(*ast.StructLit); chart && !isStruct {
		return over, nil
	}
	switch b := base.(type) {
	case *ast.StructLit:
		o, ok := over.(*ast.StructLit)
		if !ok {
			if len(b.Elts) == 0 {
				return over, nil
			}
			return nil, kindError(path, "struct", base, over)
		}
		return overlayStruct(b, o, chart, path)
	case *ast.ListLit:
		if chart {
			return over, nil
		}
		o, ok := over.(*ast.ListLit)
		if !ok {
			return nil, kindError(path, "list", base, over)
		}
		return overlayList(b, o, path)
	}
	return over, nil
}

func overlayStruct(base, over *ast.StructLit, chart bool, path []string) (ast.Expr, error) {
	lower, err := Fields(base)
	if err != nil {
		return nil, err
	}
	upper, err := Fields(over)
	if err != nil {
		return nil, err
	}
	index := make(map[string]Field, len(lower))
	for _, f := range lower {
		index[f.Name] = f
	}
	out := &ast.StructLit{Lbrace: over.Pos()}
	for _, f := range upper {
		value := f.Value
		if b, ok := index[f.Name]; ok {
			if value, err = overlay(b.Value, f.Value, chart, append(path, f.Name)); err != nil {
				return nil, err
			}
			delete(index, f.Name)
		}
		out.Elts = append(out.Elts, field(f.Name, value, f.Pos))
	}
	for _, f := range lower {
		if _, left := index[f.Name]; left {
			out.Elts = append(out.Elts, field(f.Name, f.Value, f.Pos))
		}
	}
	return out, nil
}

func overlayList(base, over *ast.ListLit, path []string) (ast.Expr, error) {
	out := &ast.ListLit{Lbrack: over.Pos()}
	for i, x := range over.Elts {
		if i < len(base.Elts) {
			merged, err := overlay(base.Elts[i], x, false, append(path, strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			x = merged
		}
		out.Elts = append(out.Elts, x)
	}
	return out, nil
}

// kindError is a CUE error at the overlay's position that also names the base's.
func kindError(path []string, kind string, base, over ast.Expr) error {
	e := Errorf(positionOf(over), slices.Clone(path), // path is used again
		"%s cannot replace the %s", kindName(over), kind)
	if p := positionOf(base); p.IsValid() {
		e.Also = []token.Pos{p}
	}
	return e
}

// positionOf is the node's own position, or that of its first element for nodes made without one.
func positionOf(x ast.Expr) token.Pos {
	if p := x.Pos(); p.IsValid() {
		return p
	}
	if s, ok := x.(*ast.StructLit); ok && len(s.Elts) > 0 {
		return s.Elts[0].Pos()
	}
	return token.NoPos
}

func kindName(x ast.Expr) string {
	switch x.(type) {
	case *ast.StructLit:
		return "a struct"
	case *ast.ListLit:
		return "a list"
	case *ast.ParenExpr: // as values from elsewhere are sealed
		return "a value from elsewhere"
	}
	switch kind, _, _ := scalar(x); kind {
	case nullScalar:
		return "null"
	case boolScalar:
		return "a boolean"
	case intScalar, floatScalar:
		return "a number"
	case strScalar:
		return "a string"
	case bytesScalar:
		return "bytes"
	}
	return "an expression"
}
