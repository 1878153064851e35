package object

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Field is one field of an object, addressed as the API server does: by structured-merge-diff's own path. Two fields are
// the same only when those paths are; texts are for people.
type Field struct{ path fieldpath.Path }

// TextOf is a field path for people.
func TextOf(p fieldpath.Path) string { return Field{p}.String() }

// FieldsNamed returns the fields of a body that the API server writes as text in a conflict
// (`.spec.containers[name="api"].image`, `.data.app.yaml`). The text does not tell a dot in a name from one between
// names, so there may be more than one; none when the body has no such field.
func FieldsNamed(body map[string]any, text string) []Field {
	var out []Field
	if text == "" {
		return nil
	}
	named(body, text, nil, func(p fieldpath.Path) { out = append(out, Field{p.Copy()}) })
	return out
}

func named(node any, rest string, at fieldpath.Path, found func(fieldpath.Path)) {
	if rest == "" {
		found(at)
		return
	}
	switch n := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n)) {
			left, ok := strings.CutPrefix(rest, "."+name)
			if ok && (left == "" || left[0] == '.' || left[0] == '[') {
				named(n[name], left, append(slices.Clip(at), fieldpath.FieldNameElement(name)), found)
			}
		}
	case []any:
		el, left, ok := itemElement(rest)
		if i := itemAt(n, el); ok && i >= 0 {
			named(n[i], left, append(slices.Clip(at), el), found)
		}
	}
}

// itemElement reads the element of a list at the start of a path's text: `[port=80,protocol="TCP"]`, `[="a"]`, `[3]`.
func itemElement(text string) (el fieldpath.PathElement, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "[")
	if !ok {
		return el, text, false
	}
	if set, is := strings.CutPrefix(rest, "="); is {
		v, rest, ok := itemValue(set)
		rest, closed := strings.CutPrefix(rest, "]")
		return fieldpath.ValueElement(value.NewValueInterface(v)), rest, ok && closed
	}
	if end := strings.IndexByte(rest, ']'); end > 0 {
		if n, err := strconv.Atoi(rest[:end]); err == nil && n >= 0 {
			return fieldpath.IndexElement(n), rest[end+1:], true
		}
	}
	var key value.FieldList
	for {
		name, after, has := strings.Cut(rest, "=")
		v, left, is := itemValue(after)
		if !has || !is || left == "" {
			return el, text, false
		}
		key = append(key, value.Field{Name: name, Value: value.NewValueInterface(v)})
		switch rest = left[1:]; left[0] {
		case ']':
			return fieldpath.KeyElement(key...), rest, true
		case ',':
		default:
			return el, text, false
		}
	}
}

// itemValue reads a scalar as structured-merge-diff writes it: texts in Go's quotes, everything else bare.
func itemValue(text string) (v any, rest string, ok bool) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		s, err := strconv.Unquote(quoted)
		return s, text[len(quoted):], err == nil
	}
	end := strings.IndexAny(text, ",]")
	if end <= 0 {
		return nil, text, false
	}
	switch bare := text[:end]; bare {
	case "true", "false":
		v = bare == "true"
	case "null":
	default:
		if n, err := strconv.ParseInt(bare, 10, 64); err == nil {
			v = n
			break
		}
		f, err := strconv.ParseFloat(bare, 64)
		if err != nil {
			return nil, text, false
		}
		v = f
	}
	return v, text[end:], true
}

// In reports whether a body has the field, whatever its value.
func (f Field) In(body map[string]any) bool { return Has(body, f.path) }

// String is the field as plans write it: data."app.yaml", spec.ports[53/UDP].name.
func (f Field) String() string {
	text := ""
	for _, el := range f.path {
		switch {
		case el.FieldName != nil:
			text = JoinPath(text, *el.FieldName)
		case el.Key != nil:
			var values []string
			for _, k := range *el.Key {
				if v := textOf(k.Value.Unstructured()); v != "TCP" || len(values) == 0 {
					values = append(values, v)
				}
			}
			text += "[" + bracketed(strings.Join(values, "/")) + "]"
		case el.Value != nil:
			text += "[" + bracketed(textOf((*el.Value).Unstructured())) + "]"
		case el.Index != nil:
			text += "[" + strconv.Itoa(*el.Index) + "]"
		}
	}
	return text
}
