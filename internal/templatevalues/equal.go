package templatevalues

import (
	"errors"
	"fmt"
	"reflect"
)

// equal is eq of text/template, whose errors write out what cannot be compared: here they name the types.
func equal(first reflect.Value, others ...reflect.Value) (bool, error) {
	if len(others) == 0 {
		return false, errors.New("missing argument for comparison")
	}
	first = unwrapped(first)
	for _, other := range others {
		if same, err := equals(first, unwrapped(other)); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// unwrapped is what an interface holds.
func unwrapped(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

func equals(a, b reflect.Value) (bool, error) {
	none := func(v reflect.Value) bool {
		switch v.Kind() {
		case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
			return v.IsNil()
		}
		return !v.IsValid()
	}
	switch kind := basicKind(a); {
	case a.CanInt() && b.CanUint():
		return a.Int() >= 0 && uint64(a.Int()) == b.Uint(), nil
	case a.CanUint() && b.CanInt():
		return b.Int() >= 0 && uint64(b.Int()) == a.Uint(), nil
	case kind != basicKind(b):
		if a.IsValid() && b.IsValid() {
			return false, fmt.Errorf("incompatible types for comparison: %v and %v", a.Type(), b.Type())
		}
		return false, nil
	case kind == reflect.String:
		return a.String() == b.String(), nil
	case kind == reflect.Bool:
		return a.Bool() == b.Bool(), nil
	case kind == reflect.Int:
		return a.Int() == b.Int(), nil
	case kind == reflect.Uint:
		return a.Uint() == b.Uint(), nil
	case kind == reflect.Float64:
		return a.Float() == b.Float(), nil
	case kind == reflect.Complex128:
		return a.Complex() == b.Complex(), nil
	case a.IsValid() && b.IsValid() && a.Kind() != b.Kind():
		return false, fmt.Errorf("non-comparable types %v and %v", a.Type(), b.Type())
	case none(a) || none(b):
		return none(a) == none(b), nil
	case !b.Type().Comparable():
		return false, fmt.Errorf("non-comparable type %v", b.Type())
	}
	return a.Interface() == b.Interface(), nil
}

// basicKind is what a value can be compared as, Invalid for none.
func basicKind(v reflect.Value) reflect.Kind {
	switch {
	case v.Kind() == reflect.Bool, v.Kind() == reflect.String:
		return v.Kind()
	case v.CanInt():
		return reflect.Int
	case v.CanUint():
		return reflect.Uint
	case v.CanFloat():
		return reflect.Float64
	case v.CanComplex():
		return reflect.Complex128
	}
	return reflect.Invalid
}
