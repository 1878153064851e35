package v1alpha1

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Values are an instance's values: ordered data, in which integers stay integers, numbers keep all their digits, and every field and
// value knows where it stands in the user's files. Its JSON is the data alone, in the same order.
//
// The zero Values has no fields.
type Values struct {
	// Struct is of KindStruct, nil for no values.
	Struct *Value
}

// Kind is what a Value is.
type Kind byte

// The kinds. Int and Float are both numbers of JSON: 4 and 4.0 are different values.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindString
	KindBytes
	KindList
	KindStruct
)

// Value is a node of ordered data. Who gets one does not change it: parts of it are shared. Methods that say so take nil for no
// value.
type Value struct {
	Kind Kind
	// Whole is replaced as a whole where layers are merged, like a scalar. Foreign is a text of a file that another program's rules
	// are for, like a chart's file of values: what would be a mistake in our own documents may be meant there. JSON has neither.
	Whole, Foreign bool
	// Text is a text, bytes, "true", "false", or a number as JSON writes it, whose digits are all kept.
	Text string
	// Fields are those of a struct, each name once; Items those of a list.
	Fields []Field
	Items  []*Value
	Pos    Position
}

// Field is one field of a struct.
type Field struct {
	Name  string
	Value *Value
	// Pos is where its name stands.
	Pos Position
}

// IsZero reports whether nothing is said about values, not even that there are none.
func (v Values) IsZero() bool { return v.Struct == nil }

// Empty reports whether there are no values.
func (v Values) Empty() bool { return v.Struct == nil || len(v.Struct.Fields) == 0 }

// MarshalJSON writes the data; no values are null.
func (v Values) MarshalJSON() ([]byte, error) { return v.Struct.MarshalJSON() }

// UnmarshalJSON reads an object, or null for no values.
func (v *Values) UnmarshalJSON(b []byte) error {
	x := new(Value)
	if err := x.UnmarshalJSON(b); err != nil {
		return err
	}
	switch x.Kind {
	case KindStruct:
		v.Struct = x
	case KindNull:
		v.Struct = nil
	default:
		return errors.New("values must be an object")
	}
	return nil
}

// Lookup is the value below names of fields, nil where there is none.
func (v *Value) Lookup(names ...string) *Value {
	for _, name := range names {
		if v == nil || v.Kind != KindStruct {
			return nil
		}
		i := slices.IndexFunc(v.Fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		v = v.Fields[i].Value
	}
	return v
}

// Step is one step of a path below a value, nil where it leads nowhere; label is where the field's name stands.
func (v *Value) Step(s Step) (x *Value, label Position) {
	switch {
	case v == nil:
	case v.Kind == KindStruct && s.Key == "" && !s.Index:
		for _, f := range v.Fields {
			if f.Name == s.Name {
				return f.Value, f.Pos
			}
		}
	case v.Kind == KindList:
		for i, e := range v.Items {
			if s.Key == "" && s.Name == strconv.Itoa(i) || s.Key != "" && e.Lookup(s.Key).is(s.Value) {
				return e, label
			}
		}
	}
	return nil, label
}

// is reports whether a value is one that is written as text.
func (v *Value) is(text string) bool {
	if v == nil {
		return false
	}
	have, err := v.Any()
	return err == nil && have != nil && fmt.Sprint(have) == text
}

// Str is the text of a text; everything else, nil too, is none.
func (v *Value) Str() (string, bool) {
	if v == nil || v.Kind != KindString {
		return "", false
	}
	return v.Text, true
}

// Null reports whether there is no value, or null.
func (v *Value) Null() bool { return v == nil || v.Kind == KindNull }

// Scalar reports whether it is neither a struct nor a list; nil is none.
func (v *Value) Scalar() bool { return v != nil && v.Kind < KindList }

// RangeError is the error about a number that 64 bits do not hold, at its place.
type RangeError struct{ Pos Position }

// Error says what is wrong, without the number.
func (e *RangeError) Error() string { return "number does not fit into 64 bits" }

// Any is the value as Go's JSON types, in which order is lost: int64 (float64 beyond its range), float64, string, bool, nil, []any,
// map[string]any; bytes are base64. The error is a RangeError.
func (v *Value) Any() (any, error) {
	return v.any(func(v *Value) (any, error) {
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return nil, &RangeError{v.Pos}
		}
		return f, nil
	})
}

// Exact is Any with json.Number for what int64 does not hold.
func (v *Value) Exact() any {
	x, _ := v.any(func(v *Value) (any, error) { return json.Number(v.Text), nil })
	return x
}

func (v *Value) any(number func(*Value) (any, error)) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch v.Kind {
	case KindStruct:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			x, err := f.Value.any(number)
			if err != nil {
				return nil, err
			}
			out[f.Name] = x
		}
		return out, nil
	case KindList:
		out := make([]any, 0, len(v.Items))
		for _, e := range v.Items {
			x, err := e.any(number)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case KindBool:
		return v.Text == "true", nil
	case KindString:
		return v.Text, nil
	case KindBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.Text)), nil
	case KindInt:
		if i, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return i, nil
		}
		return number(v)
	case KindFloat:
		return number(v)
	}
	return nil, nil
}

// MarshalJSON writes the value in its order; nil is null. Bytes are a text of base64, and a text when they are read again: JSON has
// no bytes.
func (v *Value) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := v.json(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (v *Value) json(b *bytes.Buffer) error {
	switch {
	case v == nil || v.Kind == KindNull:
		b.WriteString("null")
	case v.Kind == KindStruct:
		b.WriteByte('{')
		for i, f := range v.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := text(b, f.Name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := f.Value.json(b); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case v.Kind == KindList:
		b.WriteByte('[')
		for i, e := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := e.json(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case v.Kind == KindString:
		return text(b, v.Text)
	case v.Kind == KindBytes:
		return text(b, base64.StdEncoding.EncodeToString([]byte(v.Text)))
	case json.Valid([]byte(v.Text)): // a number, true or false
		b.WriteString(v.Text)
	default:
		return fmt.Errorf("%q is no number", v.Text)
	}
	return nil
}

// text writes a text without the escapes that only HTML needs.
func text(b *bytes.Buffer, s string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	b.Truncate(max(b.Len()-1, 0)) // the line's end
	return err
}

// UnmarshalJSON reads any JSON in its order. A name that an object has twice is an error.
func (v *Value) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	x, err := read(dec)
	if err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	*v = *x
	return nil
}

func read(dec *json.Decoder) (*Value, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case string:
		return &Value{Kind: KindString, Text: t}, nil
	case bool:
		return &Value{Kind: KindBool, Text: strconv.FormatBool(t)}, nil
	case json.Number:
		if bytes.ContainsAny([]byte(t), ".eE") {
			return &Value{Kind: KindFloat, Text: string(t)}, nil
		}
		return &Value{Kind: KindInt, Text: string(t)}, nil
	case json.Delim:
		if t == '[' {
			return readList(dec)
		}
		return readStruct(dec)
	}
	return &Value{}, nil
}

func readList(dec *json.Decoder) (*Value, error) {
	out := &Value{Kind: KindList}
	for dec.More() {
		e, err := read(dec)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, e)
	}
	_, err := dec.Token()
	return out, err
}

func readStruct(dec *json.Decoder) (*Value, error) {
	out := &Value{Kind: KindStruct}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if seen[name] {
			return nil, fmt.Errorf("field %q is given twice", name)
		}
		seen[name] = true
		x, err := read(dec)
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, Field{Name: name, Value: x})
	}
	_, err := dec.Token()
	return out, err
}
