package helm

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// duplicates completes findings about entries of lists that have the same key: with the chart that renders them, and
// where the user's values give such an entry.
func (j *job) duplicates(o object.Object, found diag.Findings) diag.Findings {
	for i := range found {
		f := &found[i]
		if f.Code != render.CodeDuplicateKey {
			continue
		}
		meta := j.chart.chart.Metadata
		f.Why = "chart " + meta.Name + " " + meta.Version + " renders both"
		f.Fix = "change the values that make them the same, or the chart"
		list, item := entryAt(o.Body, strings.Split(f.Path, "."))
		field := render.KeyField(list, item)
		if field == "" {
			continue
		}
		if at, pos := j.givenAt(field, item[field]); at != "" {
			f.Why += "; " + at + " (" + pos.String() + ") gives one"
			f.Fix = "give it once: change or remove " + at
		}
	}
	return found
}

// entryAt is the entry of a list at a path, and the name of the list.
func entryAt(body map[string]any, path []string) (list string, item map[string]any) {
	var at any = body
	for i, name := range path {
		switch x := at.(type) {
		case map[string]any:
			at, list = x[name], name
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(x) {
				return "", nil
			}
			at = x[n]
		}
		if i == len(path)-1 {
			item, _ = at.(map[string]any)
		}
	}
	return list, item
}

// givenAt is where the user's values give an entry with this key, the last one where there are several in one list; else
// the only plain value that is equal to it. at is "" where that cannot be said.
func (j *job) givenAt(field string, key any) (at string, pos diag.Pos) {
	var entries, plain []given
	walkValues(userValues(j.req), "values", func(path string, x ast.Expr) {
		switch v := cuelang.Lookup(x, field); {
		case isEntry(path) && v != nil && equalText(v, key):
			entries = append(entries, given{path, v})
		case equalText(x, key) && !(strings.HasSuffix(path, "."+field) && isEntry(parent(path))):
			plain = append(plain, given{path, x})
		}
	})
	one := func(list []given) (string, diag.Pos) {
		last := list[len(list)-1]
		p := last.value.Pos().Position()
		return last.path, diag.Pos{File: render.DisplayPath(p.Filename), Line: p.Line, Column: p.Column}
	}
	switch {
	case len(entries) > 0 && parent(entries[0].path) == parent(entries[len(entries)-1].path):
		return one(entries)
	case len(entries) == 0 && len(plain) == 1:
		return one(plain)
	}
	return "", diag.Pos{}
}

// given is one of the user's values.
type given struct {
	path  string
	value ast.Expr
}

// isEntry reports whether a path is that of a list's entry.
func isEntry(path string) bool {
	_, err := strconv.Atoi(path[strings.LastIndexByte(path, '.')+1:])
	return err == nil
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '.')] }

// walkValues calls see for every value below x.
func walkValues(x ast.Expr, path string, see func(string, ast.Expr)) {
	switch x := x.(type) {
	case *ast.StructLit:
		fields, _ := cuelang.Fields(x)
		for _, f := range fields {
			see(path+"."+f.Name, f.Value)
			walkValues(f.Value, path+"."+f.Name, see)
		}
	case *ast.ListLit:
		for i, e := range x.Elts {
			at := path + "." + strconv.Itoa(i)
			see(at, e)
			walkValues(e, at, see)
		}
	}
}

// equalText reports whether a plain value is written as key is.
func equalText(x ast.Expr, key any) bool {
	switch x.(type) {
	case *ast.StructLit, *ast.ListLit, nil:
		return false
	}
	v, err := cuelang.ToJSON(x)
	return err == nil && v != nil && fmt.Sprint(v) == fmt.Sprint(key)
}
