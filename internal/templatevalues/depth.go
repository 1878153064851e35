// Package templatevalues bounds what functions of Go's templates do with values: how deep maps and lists stand in each other, and how
// many bytes a value has when it is written out. A map may hold itself, and the same list may stand at a million places.
//
// templatevalues must not know charts, Helm, nor what a function is for.
package templatevalues

import (
	"fmt"
	"reflect"
	"slices"
	"text/template"
)

// MaxDepth is how deep maps and lists may stand in each other in a value that a function goes through or that is printed. Package
// fmt, and others that write a value out, call themselves for each: a map that holds itself (set $d "a" $d) overflows the stack,
// which ends the process and cannot be caught.
const MaxDepth = 1000

// shownValue is the function through which an action prints what may be a map or a list: {{ .x }} is rendered as {{ .x | shown__value }}.
const shownValue = "shown__value"

// Showing is how that stands in a text.
const Showing = " | " + shownValue

// passing are functions of sprig that give values on, or look at the first level of them alone: what they are given may be as deep as it likes.
var passing = []string{
	"list", "tuple", "dict", "set", "unset", "get", "hasKey", "pluck", "pick", "omit", "keys", "values", "dig", "first", "mustFirst", "last", "mustLast",
	"rest", "mustRest", "initial", "mustInitial", "append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend", "reverse", "mustReverse",
	"chunk", "mustChunk", "concat", "default", "empty", "coalesce", "all", "any", "ternary", "compact", "mustCompact",
	"typeOf", "typeIs", "typeIsLike", "kindOf", "kindIs", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite", "eq", "ne",
}

// Bounding are, of functions that were given to templates and others that replace them, those that go through a value, eq, ne, html, js
// and urlquery among them: each refuses a value that is too deep. orig are sprig's.
func Bounding(orig, replaced template.FuncMap) template.FuncMap {
	out := template.FuncMap{shownValue: shown, "eq": equal, "ne": func(a, b reflect.Value) (bool, error) {
		same, err := equal(a, b)
		return !same && err == nil, err
	}}
	escapers := template.FuncMap{"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper}
	for _, fns := range []template.FuncMap{orig, escapers, replaced} {
		for fn, f := range fns {
			if !slices.Contains(passing, fn) && takesAny(reflect.TypeOf(f)) {
				out[fn] = bounding(fn, f)
			}
		}
	}
	dict := orig["dict"].(func(...any) map[string]any)
	out["dict"] = func(v ...any) (map[string]any, error) {
		for i := 0; i < len(v); i += 2 { // a key that is no text is written out
			if _, is := v[i].(string); !is && tooDeep(v[i]) {
				return nil, isTooDeep("dict")
			}
		}
		return dict(v...), nil
	}
	for _, fn := range []string{"merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"} {
		out[fn] = merging(fn, orig[fn])
	}
	return out
}

func isTooDeep(fn string) error {
	return fmt.Errorf("%s is given a value that holds itself, or whose maps and lists stand more than %d deep in each other", fn, MaxDepth)
}

// takesAny reports whether a function may be given a map or a list of anything.
func takesAny(f reflect.Type) bool {
	for i := range f.NumIn() {
		if holds(f.In(i)) {
			return true
		}
	}
	return false
}

// holds reports whether a value of a type may hold any other.
func holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Map, reflect.Slice, reflect.Array:
		return holds(t.Elem())
	}
	return false
}

