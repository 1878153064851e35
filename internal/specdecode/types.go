package specdecode

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// Decode reads a struct into what out points to, a type of the documents. Fields that are named in implied need not be there.
// ok is false where the value is no struct; then only out's position is set.
func (d *Decoder) Decode(v cue.Value, out any, implied ...string) (s Struct, ok bool) {
	return d.structure(v, reflect.ValueOf(out).Elem(), implied...)
}

func (d *Decoder) structure(v cue.Value, to reflect.Value, implied ...string) (Struct, bool) {
	s, before, t := Struct{Value: v}, len(d.Findings), to.Type()
	d.place(v, to, true, true)
	if instead := d.Rules.Instead[t]; instead != nil && instead(d, v) {
		return s, false
	}
	var ok bool
	if s.Fields, ok = d.fields(v); !ok {
		return s, false
	}
	tags, _ := Fields(t)
	if d.readFields(s, to, tags) {
		for _, tag := range tags {
			if tag.Required && !tag.Checked && !s.Has(tag.Name) && !slices.Contains(implied, tag.Name) {
				d.Require(v, tag.Name)
			}
		}
	}
	s.Sound = len(d.Findings) == before
	if check := d.Rules.Checks[t]; check != nil {
		check(d, s, to.Addr().Interface())
	}
	return s, true
}

// readFields reads the fields that the type has and reports the others; it is false where one of another version is there, which may
// stand for one that is required.
func (d *Decoder) readFields(s Struct, to reflect.Value, tags []Tag) bool {
	later, all := d.Rules.Later[to.Type()], true
	for _, f := range s.Fields {
		i := slices.IndexFunc(tags, func(t Tag) bool { return t.Name == f.Name })
		switch {
		case i >= 0:
			d.field(f, to, tags[i])
		case slices.Contains(later, f.Name):
			fix := ""
			if names := known(tags); len(names) <= mostNamed {
				fix = "there is: " + strings.Join(names, ", ")
			}
			d.Fixf(f.Value, fix, "not-available", "%s is not available in this version", f.Name)
			all = false
		default:
			d.Add(diag.UnknownField("", f.Name, diag.Pos{}, append(known(tags), later...)), f.Value)
		}
	}
	return all
}

// mostNamed is how many fields are named beside one that is not available yet.
const mostNamed = 6

// known are the names of fields.
func known(tags []Tag) []string {
	var names []string
	for _, t := range tags {
		names = append(names, t.Name)
	}
	return names
}

// field reads one field of a struct, and notes where it stands as far as the type wants to know.
func (d *Decoder) field(f Field, to reflect.Value, tag Tag) {
	d.read(f, to.Field(tag.Index), tag)
	d.place(f.Value, to, tag.Pos, tag.Dir)
	d.set(to, to.Type().Field(tag.Index).Name+"Pos", d.Position(f.Value))
}

// place notes in a struct where it stands.
func (d *Decoder) place(v cue.Value, to reflect.Value, pos, dir bool) {
	if pos {
		d.set(to, "Pos", d.Position(v))
	}
	if dir && to.FieldByName("Dir").IsValid() {
		d.set(to, "Dir", d.Dir(v))
	}
}

// set sets a field of a struct that may have none of the name.
func (d *Decoder) set(to reflect.Value, name string, value any) {
	if f := to.FieldByName(name); f.IsValid() && f.Type() == reflect.TypeOf(value) {
		f.Set(reflect.ValueOf(value))
	}
}

// read reads a value of any type that documents have; it is false for a text that is none.
func (d *Decoder) read(f Field, to reflect.Value, tag Tag) (ok bool) {
	format := d.Rules.Formats[tag.Format]
	switch out := to.Addr().Interface().(type) {
	case *v1alpha1.Values:
		*out = d.values(f.Value)
		return true
	case *v1alpha1.Duration:
		*out = d.duration(f, format)
		return true
	case *map[string]any:
		if x := d.data(f.Value); x.Struct != nil {
			*out, _ = x.Struct.Exact().(map[string]any)
		}
		return true
	}
	switch to.Kind() {
	case reflect.String:
		s, ok := d.text(f.Value, format)
		if to.SetString(s); ok {
			d.checkText(f, s, tag)
		}
		return ok
	case reflect.Bool:
		to.SetBool(d.boolean(f.Value))
	case reflect.Int:
		to.SetInt(d.number(f.Value, tag))
	case reflect.Struct:
		d.structure(f.Value, to)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.read(f, to.Elem(), tag)
	case reflect.Slice:
		if _, key := Fields(elem(to)); key != nil {
			d.byName(f, to, tag, key)
		} else {
			d.items(f, to, tag)
		}
	case reflect.Map:
		d.entries(f, to, tag)
	}
	return true
}

// elem is the struct type of a list's items, one without fields where they are none.
func elem(to reflect.Value) reflect.Type {
	if t := to.Type().Elem(); t.Kind() == reflect.Struct {
		return t
	}
	return reflect.TypeFor[struct{}]()
}

// checkText looks at a text that was read.
func (d *Decoder) checkText(f Field, s string, tag Tag) {
	if strings.TrimSpace(s) == "" && tag.Empty != "" {
		d.empty(f, tag)
	} else if check := d.Rules.Formats[tag.Format].Check; check != nil {
		check(d, f, s)
	}
}

