package cuelang_test

import (
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
)

// data evaluates CUE text and returns it as data.
func data(t testing.TB, src string) *v1alpha1.Value {
	t.Helper()
	x, err := cuelang.Data(cuecontext.New().CompileString(src, cue.Filename("in.cue")))
	if err != nil {
		t.Fatalf("data of %q: %v", src, err)
	}
	return x
}

func text(t testing.TB, x *v1alpha1.Value) string {
	t.Helper()
	b, err := format.Node(cuelang.Syntax(x), format.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(b), ",", " ")), " ")
}

func TestData(t *testing.T) {
	for name, c := range map[string]struct{ src, want, reason string }{
		"order":       {`b: 1, a: 2`, `{ b: 1 a: 2 }`, "field order is kept"},
		"float":       {`x: 4.0, y: 4`, `{ x: 4.0 y: 4 }`, "a float stays a float"},
		"bytes":       {`x: 'ab\x00', y: "ab"`, `{ x: 'ab\x00' y: "ab" }`, "bytes stay bytes"},
		"default":     {`x: *3 | int, y: [...string] | *["a"]`, `{ x: 3 y: ["a"] }`, "defaults are resolved"},
		"hidden":      {`_h: 1, #D: 2, o?: 3, x: _h`, `{ x: 1 }`, "hidden fields, definitions, optionals are left out"},
		"null":        {`x: null, y: true, z: false`, `{ x: null y: true z: false }`, "constants"},
		"negative":    {`x: -3, y: -4.5, z: 10 - 20`, `{ x: -3 y: -4.5 z: -10 }`, "signs"},
		"big":         {`x: 123456789012345678901234567890`, `{ x: 123456789012345678901234567890 }`, "big integers stay exact"},
		"labels":      {`"a-b": 1, "_x": 2, "#y": 3`, `{ "a-b": 1 "_x": 2 "#y": 3 }`, "odd names are quoted"},
		"references":  {`a: {x: 1}, b: a & {y: "\(a.x)!"}`, `{ a: x: 1 b: { x: 1 y: "1!" } }`, "references are gone"},
		"string":      {`x: "a\"b\nc"`, `{ x: "a\"b\nc" }`, "quoting"},
		"scalar root": {`"just text"`, `"just text"`, "a document may be one scalar"},
		"calculated":  {`x: 1/4, y: 3*2`, `{ x: 0.25 y: 6 }`, "results of arithmetic"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, text(t, data(t, c.src))); diff != "" {
				t.Errorf("%s: -want +got\n%s", c.reason, diff)
			}
		})
	}
}

func TestDataErrors(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"incomplete": {"a: {\n b: string\n}", "a.b: incomplete value string"},
		"conflict":   {"a: 1\na: 2", "conflicting values 2 and 1"},
		"nested":     {"a: [1, int]", "a.1: incomplete value int"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cuelang.Data(cuecontext.New().CompileString(c.src, cue.Filename("in.cue")))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			fs := cuelang.Findings(err, nil, "")
			if len(fs) == 0 || fs[0].Pos.File != "in.cue" || fs[0].Pos.Line == 0 {
				t.Errorf("no position: %+v", fs)
			}
		})
	}
}

func TestDataPositions(t *testing.T) {
	x := data(t, "a: 1\nb: {\n  c: [\n    true,\n  ]\n}\n_n: 5\nd: _n\n")
	want := map[string]int{"a": 1, "b": 2, "d": 8}
	for _, f := range x.Fields {
		if f.Pos.Line != want[f.Name] {
			t.Errorf("%s: line %d, want %d", f.Name, f.Pos.Line, want[f.Name])
		}
	}
	if got := x.Lookup("b", "c").Items[0].Pos.Line; got != 4 {
		t.Errorf("list element at line %d, want 4", got)
	}
	if x.Lookup("b", "nope") != nil || x.Lookup("a", "x") != nil {
		t.Error("Lookup found what is not there")
	}
}

func TestDigest(t *testing.T) {
	same := [][2]string{
		{`a: 1, b: 2`, "a: 1\n\n// note\nb: 2"},
		{`a: 16`, `a: 0x10`},
		{`a: "x"`, `"a": #"x"#`},
		{`a: 2Mi`, `a: 2097152`},
		{`a: -1`, `a: 1 - 2`},
	}
	for _, c := range same {
		if cuelang.Digest(data(t, c[0])) != cuelang.Digest(data(t, c[1])) {
			t.Errorf("%s and %s differ", c[0], c[1])
		}
	}
	differ := []string{
		`a: 1, b: 2`, `b: 2, a: 1`, `a: 4`, `a: 4.0`, `a: "4"`, `a: '4'`, `a: null`, `a: "null"`, `a: true`, `a: []`, `a: {}`,
		`a: [{}]`, `a: [[]]`, `a: -4`, `"a:": 4`, `{}`,
	}
	seen := map[string]string{cuelang.Digest(nil): "nothing"}
	for _, src := range differ {
		d := cuelang.Digest(data(t, src))
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s have one digest", src, other)
		}
		seen[d] = src
	}
}

func TestFromSyntaxOfWhatIsNoData(t *testing.T) {
	x, err := parser.ParseExpr("x.cue", `{a: b, c: string}`)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := cuelang.FromSyntax(x); err == nil {
		t.Errorf("an expression is data: %v", v)
	}
}

func TestAny(t *testing.T) {
	x := data(t, `a: 1, b: 1.5, c: "s", d: 'by', e: null, f: [true, -2], g: {}, h: 123456789012345678901234567890, i: 1e3`)
	got, err := x.Any()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": int64(1), "b": 1.5, "c": "s", "d": "Ynk=", "e": nil, "f": []any{true, int64(-2)},
		"g": map[string]any{}, "h": 123456789012345678901234567890.0, "i": 1000.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSyntax: plain data is the same data as syntax and back, and every field and value keeps its place.
func TestSyntax(t *testing.T) {
	f, err := cuelang.FromYAML("values.yaml", []byte("# of us\na: 1\nb:\n- x\n- {c: null, \"d e\": true}\n\ne: |\n  text\nf: -3.50\ng: .5\nbig: 12345678901234567890.10\nlong: -12345678901234567890123\n"))
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := cuelang.FromFile(f)
	if err != nil {
		t.Fatal(err)
	}
	mixed := &v1alpha1.Value{Kind: v1alpha1.KindList, Items: []*v1alpha1.Value{data(t, `a: {b: [1, -2, "x", null, true, 0x10, 1_000, 2Mi, 1.5e3]}, c: 'y'`), yaml, {Kind: v1alpha1.KindString, Text: "made"}}}
	for _, x := range []*v1alpha1.Value{yaml, mixed} {
		again, err := cuelang.FromSyntax(cuelang.Syntax(x))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
	if got := cuelang.Line(mixed); got != `[{a: {b: [1, -2, "x", null, true, 16, 1000, 2097152, 1.5e3]}, c: 'y'}, {a: 1, b: ["x", {c: null, "d e": true}], e: "text\n", f: -3.50, g: 0.5, big: 12345678901234567890.10, long: -12345678901234567890123}, "made"]` {
		t.Error(got)
	}
	if cuelang.Syntax(nil) != nil || cuelang.Line(nil) != "" {
		t.Error("no value is one")
	}
}
