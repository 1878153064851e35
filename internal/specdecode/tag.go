package specdecode

import (
	"reflect"
	"strconv"
	"strings"
)

// Tag is what a field's tags say.
type Tag struct {
	// Name is the field's in documents, Index its place in the Go struct.
	Name  string
	Index int
	// Required: it has to be there. Checked: the check of its struct says so, in words of its own.
	Required, Checked bool
	// Key is the name that the struct stands under, Value what stands there, of a struct of these two.
	Key, Value bool
	// Pos and Dir: where this field stands is where the struct does (its fields Pos and Dir), as far as it is there.
	Pos, Dir bool
	// Format names a format of the text, of each text of a list, or of each name of a map.
	Format string
	// Empty is the code of the finding about a text or a list that is empty; "" lets it be empty.
	Empty string
	// Min and Max bound a number; Max 0 does not.
	Min, Max int
}

// Fields are the fields of a struct type that documents have, in the order of the type; key is the one with the struct's own
// name, nil where it has none.
//
// The `hawser` tag is a list of words: required, required=check, key, value, pos, dir, format=FORMAT, empty=CODE, min=N, max=N.
func Fields(t reflect.Type) (fields []Tag, key *Tag) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		tag := Tag{Name: name, Index: i}
		for word := range strings.SplitSeq(f.Tag.Get("hawser"), ",") {
			tag.word(word)
		}
		if tag.Key {
			key = &tag
			continue
		}
		fields = append(fields, tag)
	}
	return fields, key
}

func (t *Tag) word(word string) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "required":
		t.Required, t.Checked = true, value == "check"
	case "key":
		t.Key = true
	case "value":
		t.Value = true
	case "pos":
		t.Pos = true
	case "dir":
		t.Dir = true
	case "format":
		t.Format = value
	case "empty":
		t.Empty = value
	case "min":
		t.Min, _ = strconv.Atoi(value) // a test wants digits
	case "max":
		t.Max, _ = strconv.Atoi(value)
	}
}
