package render

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// GivenBy is where the user's values of a chart or a module give what a rendered object has at a path: the value that is
// equal and whose names end most like the path, or else the only plain one that is equal. at is "" where that cannot be said.
func GivenBy(values ast.Expr, body map[string]any, path []string) (at string, pos diag.Pos) {
	has, ok := valueAt(body, path)
	if !ok || values == nil {
		return "", diag.Pos{}
	}
	var found ast.Expr
	best, same := -1, 0
	var walk func(x ast.Expr, names []string)
	walk = func(x ast.Expr, names []string) {
		if n := ending(names, path); len(names) > 0 && (n > 0 || plain(has)) && equal(x, has) {
			switch {
			case n > best:
				best, same, found, at = n, 1, x, "values."+strings.Join(names, ".")
			case n == best:
				same++
			}
		}
		switch x := x.(type) {
		case *ast.StructLit:
			fields, _ := cuelang.Fields(x)
			for _, f := range fields {
				walk(f.Value, append(names[:len(names):len(names)], f.Name))
			}
		case *ast.ListLit:
			for i, e := range x.Elts {
				walk(e, append(names[:len(names):len(names)], strconv.Itoa(i)))
			}
		}
	}
	walk(values, nil)
	if same != 1 {
		return "", diag.Pos{}
	}
	p := found.Pos().Position()
	return at, diag.Pos{File: DisplayPath(p.Filename), Line: p.Line, Column: p.Column}
}

// ending is how many names two paths have in common at their ends.
func ending(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

func plain(v any) bool {
	switch v.(type) {
	case map[string]any, []any, nil:
		return false
	}
	return true
}

// equal reports whether a value is what an object has, in whatever form templates print it.
func equal(x ast.Expr, has any) bool {
	v, err := cuelang.ToJSON(x)
	return err == nil && v != nil && plain(v) == plain(has) && fmt.Sprint(v) == fmt.Sprint(has)
}

// valueAt is what an object has at a path of names and indexes.
func valueAt(body map[string]any, path []string) (any, bool) {
	var at any = body
	for _, name := range path {
		switch x := at.(type) {
		case map[string]any:
			next, ok := x[name]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(x) {
				return nil, false
			}
			at = x[n]
		default:
			return nil, false
		}
	}
	return at, true
}
