package bind

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

func TestGenerate(t *testing.T) {
	for _, c := range []struct{ reason, values, want, findings string }{
		{"defaults", "{a: {b: {generate: {length: 4}}}}", "a.b 4 62 gene", ""},
		{"a charset by name, in a list", "{a: [{generate: {length: 3, charset: hex}}]}", "a[0] 3 16 000", ""},
		{"a charset written out", "{a: {generate: {length: 2, charset: abcdefghijj}}}", "a 2 10 aa", ""},
		{"other data of that name", "{a: {generate: true}, b: {generate: {size: 3}}, c: {generate: {length: 3}, d: 1}}", "", ""},
		{"mistakes", "{a: {generate: {length: 0, charset: alphanum, chars: x}}}", "",
			"error b.yaml:1:25: a.generate.length: length must be a whole number from 1 to 4096\n" +
				"error b.yaml:1:37: a.generate.charset: charset must be one of alphanumeric, letters, lower, digits, hex, symbols, or at least 10 characters written out\n" +
				"error b.yaml:1:54: a.generate.chars: generate has no field chars"},
		{"all the values", "{generate: {length: 3}}", "", "error b.yaml:1:12: generate.: all the values cannot be made up (make each field up by itself)"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var got []string
			_, fs := Bind(values(t, "b.yaml", c.values), Fill{Generate: func(g Generate) (*v1alpha1.Value, *diag.Finding) {
				got = append(got, fmt.Sprintf("%s %d %d %s", g.At, g.Length, len(g.Alphabet), g.Placeholder()))
				return g.Value("x"), nil
			}})
			same(t, "values", c.want, strings.Join(got, "\n"))
			same(t, "findings", c.findings, lines(fs))
		})
	}
}

// TestGenerateIsOneValue: a layer replaces it as a whole, and it replaces what is below.
func TestGenerateIsOneValue(t *testing.T) {
	base, over := values(t, "a.yaml", "{p: {generate: {length: 3}}, q: plain}"), values(t, "b.yaml", "{p: given, q: {generate: {length: 5, charset: digits}}}")
	spec, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "a", Values: base,
		ValuesFor: []v1alpha1.ValuesFor{{Name: "l", Values: over}}}}}, nil)
	same(t, "findings", "", lines(fs))
	merged, err := cuelang.Overlay(spec.Instances[0].Values.Struct, spec.Instances[0].ValuesFor[0].Values.Struct)
	if err != nil {
		t.Fatal(err)
	}
	out, fs := Bind(v1alpha1.Values{Struct: merged}, Fill{Generate: func(g Generate) (*v1alpha1.Value, *diag.Finding) {
		return g.Value(g.Placeholder()), nil
	}})
	same(t, "findings", "", lines(fs))
	same(t, "values", `{p:"given",q:"00000"}`, strings.ReplaceAll(strings.ReplaceAll(show(out.Struct), "\n", ""), " ", ""))
}

// What is made up for an entry of a list is known by the entry's name, so that it stays that entry's.
func TestGenerateKey(t *testing.T) {
	for text, want := range map[string]string{
		"{users: [{name: \"alice\", password: {generate: {length: 4}}}]}":                             "users[name=alice].password",
		"{users: [{name: \"zoe\"}, {name: \"alice\", a: [{id: \"x\", b: {generate: {length: 4}}}]}]}": "users[name=alice].a[id=x].b",
		"{users: [{name: \"a\", b: {generate: {length: 4}}}, {name: \"a\"}]}":                         "users[0].b",
		"{users: [{name: \"a\", id: \"1\", b: {generate: {length: 4}}}, {name: \"a\", id: \"2\"}]}":   "users[id=1].b",
		"{users: [{generate: {length: 4}}], m: {x: 1}}":                                               "users[0]",
	} {
		var got []string
		_, fs := Bind(values(t, "b.yaml", text), Fill{Generate: func(g Generate) (*v1alpha1.Value, *diag.Finding) {
			got = append(got, g.Key)
			return g.Value("x"), nil
		}})
		same(t, "findings", "", lines(fs))
		same(t, text, want, strings.Join(got, " "))
	}
}
