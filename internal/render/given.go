package render

import (
	"fmt"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// GivenBy is where the user's values of a chart or a module give what a rendered object has at a path: the value that is
// equal and whose names end most like the path, or else the only plain one that is equal. at is "" where that cannot be said.
func GivenBy(values *v1alpha1.Value, body map[string]any, path []string) (at string, pos diag.Pos) {
	has, ok := valueAt(body, path)
	if !ok || values == nil {
		return "", diag.Pos{}
	}
	var found *v1alpha1.Value
	best, same := -1, 0
	var walk func(x *v1alpha1.Value, names []string)
	walk = func(x *v1alpha1.Value, names []string) {
		if n := ending(names, path); len(names) > 0 && (n > 0 || plain(has)) && equal(x, has) {
			switch {
			case n > best:
				best, same, found, at = n, 1, x, "values."+strings.Join(names, ".")
			case n == best:
				same++
			}
		}
		for _, f := range x.Fields {
			walk(f.Value, append(names[:len(names):len(names)], f.Name))
		}
		for i, e := range x.Items {
			walk(e, append(names[:len(names):len(names)], strconv.Itoa(i)))
		}
	}
	walk(values, nil)
	if same != 1 {
		return "", diag.Pos{}
	}
	return at, ShownAt(found.Pos)
}

// ShownAt is where a value stands, its file as people know it.
func ShownAt(p v1alpha1.Position) diag.Pos {
	p.File = DisplayPath(p.File)
	return diag.Pos(p)
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
func equal(x *v1alpha1.Value, has any) bool {
	v, err := x.Any()
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
