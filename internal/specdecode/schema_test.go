package specdecode_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/specdecode"
)

// node is a JSON Schema, with what it refers to put in.
type node map[string]any

// schemas hold both schemas of one kind of document.
type schemas struct {
	*testing.T
	defs map[string]node
	cue  *cue.Context
	seen map[reflect.Type]bool
	// patterns are those that JSON has for texts of a format.
	patterns map[string]any
}

// tagWords are those that a hawser tag may have.
var tagWords = regexp.MustCompile(`^((required(=check)?|key|value|pos|dir|format=[A-Za-z0-9]+|empty=[a-z-]+|(min|max)=[0-9]+)(,|$))+$`)

// TestSchemasAreTheTypes: both schemas have exactly the fields that the types have, require the same ones, refuse what is empty
// and out of bounds where the types' tags do, want the same of texts of one format, and say the same of each field.
func TestSchemasAreTheTypes(t *testing.T) {
	text, err := v1alpha1.Schema("fleet", "json")
	var all struct {
		Defs map[string]node `json:"$defs"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	cueText, err := v1alpha1.Schema("fleet", "cue")
	if err != nil {
		t.Fatal(err)
	}
	s := schemas{t, all.Defs, cuecontext.New(), map[reflect.Type]bool{}, map[string]any{}}
	root := s.cue.CompileString(cueText)
	if root.Err() != nil {
		t.Fatal(root.Err())
	}
	s.structure(reflect.TypeFor[v1alpha1.BundleSpec](), "bundle", s.resolve(node{"$ref": "#/$defs/Bundle"}), root.LookupPath(cue.ParsePath("#Bundle")))
	s.structure(reflect.TypeFor[v1alpha1.FleetSpec](), "fleet", s.resolve(node{"$ref": "#/$defs/Fleet"}), root.LookupPath(cue.ParsePath("#Fleet")))
	if len(s.seen) < 35 {
		t.Errorf("only %d types were looked at", len(s.seen))
	}
}

// resolve puts what a schema refers to into it, and of alternatives takes the one that is neither a cluster's fact nor a word.
func (s schemas) resolve(n node) node {
	out := maps.Clone(n)
	if ref, ok := n["$ref"].(string); ok {
		for k, v := range s.resolve(s.defs[strings.TrimPrefix(ref, "#/$defs/")]) {
			if _, said := out[k]; !said {
				out[k] = v
			}
		}
	}
	if out["type"] != nil || out["properties"] != nil {
		return out
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := out[key].([]any)
		for _, one := range list {
			alternative, _ := one.(map[string]any)
			if r := s.resolve(alternative); alternative["$ref"] != "#/$defs/ClusterFact" && r["type"] != nil {
				delete(out, key)
				maps.Copy(r, out)
				return r
			}
		}
	}
	return out
}

// structure compares a struct type with both schemas of it.
func (s schemas) structure(t reflect.Type, path string, n node, v cue.Value) {
	if s.seen[t] {
		return
	}
	s.seen[t] = true
	for i := range t.NumField() {
		if tag, ok := t.Field(i).Tag.Lookup("hawser"); ok && !tagWords.MatchString(tag) {
			s.Errorf("%s: %s has a tag that says nothing: %s", path, t.Field(i).Name, tag)
		}
	}
	tags, _ := specdecode.Fields(t)
	properties, _ := n["properties"].(map[string]any)
	required, _ := n["required"].([]any)
	inCUE := map[string]cue.Value{}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		s.Errorf("%s: %v", path, err)
		return
	}
	var names, mustCUE []string
	for it.Next() {
		name := it.Selector().Unquoted()
		inCUE[name] = it.Value()
		_, preset := it.Value().Default()
		text := it.Value().IncompleteKind() == cue.StringKind && it.Value().Unify(s.cue.Encode("x")).Err() == nil
		if !it.IsOptional() && !(preset && text) { // of an open list CUE says that it has a default, and of a constant
			mustCUE = append(mustCUE, name)
		}
	}
	for _, tag := range tags {
		names = append(names, tag.Name)
		at := path + "." + tag.Name
		if inJSON := slices.Contains(required, any(tag.Name)); inJSON != tag.Required {
			s.Errorf("%s: required is %t, in JSON %t", at, tag.Required, inJSON)
		}
		if in := slices.Contains(mustCUE, tag.Name); in != tag.Required {
			s.Errorf("%s: required is %t, in CUE %t", at, tag.Required, in)
		}
		property, ok := properties[tag.Name].(map[string]any)
		if value, there := inCUE[tag.Name]; ok && there {
			s.field(t.Field(tag.Index).Type, tag, at, property, value)
		}
	}
	slices.Sort(names)
	if in := slices.Sorted(maps.Keys(properties)); !slices.Equal(in, names) {
		s.Errorf("%s has %v, in JSON %v", path, names, in)
	}
	if in := slices.Sorted(maps.Keys(inCUE)); !slices.Equal(in, names) {
		s.Errorf("%s has %v, in CUE %v", path, names, in)
	}
}

// field compares one field, and what is below it.
func (s schemas) field(t reflect.Type, tag specdecode.Tag, path string, property node, v cue.Value) {
	said, _ := property["description"].(string)
	var docs []string
	comments := v.Doc()
	if len(comments) == 0 {
		comments = cue.Dereference(v).Doc()
	}
	for _, group := range comments {
		docs = append(docs, strings.Join(strings.Fields(group.Text()), " "))
	}
	if property["$ref"] == nil && said != strings.Join(docs[:min(1, len(docs))], " ") {
		s.Errorf("%s: JSON says %q, CUE %q", path, said, docs)
	}
	n := s.resolve(property)
	if tag.Empty != "" && t.Kind() == reflect.String {
		length, _ := n["minLength"].(float64)
		pattern, _ := n["pattern"].(string)
		if length < 1 && (pattern == "" || regexp.MustCompile(pattern).MatchString("")) || v.Unify(s.cue.Encode("")).Err() == nil {
			s.Errorf("%s may be empty in a schema", path)
		}
	}
	if pattern, said := s.patterns[tag.Format]; tag.Format != "" && t.Kind() == reflect.String && said && pattern != n["pattern"] {
		s.Errorf("%s has pattern %v in JSON, another field of its format %v", path, n["pattern"], pattern)
	}
	s.patterns[tag.Format] = n["pattern"]
	if tag.Max > 0 && (n["minimum"] != float64(tag.Min) || n["maximum"] != float64(tag.Max) || v.Unify(s.cue.Encode(tag.Max+1)).Err() == nil || v.Unify(s.cue.Encode(tag.Min-1)).Err() == nil) {
		s.Errorf("%s has other bounds in a schema", path)
	}
	s.below(t, path, n, v)
}

// below goes on with the structs in a field.
func (s schemas) below(t reflect.Type, path string, n node, v cue.Value) {
	isStruct := func(t reflect.Type) bool {
		return t.Kind() == reflect.Struct && t.NumField() > 0 && t != reflect.TypeFor[v1alpha1.Duration]() && t != reflect.TypeFor[v1alpha1.Values]()
	}
	switch {
	case t.Kind() == reflect.Pointer:
		s.below(t.Elem(), path, n, v)
	case isStruct(t):
		s.structure(t, path, n, structOf(v))
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && isStruct(t.Elem()):
		key, one := "items", v.LookupPath(cue.MakePath(cue.AnyIndex))
		tags, named := specdecode.Fields(t.Elem())
		if tags[0].Value {
			return
		}
		if named != nil || t.Kind() == reflect.Map {
			key, one = "additionalProperties", v.FillPath(cue.ParsePath("a"), s.cue.CompileString("_")).LookupPath(cue.ParsePath("a"))
		}
		items, _ := n[key].(map[string]any)
		s.structure(t.Elem(), path, s.resolve(items), structOf(one))
	}
}

// structOf is the struct among alternatives.
func structOf(v cue.Value) cue.Value {
	if op, args := v.Expr(); op == cue.OrOp {
		for _, a := range args {
			if a.IncompleteKind() == cue.StructKind {
				return a
			}
		}
	}
	return v
}
