package specdecode

import (
	"reflect"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/advice"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// Decoder reads values and collects what is wrong with them. What CUE itself reports (conflicts, values that are not concrete) is
// not reported again.
type Decoder struct {
	Rules Rules
	// Locate is the position that is shown of a value, Dir the directory of the file that holds its literal.
	Locate func(cue.Value) diag.Pos
	Dir    func(cue.Value) string
	// Mask hides secret values in a text that quotes one, MaskPath in a data path.
	Mask, MaskPath func(string) string

	Findings diag.Findings
	// CUEErrors say why values could not be read that CUE refuses; nil where there are none.
	CUEErrors errors.Error
}

// Rules are what the types' tags cannot say.
type Rules struct {
	// Formats are the formats that tags name. One that is not here is any text.
	Formats map[string]Format
	// Checks look at several fields of a struct, by type: see CheckOf.
	Checks map[reflect.Type]Check
	// Instead reads a value that is no struct for a struct type; false leaves it to the fields.
	Instead map[reflect.Type]func(d *Decoder, v cue.Value) bool
	// Later are names of fields of other versions, by type.
	Later map[reflect.Type][]string
	// Empty are What and Fix of the finding about a field that is empty, by name, where "NAME is empty" is too little.
	Empty map[string]diag.Finding
}

// Format is what a text, or a number, has to be.
type Format struct {
	// Kind adds to the finding about a value of another kind; nil adds nothing.
	Kind func(n *diag.Finding, have cue.Kind)
	// Check adds findings about a text; nil takes any.
	Check func(d *Decoder, f Field, s string)
}

// Check adds findings about a struct that was read; out points to it.
type Check func(d *Decoder, s Struct, out any)

// CheckOf is a Check of one type, for Rules.
func CheckOf[T any](check func(d *Decoder, s Struct, out *T)) (reflect.Type, Check) {
	return reflect.TypeFor[T](), func(d *Decoder, s Struct, out any) {
		if out, ok := out.(*T); ok {
			check(d, s, out)
		}
	}
}

// Field is one field of a struct.
type Field struct {
	Name  string
	Value cue.Value
}

// Struct is a struct that was read.
type Struct struct {
	Value cue.Value
	// Fields are all of its fields in order, known or not.
	Fields []Field
	// Sound: nothing was found in it before it was checked.
	Sound bool
}

// At is the value of a field, one that does not exist where it is not there.
func (s Struct) At(name string) cue.Value {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return cue.Value{}
}

// Has reports whether a field is there.
func (s Struct) Has(name string) bool { return s.At(name).Exists() }

// Add adds a finding about a value.
func (d *Decoder) Add(n diag.Finding, v cue.Value) {
	n.Pos, n.Path = d.Locate(v), d.MaskPath(v.Path().String())
	d.Findings = append(d.Findings, advice.For(n))
}

// AddAny adds what was found out about a value, if anything.
func (d *Decoder) AddAny(n *diag.Finding, v cue.Value) {
	if n != nil {
		d.Add(*n, v)
	}
}

// Errorf adds an error about a value.
func (d *Decoder) Errorf(v cue.Value, code, format string, args ...any) {
	d.Add(diag.Errorf(code, format, args...), v)
}

// Fixf adds an error about a value with a way out.
func (d *Decoder) Fixf(v cue.Value, fix, code, format string, args ...any) {
	n := diag.Errorf(code, format, args...)
	n.Fix = fix
	d.Add(n, v)
}

// Require reports a field that is not there.
func (d *Decoder) Require(v cue.Value, name string) {
	n := diag.Errorf("missing-field", "%s is required", name)
	n.Pos, n.Path = d.Locate(v), d.Mask(strings.TrimPrefix(v.Path().String()+"."+name, "."))
	d.Findings = append(d.Findings, advice.For(n))
}

// Position is where a value stands, for the documents' types.
func (d *Decoder) Position(v cue.Value) v1alpha1.Position {
	at := d.Locate(v)
	return v1alpha1.Position{File: at.File, Line: at.Line, Column: at.Column}
}

// refuse notes a value that CUE refuses: CUE says why when it checks the whole. A field nobody wrote is no mistake.
func (d *Decoder) refuse(v cue.Value, err error) {
	if err != nil && v.Exists() {
		d.CUEErrors = errors.Append(d.CUEErrors, errors.Promote(err, ""))
	}
}

// is checks a value's kind. Values CUE refuses are left to CUE.
func (d *Decoder) is(v cue.Value, kind cue.Kind, noun string, format Format) bool {
	have := v.IncompleteKind()
	switch {
	case have == cue.BottomKind && kind != cue.StructKind:
		d.refuse(v, v.Err())
		return false
	case have == cue.BottomKind: // an error inside a struct makes it bottom, yet its fields can be listed
		_, err := v.Fields()
		d.refuse(v, err)
		return err == nil
	case have&kind != 0:
		return true
	}
	n := diag.Errorf("wrong-type", "must be %s, is %s", noun, cuelang.KindWord(have))
	n.Fix = cuelang.ShapeHint(cuelang.PathOf(v), kind, have)
	if format.Kind != nil {
		format.Kind(&n, have)
	}
	d.Add(n, v)
	return false
}

// fields lists a struct's fields in order.
func (d *Decoder) fields(v cue.Value) ([]Field, bool) {
	if !d.is(v, cue.StructKind, "a struct", Format{}) {
		return nil, false
	}
	it, err := v.Fields()
	if err != nil {
		d.refuse(v, err)
		return nil, false
	}
	var out []Field
	for it.Next() {
		out = append(out, Field{it.Selector().Unquoted(), it.Value()})
	}
	return out, true
}

// list gives the items of a list.
func (d *Decoder) list(v cue.Value) ([]cue.Value, bool) {
	v, _ = v.Default()
	if !d.is(v, cue.ListKind, "a list", Format{}) {
		return nil, false
	}
	it, err := v.List()
	if err != nil {
		d.refuse(v, err)
		return nil, false
	}
	var out []cue.Value
	for it.Next() {
		out = append(out, it.Value())
	}
	return out, true
}

// Items are the items of a list, none of what is none.
func Items(v cue.Value) []cue.Value {
	if !v.Exists() {
		return nil
	}
	v, _ = v.Default()
	it, err := v.List()
	if err != nil {
		return nil
	}
	var out []cue.Value
	for it.Next() {
		out = append(out, it.Value())
	}
	return out
}

func (d *Decoder) text(v cue.Value, format Format) (string, bool) {
	v, _ = v.Default()
	if !d.is(v, cue.StringKind, "a string", format) {
		return "", false
	}
	s, err := v.String()
	d.refuse(v, err)
	return s, err == nil
}

func (d *Decoder) boolean(v cue.Value) bool {
	v, _ = v.Default()
	if !d.is(v, cue.BoolKind, "true or false", Format{}) {
		return false
	}
	b, err := v.Bool()
	d.refuse(v, err)
	return b
}
