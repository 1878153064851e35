package cuelang

import (
	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// Member is one of the documents of a kind that a value holds.
type Member struct {
	// Name is its key, "" for the one that has none.
	Name  string
	Value cue.Value
}

// Members are the value of the field one, which has no name, and those of the fields of many, by their keys.
func Members(root cue.Value, one, many string) []Member {
	var out []Member
	if v := root.LookupPath(cue.MakePath(cue.Str(one))); v.Exists() {
		out = append(out, Member{Value: v})
	}
	if v := root.LookupPath(cue.MakePath(cue.Str(many))); v.Exists() {
		if it, err := v.Fields(); err == nil {
			for it.Next() {
				out = append(out, Member{Name: it.Selector().Unquoted(), Value: it.Value()})
			}
		}
	}
	return out
}

// Plain reports whether a value is not there, or written in one place as it is: nothing else makes another one of it.
func Plain(v cue.Value) bool {
	node := v.Source()
	if field, ok := node.(*ast.Field); ok {
		node = field.Value
	}
	_, literal := node.(*ast.BasicLit)
	return literal || !v.Exists()
}
