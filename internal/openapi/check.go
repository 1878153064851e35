package openapi

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
)

// Step is one step of a path: a field, or an item of a list.
type Step struct {
	Field string
	// Index counts from 0 where Field is ""; Key says which item it is where the list has keys: "name=web".
	Index int
	Key   string
}

// Path leads to a value in an object.
type Path []Step

// String is "spec.containers[name=web].image".
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Field != "" && strings.ContainsAny(s.Field, "./[]\" "):
			fmt.Fprintf(&b, "[%q]", s.Field)
		case s.Field != "":
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Field)
		case s.Key != "":
			b.WriteString("[" + s.Key + "]")
		default:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		}
	}
	return b.String()
}

// Steps are the field names and list indexes.
func (p Path) Steps() []string {
	out := make([]string, len(p))
	for i, s := range p {
		if out[i] = s.Field; s.Field == "" {
			out[i] = strconv.Itoa(s.Index)
		}
	}
	return out
}

// Problem is one thing that an API server would refuse.
type Problem struct {
	Path Path
	// Text says what is wrong, without the path; it holds no value where Options.Hide says so.
	Text string
	// Fix is what may have been meant; "" when nothing is near.
	Fix string
}

// Options of a check.
type Options struct {
	// Whole: nobody else adds fields, so that those that must be there are missing when they are not. Set for new objects.
	Whole bool
	// Hide reports whether a value must not be shown; nil shows all.
	Hide func(Path) bool
}

// maxProblems bounds what is said of one object.
const maxProblems = 20

// Check finds what is wrong with an object of a kind, fields by name and items in the order of their list; nil when nothing is or when the document
// does not have the kind. body is decoded JSON (integers as int64 or float64). apiVersion, kind and status are not looked at.
func (d *Document) Check(kind schema.GroupVersionKind, body map[string]any, o Options) []Problem {
	name := d.kinds[kind]
	root := d.component(name)
	if root == nil {
		return nil
	}
	c := &checker{doc: d, o: o, builtin: d.builtin(name), kind: kind}
	c.object(nil, root, body, true)
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		return slices.CompareFunc(a.Path, b.Path, func(x, y Step) int {
			return cmp.Or(strings.Compare(x.Field, y.Field), cmp.Compare(x.Index, y.Index))
		})
	})
	return c.problems
}

// Reader makes documents of definitions, each of which is read once.
func Reader(read func(schema.GroupKind) map[string]any) func(schema.GroupKind) *Document {
	known := map[schema.GroupKind]*Document{}
	return func(gk schema.GroupKind) *Document {
		if _, ok := known[gk]; !ok {
			known[gk] = Definition(read(gk))
		}
		return known[gk]
	}
}

// Confirm asks the definition of a kind about problems that the published document found: a server publishes a changed
// definition some seconds after it goes by it. What the definition has no schema for, metadata, stays as it was found. With
// no definition, or one without the version, the problems are confirmed.
func Confirm(found []Problem, definition *Document, kind schema.GroupVersionKind, body map[string]any, o Options) []Problem {
	if definition == nil || definition.component(definition.kinds[kind]) == nil {
		return found
	}
	ofMetadata := slices.DeleteFunc(slices.Clone(found), func(p Problem) bool { return len(p.Path) == 0 || p.Path[0].Field != "metadata" })
	rest := slices.DeleteFunc(definition.Check(kind, body, o), func(p Problem) bool { return len(p.Path) > 0 && p.Path[0].Field == "metadata" })
	return append(ofMetadata, rest...)
}

type checker struct {
	doc      *Document
	o        Options
	builtin  bool
	kind     schema.GroupVersionKind
	problems []Problem
}

func (c *checker) add(at Path, fix, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{Path: slices.Clone(at), Text: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// resolve follows references, also the one that Kubernetes wraps to add a default: allOf with a single reference.
func (c *checker) resolve(f *fields) *fields {
	for range 10 {
		switch {
		case f == nil:
			return nil
		case f.Ref != "":
			f = c.doc.component(strings.TrimPrefix(f.Ref, "#/components/schemas/"))
		case f.Type == "" && len(f.AllOf) == 1 && f.AllOf[0] != nil && f.AllOf[0].Ref != "":
			f = f.AllOf[0]
		default:
			return f
		}
	}
	return nil
}

func (c *checker) value(at Path, f *fields, v any) {
	f = c.resolve(f)
	if f == nil || v == nil { // null is as if it were not there
		return
	}
	if want := f.types(); want != nil && !slices.ContainsFunc(want, func(t string) bool { return is(v, t) }) {
		c.add(at, typeFix(want, v), "wants %s, and is %s", article(want), typeOf(v))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(at, f, v, false)
	case []any:
		c.list(at, f, v)
	default:
		c.scalar(at, f, v)
	}
}

// types are those a schema allows; nil allows any.
func (f *fields) types() []string {
	switch {
	case f.IntOrString || f.Format == "int-or-string":
		return []string{"integer", "string"}
	case f.Type != "":
		return []string{f.Type}
	}
	var out []string
	for _, one := range slices.Concat(f.OneOf, f.AnyOf) {
		if one == nil || one.Type == "" {
			return nil
		}
		out = append(out, one.Type)
	}
	return out
}

// metadata checks an object's metadata: all of it by the published schema, and only what a definition restricts (the name)
// by that of a definition, which leaves the rest to the API server.
func (c *checker) metadata(at Path, f *fields, v any) {
	f = c.resolve(f)
	m, ok := v.(map[string]any)
	if f == nil || !ok || f.Properties["labels"] != nil {
		c.value(at, f, v)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if value, here := m[name]; here {
			c.value(append(slices.Clip(at), Step{Field: name}), f.Properties[name], value)
		}
	}
}

func (c *checker) object(at Path, f *fields, v map[string]any, root bool) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if root && (name == "apiVersion" || name == "kind" || name == "status") ||
			f.Embedded && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		here := append(slices.Clip(at), Step{Field: name})
		p, known := f.Properties[name]
		switch {
		case known && root && name == "metadata":
			c.metadata(here, p, v[name])
		case known:
			c.value(here, p, v[name])
		case f.Additional != nil && f.Additional.schema != nil:
			c.value(here, f.Additional.schema, v[name])
		case f.Additional != nil && f.Additional.allowed, f.Preserve, len(f.Properties) == 0, root && name == "metadata":
		default:
			c.unknown(here, f, name)
		}
	}
	if c.o.Whole {
		c.required(at, f, v)
	}
}

