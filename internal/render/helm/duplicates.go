package helm

import (
	"fmt"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
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
	walkValues(userValues(j.req), "values", func(path string, x *v1alpha1.Value) {
		switch v := x.Lookup(field); {
		case isEntry(path) && v != nil && equalText(v, key):
			entries = append(entries, given{path, v})
		case equalText(x, key) && !(strings.HasSuffix(path, "."+field) && isEntry(parent(path))):
			plain = append(plain, given{path, x})
		}
	})
	one := func(list []given) (string, diag.Pos) {
		last := list[len(list)-1]
		return last.path, render.ShownAt(last.value.Pos)
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
	value *v1alpha1.Value
}

// isEntry reports whether a path is that of a list's entry.
func isEntry(path string) bool {
	_, err := strconv.Atoi(path[strings.LastIndexByte(path, '.')+1:])
	return err == nil
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '.')] }

// walkValues calls see for every value below x.
func walkValues(x *v1alpha1.Value, path string, see func(string, *v1alpha1.Value)) {
	if x == nil {
		return
	}
	for _, f := range x.Fields {
		see(path+"."+f.Name, f.Value)
		walkValues(f.Value, path+"."+f.Name, see)
	}
	for i, e := range x.Items {
		at := path + "." + strconv.Itoa(i)
		see(at, e)
		walkValues(e, at, see)
	}
}

// equalText reports whether a plain value is written as key is.
func equalText(x *v1alpha1.Value, key any) bool {
	v, err := x.Any()
	return x.Scalar() && err == nil && v != nil && fmt.Sprint(v) == fmt.Sprint(key)
}
