package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
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
	Data    *v1alpha1.Value
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
				"l": []any{true, false, "s", []any{}, map[string]any{}}, "e": []any(nil), "m": map[string]any(nil)}, nil, diag.Findings{found, {}}, time.Minute, nil},
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

// TestPlaces: plain data keeps order, kinds, marks and every place.
func TestPlaces(t *testing.T) {
	at := func(file string, line int) v1alpha1.Position {
		return v1alpha1.Position{File: file, Line: line, Column: 7}
	}
	data := &v1alpha1.Value{Kind: v1alpha1.KindStruct, Pos: at("a.yaml", 1), Whole: true, Fields: []v1alpha1.Field{
		{Name: "z", Pos: at("b.cue", 1<<30), Value: &v1alpha1.Value{Kind: v1alpha1.KindString, Text: "x\x00", Foreign: true, Pos: at("a.yaml", 2)}},
		{Name: "", Value: &v1alpha1.Value{Kind: v1alpha1.KindList, Items: []*v1alpha1.Value{{}, {Kind: v1alpha1.KindFloat, Text: "1.50", Pos: at("b.cue", 0)}, {Kind: v1alpha1.KindBytes, Text: "\xff"}}}},
		{Name: "a", Value: &v1alpha1.Value{Kind: v1alpha1.KindInt, Text: "123456789012345678901234567890"}}, {Name: "n"}}}
	for _, x := range []*v1alpha1.Value{nil, data, {}} {
		type both struct {
			Values v1alpha1.Values
			At     v1alpha1.Position
		}
		in := both{v1alpha1.Values{Struct: x}, at("c", 3)}
		if diff := cmp.Diff(in, carried(t, in)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// TestRefused: what would lose something is an error, and never a value.
func TestRefused(t *testing.T) {
	type hidden struct{ X, y int }
	for name, v := range map[string]any{
		"unexported": hidden{1, 2}, "function": outer{Func: func() {}}, "channel": make(chan int), "any": outer{Any: 3}, "keys": map[int]string{1: ""},
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
	for _, v := range []outer{{}, {Text: "x", List: []inner{{Name: "y"}}, Any: []any{int64(1)}, Data: &v1alpha1.Value{Kind: v1alpha1.KindStruct, Fields: []v1alpha1.Field{{Name: "a", Value: &v1alpha1.Value{}, Pos: v1alpha1.Position{File: "f", Line: 1}}}}}} {
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
