package cuelang

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
)

// Overlay lays over on base and returns new data that shares their values (so positions stay):
//   - structs merge field by field; the order is over's fields, then what only base has;
//   - lists merge element by element and have over's length, [] empties;
//   - anything else replaces, also null over a scalar (what is Whole is one such thing); a struct with fields or a list is never replaced by another
//     kind: that is an error which names both positions.
//
// A nil argument stands for no value. The rules are those of Timoni's values, with lists longer than the default's
// allowed.
func Overlay(base, over *v1alpha1.Value) (*v1alpha1.Value, error) {
	return overlay(base, over, false, nil)
}

// OverlayChart is Overlay with Helm's rules for files of values: structs merge field by field, anything else replaces,
// whatever stands there. A null stays, so that it removes what the chart itself has.
func OverlayChart(base, over *v1alpha1.Value) (*v1alpha1.Value, error) {
	return overlay(base, over, true, nil)
}

// merges reports whether data is a struct or a list whose parts are merged with others.
func merges(v *v1alpha1.Value, kind v1alpha1.Kind) bool {
	return v != nil && v.Kind == kind && !v.Whole
}

func overlay(base, over *v1alpha1.Value, chart bool, path []string) (*v1alpha1.Value, error) {
	if over == nil {
		return base, nil
	}
	overStruct := merges(over, v1alpha1.KindStruct)
	switch {
	case chart && !overStruct:
		return over, nil
	case merges(base, v1alpha1.KindStruct):
		if overStruct {
			return overlayStruct(base, over, chart, path)
		}
		if len(base.Fields) == 0 {
			return over, nil
		}
		return nil, kindError(path, "struct", base, over)
	case !chart && merges(base, v1alpha1.KindList):
		if merges(over, v1alpha1.KindList) {
			return overlayList(base, over, path)
		}
		return nil, kindError(path, "list", base, over)
	}
	return over, nil
}

func overlayStruct(base, over *v1alpha1.Value, chart bool, path []string) (*v1alpha1.Value, error) {
	index := make(map[string]*v1alpha1.Value, len(base.Fields))
	for _, f := range base.Fields {
		index[f.Name] = f.Value
	}
	out := &v1alpha1.Value{Kind: v1alpha1.KindStruct, Pos: over.Pos, Fields: make([]v1alpha1.Field, 0, len(base.Fields)+len(over.Fields))}
	for _, f := range over.Fields {
		if b, ok := index[f.Name]; ok {
			merged, err := overlay(b, f.Value, chart, append(path, f.Name))
			if err != nil {
				return nil, err
			}
			f.Value = merged
			delete(index, f.Name)
		}
		out.Fields = append(out.Fields, f)
	}
	for _, f := range base.Fields {
		if _, left := index[f.Name]; left {
			out.Fields = append(out.Fields, f)
		}
	}
	return out, nil
}

func overlayList(base, over *v1alpha1.Value, path []string) (*v1alpha1.Value, error) {
	out := &v1alpha1.Value{Kind: v1alpha1.KindList, Pos: over.Pos, Items: slices.Clone(over.Items)}
	for i, x := range out.Items {
		if i == len(base.Items) {
			break
		}
		merged, err := overlay(base.Items[i], x, false, append(path, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		out.Items[i] = merged
	}
	return out, nil
}

// kindError is a CUE error at the overlay's position that also names the base's.
func kindError(path []string, kind string, base, over *v1alpha1.Value) error {
	e := Errorf(TokenPos(nodePosition(over)), slices.Clone(path), // path is used again
		"%s cannot replace the %s", kindName(over), kind)
	if p := nodePosition(base); p.File != "" {
		e.Also = []token.Pos{TokenPos(p)}
	}
	return e
}

// nodePosition is the data's own position, or that of its first field where it was made without one.
func nodePosition(v *v1alpha1.Value) v1alpha1.Position {
	if v.Pos.File == "" && len(v.Fields) > 0 {
		return v.Fields[0].Pos
	}
	return v.Pos
}

func kindName(v *v1alpha1.Value) string {
	if v.Whole {
		return "a value from elsewhere"
	}
	switch v.Kind {
	case v1alpha1.KindStruct:
		return "a struct"
	case v1alpha1.KindList:
		return "a list"
	case v1alpha1.KindBool:
		return "a boolean"
	case v1alpha1.KindInt, v1alpha1.KindFloat:
		return "a number"
	case v1alpha1.KindString:
		return "a string"
	case v1alpha1.KindBytes:
		return "bytes"
	}
	return "null"
}
