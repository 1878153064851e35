package v1alpha1

import "cuelang.org/go/cue/ast"

// Values are an instance's values as CUE data: struct, list and basic literals only (no references, no
// expressions), in field order, every label and literal with its position in the user's file. They never become Go
// maps: order, int and float, bytes and strings stay apart.
//
// The zero Values has no fields.
type Values struct {
	// Struct is nil for no values.
	Struct *ast.StructLit
}

// IsZero reports whether there are no values.
func (v Values) IsZero() bool { return v.Struct == nil || len(v.Struct.Elts) == 0 }