func (d *Decoder) empty(f Field, tag Tag) {
	n := diag.Errorf(tag.Empty, "%s is empty", f.Name)
	if more, ok := d.Rules.Empty[f.Name]; ok {
		n.What, n.Fix = more.What, more.Fix
	}
	d.Add(n, f.Value)
}

// items reads a list. One of texts is never nil when it is a list: an empty list is not an absent one.
func (d *Decoder) items(f Field, to reflect.Value, tag Tag) {
	items, ok := d.list(f.Value)
	if ok && len(items) == 0 && tag.Empty != "" {
		d.empty(f, tag)
	}
	if ok && to.Type().Elem().Kind() == reflect.String {
		to.Set(reflect.MakeSlice(to.Type(), 0, len(items)))
	}
	tag.Empty = ""
	for _, item := range items {
		one := reflect.New(to.Type().Elem()).Elem()
		if d.read(Field{f.Name, item}, one, tag) {
			to.Set(reflect.Append(to, one))
		}
	}
}

// byName reads a struct of structs, or of values, each under its name, into a list that keeps their order.
func (d *Decoder) byName(f Field, to reflect.Value, tag Tag, key *Tag) {
	fields, ok := d.fields(f.Value)
	if ok && len(fields) == 0 && tag.Empty != "" {
		d.empty(f, tag)
	}
	if ok && tag.Required { // in JSON it is then a list, and not null
		to.Set(reflect.MakeSlice(to.Type(), 0, len(fields)))
	}
	tags, _ := Fields(elem(to))
	for _, f := range fields {
		d.checkText(f, f.Name, *key)
		one := reflect.New(elem(to)).Elem()
		one.Field(key.Index).SetString(f.Name)
		ok := true
		if tags[0].Value {
			d.field(f, one, tags[0])
		} else {
			_, ok = d.structure(f.Value, one)
		}
		if ok {
			to.Set(reflect.Append(to, one))
		}
	}
}

// entries reads a struct with free names; the format is that of the names.
func (d *Decoder) entries(f Field, to reflect.Value, tag Tag) {
	fields, ok := d.fields(f.Value)
	if ok {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, f := range fields {
		d.checkText(f, f.Name, tag)
		one := reflect.New(to.Type().Elem()).Elem()
		if d.read(f, one, Tag{}) {
			to.SetMapIndex(reflect.ValueOf(f.Name), one)
		}
	}
}

// number is a whole number within the tag's bounds.
func (d *Decoder) number(v cue.Value, tag Tag) int64 {
	v, _ = v.Default()
	if !d.is(v, cue.IntKind, "a whole number", d.Rules.Formats[tag.Format]) {
		return 0
	}
	i, err := v.Int64()
	switch {
	case err != nil && v.IncompleteKind() == cue.IntKind && v.IsConcrete():
		d.Errorf(v, "out-of-range", "number is too large")
	case err != nil:
		d.refuse(v, err)
	case tag.Max > 0 && (i < int64(tag.Min) || i > int64(tag.Max)):
		d.Errorf(v, "out-of-range", "must be %d to %d, is %d", tag.Min, tag.Max, i)
	case i < int64(tag.Min):
		d.Errorf(v, "out-of-range", "must be %d or more, is %d", tag.Min, i)
	default:
		return min(i, 1<<31-1)
	}
	return 0
}

func (d *Decoder) duration(f Field, format Format) v1alpha1.Duration {
	const example = "write for example 90s, 2m30s or 1h"
	s, ok := d.text(f.Value, Format{Kind: func(n *diag.Finding, have cue.Kind) {
		if have&cue.NumberKind != 0 {
			n.What, n.Fix = "must be a duration, is a number without a unit", example
		}
	}})
	if !ok {
		return v1alpha1.Duration{}
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		d.Fixf(f.Value, example, "invalid-duration", "%q is no duration", d.Mask(s))
		return v1alpha1.Duration{}
	}
	if format.Check != nil {
		format.Check(d, f, s)
	}
	return v1alpha1.Duration{Duration: t}
}

// data is a struct as data; what is not concrete is left to CUE.
func (d *Decoder) data(v cue.Value) v1alpha1.Values {
	if !d.is(v, cue.StructKind, "a struct", Format{}) {
		return v1alpha1.Values{}
	}
	x, err := cuelang.Data(v)
	if err != nil {
		d.refuse(v, err)
		return v1alpha1.Values{}
	}
	if x.Kind != v1alpha1.KindStruct {
		return v1alpha1.Values{}
	}
	return v1alpha1.Values{Struct: x}
}

// values is data, where null (in YAML also ~, or nothing after the colon) is no values.
func (d *Decoder) values(v cue.Value) (out v1alpha1.Values) {
	if x, _ := v.Default(); x.IncompleteKind() != cue.NullKind {
		out = d.data(v)
		if check := d.Rules.Checks[reflect.TypeFor[v1alpha1.Values]()]; check != nil {
			check(d, Struct{Value: v}, &out)
		}
	}
	return out
}