func (c *checker) unknown(at Path, f *fields, name string) {
	fix := ""
	if near := diag.Nearest(name, slices.Sorted(maps.Keys(f.Properties))); near != "" {
		fix = "did you mean " + near + "?"
	}
	if name == "sops" && len(at) == 1 {
		fix = diag.FixEncrypted
	}
	c.add(at, fix, "is not a field that %s has", c.kind.Kind)
}

// optional are fields that Kubernetes' own documents call required although an API server takes objects without them: the
// zero value is valid. By the object's kind and the field; source: the validation of each type, v1.30 to v1.36.
var optional = map[string]bool{
	"StatefulSet serviceName": true, "PriorityClass value": true, "NetworkPolicy podSelector": true, "Role rules": true,
	"ClusterRole rules": true, "LimitRange limits": true, "EndpointSlice endpoints": true, "ControllerRevision revision": true,
	"PersistentVolume lun": true, "Pod lun": true, "Deployment lun": true, "StatefulSet lun": true, "DaemonSet lun": true,
}

func (c *checker) required(at Path, f *fields, v map[string]any) {
	for _, name := range f.Required {
		if got, there := v[name]; there && got != nil {
			continue
		}
		p := f.Properties[name]
		if p != nil && len(p.Default) > 0 && !c.builtin || c.builtin && optional[c.kind.Kind+" "+name] {
			continue // it is filled in
		}
		if c.builtin && c.emptyIsFine(p) {
			continue
		}
		c.add(append(slices.Clip(at), Step{Field: name}), "", "is missing")
	}
}

// emptyIsFine: of an object without required fields of its own, the empty one is as good as any.
func (c *checker) emptyIsFine(f *fields) bool {
	f = c.resolve(f)
	return f == nil || f.Type == "object" && len(f.Required) == 0 && len(f.Properties) > 0 || f.Type == "boolean"
}

func (c *checker) list(at Path, f *fields, v []any) {
	if f.MinItems != nil && int64(len(v)) < *f.MinItems {
		c.add(at, "", "has %d entries, at least %d are wanted", len(v), *f.MinItems)
	}
	if f.MaxItems != nil && int64(len(v)) > *f.MaxItems {
		c.add(at, "", "has %d entries, at most %d are allowed", len(v), *f.MaxItems)
	}
	first := map[string]int{}
	for i, item := range v {
		here := append(slices.Clip(at), Step{Index: i})
		if key, shown := c.listKey(f, item); key != "" {
			if len(f.ListMapKeys) == 1 && !c.hides(here) {
				here[len(here)-1].Key = shown
			}
			if j, twice := first[key]; twice {
				c.twice(here, f.ListMapKeys, shown, j)
			} else {
				first[key] = i
			}
		} else if key, ok := setKey(f, item); ok {
			if j, twice := first[key]; twice {
				c.add(here, "remove one", "stands twice: %s is entry %d already", c.shown(here, item), j+1)
			} else {
				first[key] = i
			}
		}
		c.value(here, f.Items, item)
	}
}

// twice is the problem of an item whose keys another one has.
func (c *checker) twice(at Path, keys []string, shown string, first int) {
	if len(keys) > 1 && !c.hides(at) { // a single key is in the path
		c.add(at, "remove one", "stands twice: %s is entry %d already", shown, first+1)
		return
	}
	c.add(at, "remove one", "stands twice: it has the same %s as entry %d", strings.Join(keys, " and "), first+1)
}

// setKey is what tells a plain item of a set from the others.
func setKey(f *fields, item any) (string, bool) {
	if f.ListType != "set" {
		return "", false
	}
	switch item.(type) {
	case string, bool, int64, float64:
		return fmt.Sprintf("%T %v", item, item), true
	}
	return "", false
}

