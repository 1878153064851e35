package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

type inner struct {
	Name  string
	Lists [][]string
	At    *int
}

type outer struct {
	Bool    bool
	Int     int
	Big     int64
	Uint    uint16
	Float   float64
	Text    string
	Bytes   []byte
	List    []inner
	Pointer *inner
	Map     map[string]inner
	Texts   map[string]string
	Any     any
	Body    map[string]any
	Expr    ast.Expr
	Struct  *ast.StructLit
	Found   diag.Findings
	When    time.Duration
	Func    func()
}

// carried is a value as it comes out on the other side.
func carried[T any](t *testing.T, v T) T {
	t.Helper()
	data, err := Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := Unmarshal(data, &out); err != nil {
		t.Fatalf("%v of %d bytes", err, len(data))
	}
	return out
}

// TestNothingIsLost: nil and empty, integers and numbers, order and bytes come out as they went in.
func TestNothingIsLost(t *testing.T) {
	n := -7
	found := diag.Errorf("code", "%s is wrong", "x")
	found.Because("it is ours")
	found.Pos = diag.Pos{File: "a.yaml", Line: 3, Column: 4}
	for name, v := range map[string]outer{
		"zero": {},
		"full": {true, -1 << 40, math.MinInt64, 65535, math.Inf(-1), "a\xff\x00é", []byte{0, 255}, []inner{{"a", [][]string{nil, {}, {"x", ""}}, &n}},
			&inner{}, map[string]inner{"": {}, "b": {Name: "b"}}, map[string]string{"x": ""}, json.Number("1e999"), map[string]any{"i": int64(1), "f": 1.0, "n": nil,
				"l": []any{true, false, "s", []any{}, map[string]any{}}, "e": []any(nil), "m": map[string]any(nil)}, nil, nil, diag.Findings{found, {}}, time.Minute, nil},
		"empty": {Bytes: []byte{}, List: []inner{}, Map: map[string]inner{}, Texts: map[string]string{}, Any: "", Body: map[string]any{}, Found: diag.Findings{}},
	} {
		if got := carried(t, v); !reflect.DeepEqual(got, v) {
			t.Errorf("%s:\n got %#v\nwant %#v", name, got, v)
		}
	}
	if got := carried(t, diag.Findings{found}); !got[0].Told() || got[0].Masked(func(s string) string { return strings.ReplaceAll(s, "x", "***") }) != "*** is wrong" {
		t.Errorf("the finding's sentences are lost: %#v", got[0])
	}
}

// walk calls f for every node's position, in order.
func walk(x ast.Expr) (out []token.Pos) {
	ast.Walk(x, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CommentGroup, *ast.Comment:
			return false
		}
		out = append(out, n.Pos())
		return true
	}, nil)
	return out
}

// TestPositions: data keeps every position: file, line, column, offset and what formatting goes by.
func TestPositions(t *testing.T) {
	yaml, err := cuelang.FromYAML("values.yaml", []byte("# of us\na: 1\nb:\n- x\n- {c: null, \"d e\": true}\n\ne: |\n  text\nf: -3.50\n"))
	if err != nil {
		t.Fatal(err)
	}
	cue, err := parser.ParseExpr("b.cue", "{\n\ta: 0x10, b: [1, -2,\n 'bytes', #\"raw\"#]\n\n\t\"c\": {}}")
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]ast.Expr{"yaml": cuelang.FileData(yaml), "cue": cue, "none": nil, "made": ast.NewString("x"), "mixed": &ast.ListLit{Elts: []ast.Expr{cue, cuelang.FileData(yaml), cue}}} {
		got := carried(t, struct{ X ast.Expr }{x}).X
		if cuelang.Digest(got) != cuelang.Digest(x) {
			t.Errorf("%s: the data is another", name)
		}
		if x == nil {
			continue
		}
		before, after := walk(x), walk(got)
		if len(before) != len(after) {
			t.Fatalf("%s: %d nodes are %d", name, len(before), len(after))
		}
		for i := range before {
			a, b := before[i], after[i]
			if a.Position() != b.Position() || a.RelPos() != b.RelPos() || a.HasComma() != b.HasComma() || a.Scanned() != b.Scanned() {
				t.Errorf("%s: %v is %v", name, a.Position(), b.Position())
			}
		}
	}
}

// TestRefused: what would lose something is an error, and never a value.
func TestRefused(t *testing.T) {
	type hidden struct{ X, y int }
	for name, v := range map[string]any{
		"unexported": hidden{1, 2}, "function": outer{Func: func() {}}, "channel": make(chan int), "any": outer{Any: 3}, "keys": map[int]string{1: ""},
		"expression": struct{ X ast.Expr }{&ast.BinaryExpr{}}, "comprehension": struct{ X ast.Expr }{&ast.StructLit{Elts: []ast.Decl{&ast.Comprehension{}}}},
		"optional": struct{ X ast.Expr }{&ast.StructLit{Elts: []ast.Decl{&ast.Field{Label: ast.NewIdent("a"), Constraint: token.OPTION, Value: ast.NewNull()}}}},
	} {
		if _, err := Marshal(v); err == nil {
			t.Errorf("%s is carried", name)
		}
	}
	data, err := Marshal("text")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)-1], append(data, 0), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		var s string
		if Unmarshal(bad, &s) == nil {
			t.Errorf("%v is read as %q", bad, s)
		}
	}
}

// FuzzUnmarshal: bytes of anybody are an error or a value, which is carried on unchanged.
func FuzzUnmarshal(f *testing.F) {
	for _, v := range []outer{{}, {Text: "x", List: []inner{{Name: "y"}}, Any: []any{int64(1)}, Expr: &ast.StructLit{Elts: []ast.Decl{&ast.Field{Label: ast.NewIdent("a"), Value: ast.NewNull()}}}}} {
		data, err := Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{1, 1, 'f', 200, 1, 2, 0, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v outer
		if Unmarshal(data, &v) != nil {
			return
		}
		if _, err := Marshal(v); err != nil {
			t.Error(err)
		}
	})
}