// bounding is a function that refuses values which are too deep. The usual signatures are called directly.
func bounding(fn string, f any) any {
	switch f := f.(type) {
	case func(any) string:
		return boundingOne(fn, func(v any) (string, error) { return f(v), nil })
	case func(any) (string, error):
		return boundingOne(fn, f)
	case func(any) int:
		return boundingOne(fn, func(v any) (int, error) { return f(v), nil })
	case func(any) int64:
		return boundingOne(fn, func(v any) (int64, error) { return f(v), nil })
	case func(...any) string:
		return boundingMany(fn, func(v ...any) (string, error) { return f(v...), nil })
	case func(...any) (string, error):
		return boundingMany(fn, f)
	}
	was := reflect.TypeOf(f)
	in, out := make([]reflect.Type, was.NumIn()), []reflect.Type{was.Out(0), reflect.TypeFor[error]()}
	for i := range in {
		in[i] = was.In(i)
	}
	do := reflect.ValueOf(f)
	return reflect.MakeFunc(reflect.FuncOf(in, out, was.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		for _, arg := range args {
			if holds(arg.Type()) && tooDeep(arg.Interface()) {
				err := isTooDeep(fn)
				return []reflect.Value{reflect.Zero(out[0]), reflect.ValueOf(&err).Elem()}
			}
		}
		call := do.Call
		if was.IsVariadic() {
			call = do.CallSlice
		}
		if got := call(args); len(got) > 1 {
			return got
		} else {
			return append(got, reflect.Zero(out[1]))
		}
	}).Interface()
}

func boundingOne[T any](fn string, f func(any) (T, error)) func(any) (T, error) {
	return func(v any) (out T, err error) {
		if tooDeep(v) {
			return out, isTooDeep(fn)
		}
		return f(v)
	}
}

func boundingMany[T any](fn string, f func(...any) (T, error)) func(...any) (T, error) {
	return func(v ...any) (out T, err error) {
		if slices.ContainsFunc(v, tooDeep) {
			return out, isTooDeep(fn)
		}
		return f(v...)
	}
}

// shown is a value that is printed, as it is: one that is addressable may be printed in another way.
func shown(v reflect.Value) (reflect.Value, error) {
	if x := v; x.IsValid() && holds(x.Type()) && x.CanInterface() {
		switch value := x.Interface(); {
		case tooDeep(value):
			return v, isTooDeep("what is printed")
		case Weight(value) > MaxMade:
			return v, TooMuch("what is printed")
		}
	}
	return v, nil
}

// tooDeep reports whether maps and lists stand too deep in each other in a value, as they do in one that holds itself.
func tooDeep(v any) bool {
	if flat(v) {
		return false
	}
	d := depths{}
	_, ok := d.of(v, MaxDepth)
	return !ok
}

// flat reports whether a value is no map and no list of anything.
func flat(v any) bool {
	switch v.(type) {
	case nil, string, bool, int, int64, float64, []string:
		return true
	case map[string]any, []any:
		return false
	}
	return !holds(reflect.TypeOf(v))
}

// held is a map or a list in a value: the same one may stand at many places; len is -1 of a map.
type held struct {
	at  uintptr
	len int
}

// depths are how deep the maps and lists are that were gone through.
type depths map[held]int

// of is how deep a value is, false where that is more than left.
func (d depths) of(v any, left int) (int, bool) {
	if flat(v) {
		return 0, true
	}
	x := reflect.ValueOf(v)
	if x.Kind() == reflect.Array {
		x = reflect.ValueOf(slices.Collect(itemsIn(x)))
	}
	id := held{x.Pointer(), -1}
	if x.Kind() == reflect.Slice {
		id.len = x.Len()
	}
	if depth, known := d[id]; known {
		return depth, depth <= left
	}
	if left == 0 {
		return 0, false
	}
	depth := 1
	for item := range itemsIn(x) {
		n, ok := d.of(item, left-1)
		if !ok {
			return 0, false
		}
		depth = max(depth, n+1)
	}
	d[id] = depth
	return depth, true
}

// itemsIn are what a map or a list holds.
func itemsIn(x reflect.Value) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		switch v := x.Interface().(type) {
		case map[string]any:
			for _, item := range v {
				if !yield(item) {
					return
				}
			}
			return
		case []any:
			for _, item := range v {
				if !yield(item) {
					return
				}
			}
			return
		}
		if x.Kind() == reflect.Map {
			for i := x.MapRange(); i.Next(); {
				if !yield(i.Value().Interface()) {
					return
				}
			}
			return
		}
		for i := range x.Len() {
			if !yield(x.Index(i).Interface()) {
				return
			}
		}
	}
}
