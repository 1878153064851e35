package wire

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/diag"
)

// maxDepth is how deep values may be nested.
const maxDepth = 10_000

// The types that are written in a way of their own.
var (
	exprType    = reflect.TypeFor[ast.Expr]()
	structType  = reflect.TypeFor[*ast.StructLit]()
	findingType = reflect.TypeFor[diag.Finding]()
	timeType    = reflect.TypeFor[time.Time]()
	anyType     = reflect.TypeFor[any]()
)

// What a value of JSON types is.
const (
	isNil byte = iota
	isFalse
	isTrue
	isInt
	isFloat
	isString
	isNumber
	isList
	isMap
)

// Marshal makes bytes of a value: structs whose fields are exported, slices, maps by text, pointers, basic types, JSON types in
// an any, CUE data in an ast.Expr, findings and times. Fields that are functions or other interfaces must be nil. What is
// pointed at twice is written twice.
func Marshal(v any) ([]byte, error) {
	w := &writer{known: map[*token.File]int{}}
	if err := w.value(reflect.ValueOf(v), 0); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	head := binary.AppendUvarint(nil, uint64(len(w.files)))
	for i, f := range w.files {
		head = appendFile(head, f, w.reach[i])
	}
	return append(head, w.body...), nil
}

type writer struct {
	body []byte
	// files are those that positions are in, reach the last offset of each.
	files []*token.File
	reach []int
	known map[*token.File]int
}

func (w *writer) uint(n uint64) { w.body = binary.AppendUvarint(w.body, n) }
func (w *writer) int(n int64)   { w.body = binary.AppendVarint(w.body, n) }
func (w *writer) float(f float64) {
	w.body = binary.BigEndian.AppendUint64(w.body, math.Float64bits(f))
}
func (w *writer) byte(b byte) { w.body = append(w.body, b) }

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.body = append(w.body, s...)
}

// appendFile writes what positions need of a file: its name, its size and where its lines begin, up to an offset.
func appendFile(out []byte, f *token.File, reach int) []byte {
	out = binary.AppendUvarint(out, uint64(len(f.Name())))
	out = append(out, f.Name()...)
	out = binary.AppendUvarint(out, uint64(f.Size()))
	lines := f.Lines()
	n, found := slices.BinarySearch(lines, reach)
	if found {
		n++
	}
	out = binary.AppendUvarint(out, uint64(n))
	last := 0
	for _, at := range lines[:n] {
		out = binary.AppendUvarint(out, uint64(at-last))
		last = at
	}
	return out
}

func (w *writer) pos(p token.Pos) {
	bits := uint64(p.RelPos())
	if p.HasComma() {
		bits |= 1 << 4
	}
	if p.Scanned() {
		bits |= 1 << 5
	}
	w.uint(bits)
	f := p.File()
	if f == nil {
		w.uint(0)
		return
	}
	i, ok := w.known[f]
	if !ok {
		i = len(w.files)
		w.known[f], w.files, w.reach = i, append(w.files, f), append(w.reach, 0)
	}
	w.uint(uint64(i + 1))
	w.uint(uint64(p.Offset()))
	w.reach[i] = max(w.reach[i], p.Offset())
}

func (w *writer) value(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested too deeply")
	}
	if !v.IsValid() {
		return fmt.Errorf("no value")
	}
	switch v.Type() {
	case exprType, structType:
		x, _ := v.Interface().(ast.Expr)
		if v.IsNil() {
			x = nil
		}
		return w.expr(x, depth)
	case findingType:
		return w.finding(v, depth)
	case timeType:
		at, _ := v.Interface().(time.Time)
		w.int(at.UnixNano())
		return nil
	case anyType:
		return w.json(v.Interface(), depth)
	}
	switch v.Kind() {
	case reflect.Bool:
		if w.byte(0); v.Bool() {
			w.body[len(w.body)-1] = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.uint(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.float(v.Float())
	case reflect.String:
		w.text(v.String())
	case reflect.Struct:
		return w.fields(v, depth)
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return w.many(v, depth)
	case reflect.Func, reflect.Interface:
		if !v.IsNil() {
			return fmt.Errorf("a %s cannot be handed to another process", v.Type())
		}
	default:
		return fmt.Errorf("a %s cannot be handed to another process", v.Type())
	}
	return nil
}

// many writes what may be nil.
func (w *writer) many(v reflect.Value, depth int) error {
	if v.IsNil() {
		w.uint(0)
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.uint(1)
		return w.value(v.Elem(), depth+1)
	case reflect.Slice:
		w.uint(uint64(v.Len()) + 1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.body = append(w.body, v.Bytes()...)
			return nil
		}
		for i := range v.Len() {
			if err := w.value(v.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("a %s cannot be handed to another process", v.Type())
	}
	w.uint(uint64(v.Len()) + 1)
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, k := range keys {
		w.text(k.String())
		if err := w.value(v.MapIndex(k), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) fields(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			return fmt.Errorf("field %s of %s is of its package alone", f.Name, v.Type())
		}
		if err := w.value(v.Field(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) finding(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			if err := w.value(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	}
	f, _ := v.Interface().(diag.Finding)
	sentence, why := f.Sentences()
	w.text(sentence)
	w.text(why)
	return nil
}

func (w *writer) json(v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested too deeply")
	}
	switch v := v.(type) {
	case nil:
		w.byte(isNil)
	case bool:
		if w.byte(isFalse); v {
			w.body[len(w.body)-1] = isTrue
		}
	case int64:
		w.byte(isInt)
		w.int(v)
	case float64:
		w.byte(isFloat)
		w.float(v)
	case string:
		w.byte(isString)
		w.text(v)
	case json.Number:
		w.byte(isNumber)
		w.text(string(v))
	case []any:
		if w.byte(isList); v == nil {
			w.uint(0)
			return nil
		}
		w.uint(uint64(len(v)) + 1)
		for _, e := range v {
			if err := w.json(e, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if w.byte(isMap); v == nil {
			w.uint(0)
			return nil
		}
		w.uint(uint64(len(v)) + 1)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.text(k)
			if err := w.json(v[k], depth+1); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("a %T is no JSON type", v)
	}
	return nil
}
