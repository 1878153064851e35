// Package valueschema asks JSON schemas what they say of values: whether one may stand at a place, of which types it is, what stands beside it.
// A schema comes from strangers: it loads nothing, and what leads back to itself ends.
//
// valueschema must not know charts, nor who gives the values.
package valueschema

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"

	"hawser.dev/hawser/api/v1alpha1"
)

// refusing is a loader of schemas that loads nothing: a render reads no network and no file outside its chart.
// asked is set by the first URL.
type refusing struct{ asked bool }

// Load refuses everything but URNs: as in Helm, one that nobody knows allows everything.
func (r *refusing) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	r.asked = true
	return nil, errors.New("not followed")
}

// Compile is the schema that a text is. Whatever the library makes of a hostile one is an error.
func Compile(text []byte) (s *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, errors.New(fmt.Sprint(r))
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	const name = "chart:///values.schema.json"
	compiler := jsonschema.NewCompiler()
	outside := &refusing{}
	compiler.UseLoader(outside)
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(name)
	if outside.asked {
		// Which URL comes first is chance, so none is named.
		return nil, errors.New("it refers to other files or hosts, which are not followed")
	}
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), name, "values.schema.json"))
	}
	return schema, nil
}

// Cache compiles each schema once. It may be asked by several goroutines; the zero one is ready.
type Cache struct{ compiled sync.Map }

// Of is the schema of whatever key stands for; nil where there is none that can be used.
func (c *Cache) Of(key any, text []byte) *jsonschema.Schema {
	of, _ := c.compiled.LoadOrStore(key, sync.OnceValue(func() *jsonschema.Schema {
		if text == nil {
			return nil
		}
		s, err := Compile(text)
		if err != nil {
			return nil
		}
		return s
	}))
	return of.(func() *jsonschema.Schema)()
}

// NamesText reports whether a schema, or an alternative in it, names texts or this one for the value at a path. One that
// says nothing of the value's kind does not.
func NamesText(s *jsonschema.Schema, at []string, text string) bool {
	return namesText(s, at, text, map[visited]bool{})
}

func namesText(s *jsonschema.Schema, at []string, text string, seen map[visited]bool) bool {
	here := visited{s, len(at)}
	if s == nil || seen[here] {
		return false
	}
	seen[here] = true
	in := slices.Concat([]*jsonschema.Schema{s.Ref, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	if slices.ContainsFunc(in, func(x *jsonschema.Schema) bool { return namesText(x, at, text, seen) }) {
		return true
	}
	if len(at) == 0 {
		named := s.Types != nil && slices.Contains(s.Types.ToStrings(), "string")
		if s.Enum != nil {
			return slices.Contains(s.Enum.Values, any(text))
		}
		return named || s.Const != nil && *s.Const == any(text)
	}
	if x, ok := s.Properties[at[0]]; ok {
		return namesText(x, at[1:], text, seen)
	}
	for pattern, x := range s.PatternProperties {
		if pattern.MatchString(at[0]) && namesText(x, at[1:], text, seen) {
			return true
		}
	}
	more, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return namesText(more, at[1:], text, seen)
}

// Properties are those that a schema names for the value at a place, as far as it says so without conditions.
func Properties(s *jsonschema.Schema, at []string) map[string]*jsonschema.Schema {
	for depth := 0; s != nil && s.Ref != nil && depth < 16; depth++ {
		s = s.Ref
	}
	switch {
	case s == nil:
		return nil
	case len(at) == 0:
		return s.Properties
	}
	return Properties(s.Properties[at[0]], at[1:])
}

// Types are the types of JSON that a schema names for the value at a path, in alternatives and conditions, too: integer is a number, too, where it is
// among listed values. There are none where it says nothing.
func Types(s *jsonschema.Schema, path v1alpha1.Path) map[string]bool {
	out := types{}
	out.in(s, path, map[visited]bool{})
	return out
}

type types map[string]bool

// visited is a part of a schema that was asked about a path with so many steps left.
type visited struct {
	part  *jsonschema.Schema
	steps int
}

// in adds what a part of a schema, and its alternatives, name for the value at a path below it.
func (t types) in(s *jsonschema.Schema, path v1alpha1.Path, seen map[visited]bool) {
	at := visited{s, len(path)}
	if s == nil || seen[at] {
		return
	}
	seen[at] = true
	for _, x := range slices.Concat([]*jsonschema.Schema{s.Ref, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf) {
		t.in(x, path, seen)
	}
	if len(path) > 0 {
		for _, x := range below(s, path[0]) {
			t.in(x, path[1:], seen)
		}
		return
	}
	values := []any{}
	if s.Const != nil {
		values = append(values, *s.Const)
	}
	if s.Enum != nil {
		values = append(values, s.Enum.Values...)
	}
	for _, v := range values {
		switch v.(type) {
		case string:
			t["string"] = true
		case bool:
			t["boolean"] = true
		case nil, []any, map[string]any:
		default:
			t["number"] = true
		}
	}
	if s.Types != nil && len(values) == 0 {
		for _, name := range s.Types.ToStrings() {
			t[name] = true
		}
	}
}

// below are the parts of a schema that are for what is one step below.
func below(s *jsonschema.Schema, step v1alpha1.Step) (out []*jsonschema.Schema) {
	if step.Index {
		out = append(out, s.Items2020)
		out = append(out, s.PrefixItems...)
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			out = append(out, items)
		case []*jsonschema.Schema:
			out = append(out, items...)
		}
		return out
	}
	if x, ok := s.Properties[step.Name]; ok {
		return []*jsonschema.Schema{x}
	}
	for pattern, x := range s.PatternProperties {
		if pattern.MatchString(step.Name) {
			out = append(out, x)
		}
	}
	if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(out) == 0 {
		out = append(out, more)
	}
	return out
}

// Broken says which rule of a schema a value breaks. Numbers are written as they are in files: those that are secret are known so.
func Broken(rule jsonschema.ErrorKind, english *message.Printer) string {
	var got, want *big.Rat
	switch k := rule.(type) {
	case *kind.Minimum:
		got, want = k.Got, k.Want
	case *kind.Maximum:
		got, want = k.Got, k.Want
	case *kind.ExclusiveMinimum:
		got, want = k.Got, k.Want
	case *kind.ExclusiveMaximum:
		got, want = k.Got, k.Want
	case *kind.MultipleOf:
		got, want = k.Got, k.Want
	default:
		return rule.LocalizedString(english)
	}
	number := func(r *big.Rat) string {
		if r.IsInt() && r.Num().BitLen() < 256 {
			return r.Num().String()
		}
		f, _ := r.Float64()
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprintf("%s: got %s, want %s", rule.KeywordPath()[0], number(got), number(want))
}
