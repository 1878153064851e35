package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// errNot: the bytes are nothing that Marshal has made.
var errNot = errors.New("wire: not a value of this program")

// Unmarshal makes a value of bytes that Marshal made of one of the same type; into points to it.
func Unmarshal(data []byte, into any) error {
	r := &reader{rest: data}
	for range r.count(1) {
		r.files = append(r.files, r.text())
	}
	if err := r.value(reflect.ValueOf(into).Elem(), 0); err != nil {
		return err
	}
	if r.err == nil && len(r.rest) > 0 {
		return errNot
	}
	return r.err
}

// reader reads until something does not fit: from then on there is nothing but zeros.
type reader struct {
	rest  []byte
	files []string
	err   error
}

func (r *reader) fail() { r.err, r.rest = errNot, nil }

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) text() string { return string(r.bytes(r.uint())) }

// count is a number of things of which each takes at least so many bytes.
func (r *reader) count(each int) int {
	n := r.uint()
	if n > uint64(len(r.rest)/each) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) float() float64 {
	if b := r.bytes(8); len(b) == 8 {
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) value(v reflect.Value, depth int) error {
	if r.err != nil || depth > maxDepth {
		return errNot
	}
	switch v.Type() {
	case valueType:
		x, err := r.data(depth)
		if err == nil && x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return err
	case placeType:
		v.Set(reflect.ValueOf(r.pos()))
		return r.err
	case findingType:
		return r.finding(v, depth)
	case timeType:
		v.Set(reflect.ValueOf(time.Unix(0, r.int())))
		return r.err
	case anyType:
		x, err := r.json(depth)
		if err == nil && x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return err
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.byte() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.uint())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.float())
	case reflect.String:
		v.SetString(r.text())
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				return errNot
			}
			if err := r.value(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if r.uint() == 0 {
			return r.err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return r.value(v.Elem(), depth+1)
	case reflect.Slice:
		return r.slice(v, depth)
	case reflect.Map:
		return r.mapped(v, depth)
	case reflect.Func, reflect.Interface:
	default:
		return errNot
	}
	return r.err
}

func (r *reader) slice(v reflect.Value, depth int) error {
	n := r.uint()
	if n == 0 {
		return r.err
	}
	n--
	if n > uint64(len(r.rest)) { // everything takes a byte, but for structs without fields
		return errNot
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(append([]byte{}, r.bytes(n)...))
		return r.err
	}
	out := reflect.MakeSlice(v.Type(), 0, int(min(n, 1024)))
	for range n {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := r.value(e, depth+1); err != nil {
			return err
		}
		out = reflect.Append(out, e)
	}
	v.Set(out)
	return nil
}

func (r *reader) mapped(v reflect.Value, depth int) error {
	n := r.uint()
	if n == 0 {
		return r.err
	}
	if n-1 > uint64(len(r.rest)) || v.Type().Key().Kind() != reflect.String {
		return errNot
	}
	out := reflect.MakeMap(v.Type())
	for range n - 1 {
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.SetString(r.text())
		if err := r.value(e, depth+1); err != nil {
			return err
		}
		out.SetMapIndex(k, e)
	}
	v.Set(out)
	return nil
}

func (r *reader) finding(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			if err := r.value(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	}
	f, _ := v.Interface().(diag.Finding)
	v.Set(reflect.ValueOf(f.WithSentences(r.text(), r.text())))
	return r.err
}

func (r *reader) json(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errNot
	}
	switch kind := r.byte(); kind {
	case isNil:
		return nil, r.err
	case isFalse, isTrue:
		return kind == isTrue, r.err
	case isInt:
		return r.int(), r.err
	case isFloat:
		return r.float(), r.err
	case isString:
		return r.text(), r.err
	case isNumber:
		return json.Number(r.text()), r.err
	case isList:
		n := r.uint()
		if n == 0 {
			return []any(nil), r.err
		}
		if n-1 > uint64(len(r.rest)) {
			return nil, errNot
		}
		out := make([]any, 0, min(n-1, 1024))
		for range n - 1 {
			e, err := r.json(depth + 1)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, r.err
	case isMap:
		n := r.uint()
		if n == 0 {
			return map[string]any(nil), r.err
		}
		if n-1 > uint64(len(r.rest)) {
			return nil, errNot
		}
		out := make(map[string]any, min(n-1, 1024))
		for range n - 1 {
			k := r.text()
			e, err := r.json(depth + 1)
			if err != nil {
				return nil, err
			}
			out[k] = e
		}
		return out, r.err
	}
	return nil, errNot
}
