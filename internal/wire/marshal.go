package wire

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// maxDepth is how deep values may be nested.
const maxDepth = 10_000

// The types that are written in a way of their own.
var (
	valueType   = reflect.TypeFor[*v1alpha1.Value]()
	placeType   = reflect.TypeFor[v1alpha1.Position]()
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

var errDeep = errors.New("nested too deeply")

// Marshal makes bytes of a value: structs whose fields are exported, slices, maps by text, pointers, basic types, JSON types in
// an any, plain data with its places, findings and times. Fields that are functions or other interfaces must be nil. What is
// pointed at twice is written twice.
func Marshal(v any) ([]byte, error) {
	w := &writer{files: map[string]int{}}
	if err := w.value(reflect.ValueOf(v), 0); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	head := binary.AppendUvarint(nil, uint64(len(w.names)))
	for _, name := range w.names {
		head = append(binary.AppendUvarint(head, uint64(len(name))), name...)
	}
	return append(head, w.body...), nil
}

type writer struct {
	body []byte
	// names are the files that positions are in, files their numbers.
	names []string
	files map[string]int
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

func (w *writer) value(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	if !v.IsValid() {
		return fmt.Errorf("no value")
	}
	switch v.Type() {
	case valueType:
		x, _ := v.Interface().(*v1alpha1.Value)
		return w.data(x, depth)
	case placeType:
		at, _ := v.Interface().(v1alpha1.Position)
		w.pos(at)
		return nil
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
		return errDeep
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
