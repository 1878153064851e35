package mask

import (
	"cmp"
	"io"
	"reflect"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/redact"
)

// Masked gives a document of ours as its JSON is masked, and where text is written that is laid out of it: nothing is hidden in that but what authenticates in
// addresses, so that no secret that equals a part of the layout, or of our own words, can hide it. The document that was given stays as it is.
func (m *Writer) Masked(doc any) (io.Writer, any) {
	to := &Writer{To: m.To, Mask: redact.Addresses, Typed: m.Typed, hide: m.all}
	if m.hide != nil { // it is written to what is masked already
		return m, doc
	}
	return to, document(doc, m.all, m.name)
}

// Hide masks a text that is quoted in what is laid out of a document, and is no part of it: a line of a file.
func (m *Writer) Hide(text string) string {
	if m.hide != nil {
		return m.hide(text)
	}
	return m.all(text)
}

// Document is a document of ours with its texts masked as they are in its JSON: names, keys and words of ours stay, but for what authenticates in an
// address. What does not change is shared with the one that was given.
func Document[T any](doc T, mask func(string) string) T { return document(doc, mask, redact.Addresses) }

// document is Document with what masks names.
func document[T any](doc T, mask, name func(string) string) T {
	w := walk{mask: mask, name: name, texts: map[text]string{}, behind: map[pointer]reflect.Value{}, fields: map[reflect.Type][]field{}}
	v := reflect.ValueOf(&doc).Elem()
	if out, changed := w.value(v, ""); changed {
		v.Set(out)
	}
	return doc
}

// text is a text of a field that is masked alike wherever it stands.
type text struct {
	name  bool
	value string
}

// pointer is what a field points to.
type pointer struct {
	at    uintptr
	of    reflect.Type
	field string
}

// walk masks the texts of one document, each once.
type walk struct {
	mask   func(string) string
	name   func(string) string
	texts  map[text]string
	behind map[pointer]reflect.Value
	fields map[reflect.Type][]field
}

// field is a field of a struct that may be shown: its place, and its name in JSON, "" for one whose fields stand beside it.
type field struct {
	at   int
	name string
}

// value is a value of a field, as it is masked, and whether something of it is.
func (w walk) value(v reflect.Value, field string) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		masked := w.text(v.String(), field)
		if masked == v.String() {
			return v, false
		}
		out := reflect.New(v.Type()).Elem()
		out.SetString(masked)
		return out, true
	case reflect.Pointer:
		return w.pointer(v, field)
	case reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		in, changed := w.value(v.Elem(), field)
		if !changed {
			return v, false
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(in)
		return out, true
	case reflect.Struct:
		return w.object(v, field)
	case reflect.Slice, reflect.Array:
		return w.list(v, field)
	case reflect.Map:
		return w.named(v, field)
	}
	return v, false
}

// text is a text of a field, as it is masked.
func (w walk) text(value, field string) string {
	key := text{names[field], value}
	out, known := w.texts[key]
	if known {
		return out
	}
	if out = w.mask(value); key.name {
		out = w.name(value)
	}
	w.texts[key] = out
	return out
}

func (w walk) pointer(v reflect.Value, field string) (reflect.Value, bool) {
	if v.IsNil() {
		return v, false
	}
	key := pointer{v.Pointer(), v.Type(), field}
	if known, there := w.behind[key]; there {
		return known, known.Pointer() != v.Pointer()
	}
	w.behind[key] = v // what leads back to it
	in, changed := w.value(v.Elem(), field)
	if !changed {
		return v, false
	}
	out := reflect.New(v.Type().Elem())
	out.Elem().Set(in)
	w.behind[key] = out
	return out, true
}

// fieldsOf are the fields of a struct that are in its JSON, and the texts among the others that are exported: what is laid out may show them.
func (w walk) fieldsOf(t reflect.Type) []field {
	out, known := w.fields[t]
	if known {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && (name != "-" || f.Type.Kind() == reflect.String || f.Type == reflect.TypeFor[[]string]()) {
			out = append(out, field{i, name})
		}
	}
	w.fields[t] = out
	return out
}

// object masks the fields of a struct.
func (w walk) object(v reflect.Value, within string) (reflect.Value, bool) {
	if f, is := finding(v); is && strings.HasPrefix(f.Code, "hidden-by") {
		return v, false // that something is hidden, and where, is hidden by nobody; what its paths hold was masked when it was said
	}
	out, changed := v, false
	for _, f := range w.fieldsOf(v.Type()) {
		in, differs := w.value(v.Field(f.at), cmp.Or(f.name, within))
		if !differs {
			continue
		}
		if !changed {
			out, changed = reflect.New(v.Type()).Elem(), true
			out.Set(v)
		}
		out.Field(f.at).Set(in)
	}
	return out, changed
}

func finding(v reflect.Value) (f diag.Finding, is bool) {
	if v.Type() == reflect.TypeFor[diag.Finding]() {
		return v.Interface().(diag.Finding), true
	}
	return f, false
}

func (w walk) list(v reflect.Value, field string) (reflect.Value, bool) {
	if v.Type().Elem().Kind() <= reflect.Complex128 { // bytes
		return v, false
	}
	out, changed := v, false
	for i := range v.Len() {
		in, differs := w.value(v.Index(i), field)
		if !differs {
			continue
		}
		if !changed {
			out, changed = reflect.New(v.Type()).Elem(), true
			if v.Kind() == reflect.Slice {
				out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			}
			reflect.Copy(out, v)
		}
		out.Index(i).Set(in)
	}
	return out, changed
}

// named masks what is in a map: its keys are names that somebody gave.
func (w walk) named(v reflect.Value, field string) (reflect.Value, bool) {
	out, changed := v, false
	for iter := v.MapRange(); iter.Next(); {
		in, differs := w.value(iter.Value(), field)
		if !differs {
			continue
		}
		if !changed {
			out, changed = reflect.MakeMapWithSize(v.Type(), v.Len()), true
			for all := v.MapRange(); all.Next(); {
				out.SetMapIndex(all.Key(), all.Value())
			}
		}
		out.SetMapIndex(iter.Key(), in)
	}
	return out, changed
}
