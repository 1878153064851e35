package v1alpha1

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// TestValuesJSON: JSON keeps order, kinds and digits; what is no object is no values.
func TestValuesJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":{"z":[1.0,1e3,-0.50,12345678901234567890],"y":"<\u00e9\">&"},"n":null,"t":true}`: `{"b":1,"a":{"z":[1.0,1e3,-0.50,12345678901234567890],"y":"<é\">&"},"n":null,"t":true}`,
		"{}": "{}", "null": "null", " { \"a\" : [ ] } ": `{"a":[]}`, `[]`: "", `3`: "", `{"a":1,"a":2}`: "", `{"a":{"b":1,"b":1}}`: "", `{"a":1} {}`: "", `{`: "",
	} {
		var v Values
		err := json.Unmarshal([]byte(in), &v)
		if want == "" {
			if err == nil {
				t.Errorf("%s is read", in)
			}
			continue
		}
		got, err2 := json.Marshal(v)
		raw, err3 := v.MarshalJSON()
		if err != nil || err2 != nil || err3 != nil || string(raw) != want || !json.Valid(got) {
			t.Errorf("%s: %s, want %s (%v, %v, %v)", in, raw, want, err, err2, err3)
		}
	}
	bytesValue := &Value{Kind: KindStruct, Fields: []Field{{Name: "b", Value: &Value{Kind: KindBytes, Text: "\xff"}}}}
	if got, err := bytesValue.MarshalJSON(); string(got) != `{"b":"/w=="}` || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if _, err := (&Value{Kind: KindInt, Text: "x"}).MarshalJSON(); err == nil {
		t.Error("no number is written")
	}
}

// TestValue: paths lead into data, and what is not there is nil.
func TestValue(t *testing.T) {
	x := new(Value)
	if err := x.UnmarshalJSON([]byte(`{"a":{"b":[{"name":"p","n":80},{"name":"q","n":81.5}]},"big":12345678901234567890,"far":1e999}`)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{"a.b.0.n": int64(80), "a.b[1].n": 81.5, "a.b[name=q].n": 81.5, "a.b[n=80].name": "p", "big": 12345678901234567890.0, "none": nil, "a.none.x": nil, "a.b[9]": nil, "a[0]": nil} {
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		at := x
		for _, s := range p {
			at, _ = at.Step(s)
		}
		if got, err := at.Any(); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("%s: %v %v, want %v", path, got, err, want)
		}
	}
	if _, err := x.Any(); err == nil {
		t.Error("a number of no 64 bits is one")
	}
	exact, _ := x.Exact().(map[string]any)
	if exact["big"] != json.Number("12345678901234567890") || exact["far"] != json.Number("1e999") {
		t.Errorf("%v", exact)
	}
	var none *Value
	if _, ok := none.Str(); ok || none.Lookup("a") != nil || !none.Null() || none.Scalar() || !x.Lookup("big").Scalar() || x.Scalar() {
		t.Error("nil is something")
	}
}

// FuzzValue: any JSON is read and written as the same JSON, or refused.
func FuzzValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,{"b":null}]}`, `"x\u0000\ud800"`, `-0`, `[1e9999]`, `{"a":1,"a":2}`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v := new(Value)
		if v.UnmarshalJSON(data) != nil {
			return
		}
		once, err := v.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again := new(Value)
		if err := again.UnmarshalJSON(once); err != nil {
			t.Fatalf("%v in %s", err, once)
		}
		twice, err := again.MarshalJSON()
		if err != nil || !bytes.Equal(once, twice) || !reflect.DeepEqual(v, again) {
			t.Fatalf("%s became %s: %v", once, twice, err)
		}
	})
}