// listKey is what tells an item of a keyed list from the others, and how it is shown.
func (c *checker) listKey(f *fields, item any) (key, shown string) {
	m, ok := item.(map[string]any)
	if !ok || f.ListType != "map" || len(f.ListMapKeys) == 0 {
		return "", ""
	}
	items := c.resolve(f.Items)
	var parts []string
	for _, name := range f.ListMapKeys {
		v, there := m[name]
		if !there && items != nil && items.Properties[name] != nil {
			v = strings.Trim(string(items.Properties[name].Default), `"`)
		}
		parts = append(parts, fmt.Sprintf("%s=%v", name, v))
	}
	return strings.Join(parts, "\x00"), strings.Join(parts, ",")
}

func (c *checker) hides(at Path) bool { return c.o.Hide != nil && c.o.Hide(at) }

// shown is a value as it may stand in a message.
func (c *checker) shown(at Path, v any) string {
	if c.hides(at) {
		return "its value"
	}
	text := fmt.Sprintf("%v", v)
	if s, is := v.(string); is {
		text = strconv.Quote(s)
	}
	if utf8.RuneCountInString(text) > 60 {
		return fmt.Sprintf("a value of %d characters", utf8.RuneCountInString(text)) // a part of a secret would not be known again
	}
	return text
}

func (c *checker) scalar(at Path, f *fields, v any) {
	if len(f.Enum) > 0 && !slices.ContainsFunc(f.Enum, func(e any) bool { return same(e, v) }) {
		var names []string
		for _, e := range f.Enum {
			names = append(names, fmt.Sprintf("%v", e))
		}
		fix := ""
		if s, is := v.(string); is && !c.hides(at) {
			if near := diag.Nearest(s, names); near != "" {
				fix = "did you mean " + near + "?"
			}
		}
		c.add(at, fix, "%s is none of %s", c.shown(at, v), strings.Join(names, ", "))
	}
	switch v := v.(type) {
	case string:
		c.text(at, f, v)
	case int64:
		c.number(at, f, float64(v))
	case float64:
		c.number(at, f, v)
	}
}

func (c *checker) text(at Path, f *fields, v string) {
	n := int64(utf8.RuneCountInString(v))
	switch {
	case f.Format == "byte":
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			c.add(at, "encode it, or give it as it is in stringData where the kind has that", "wants base64, and is not")
		}
	case f.MinLength != nil && n < *f.MinLength:
		c.add(at, "", "has %d characters, at least %d are wanted", n, *f.MinLength)
	case f.MaxLength != nil && n > *f.MaxLength:
		c.add(at, "", "has %d characters, at most %d are allowed", n, *f.MaxLength)
	case f.Pattern != "" && !c.builtin:
		if ok, err := c.doc.patterns.MatchString(f.Pattern, v); err == nil && !ok {
			c.add(at, "", "%s does not match %s", c.shown(at, v), f.Pattern)
		}
	}
}

func (c *checker) number(at Path, f *fields, v float64) {
	switch {
	case f.Minimum != nil && (v < *f.Minimum || f.ExclusiveMinimum && v == *f.Minimum):
		c.add(at, "", "%s is too small: the minimum is %v", c.shown(at, v), *f.Minimum)
	case f.Maximum != nil && (v > *f.Maximum || f.ExclusiveMaximum && v == *f.Maximum):
		c.add(at, "", "%s is too big: the maximum is %v", c.shown(at, v), *f.Maximum)
	case f.Format == "int32" && (v > math.MaxInt32 || v < math.MinInt32):
		c.add(at, "", "does not fit into 32 bits")
	}
}

func same(a, b any) bool { return fmt.Sprintf("%v", a) == fmt.Sprintf("%v", b) }

// is reports whether a JSON value has a type of OpenAPI.
func is(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case int64, int, int32:
		return want == "integer" || want == "number"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	}
	return true
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, int, int32, float64:
		return "a number"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return fmt.Sprintf("%T", v)
}

var articles = map[string]string{"string": "a text", "boolean": "true or false", "integer": "a whole number", "number": "a number",
	"object": "a map", "array": "a list"}

func article(types []string) string {
	var out []string
	for _, t := range types {
		if a, ok := articles[t]; ok && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return strings.Join(out, " or ")
}

// typeFix is the way out of the common slips: a number or a boolean where a text is wanted, and the other way round.
func typeFix(want []string, v any) string {
	switch v := v.(type) {
	case bool, int64, float64:
		if slices.Contains(want, "string") {
			return "put it in quotes"
		}
	case string:
		_, err := strconv.ParseFloat(v, 64)
		number := err == nil && (slices.Contains(want, "integer") || slices.Contains(want, "number"))
		if number || slices.Contains(want, "boolean") && (v == "true" || v == "false") {
			return "leave out the quotes"
		}
		if slices.Contains(want, "array") {
			return "make it a list with one entry"
		}
	case map[string]any:
		if slices.Contains(want, "array") {
			return "make it a list with one entry: put a dash before it"
		}
	}
	return ""
}
