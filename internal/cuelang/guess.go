package cuelang

import (
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
)

// LooksLikeYAML tells what a text without a name is: CUE, or YAML where it does not parse as CUE, or speaks of names that it
// does not declare (`kind: Pod` parses as a reference), and does parse as YAML.
func LooksLikeYAML(name string, data []byte, l Limits) bool {
	if CheckSource(name, data, l) != nil {
		return false
	}
	if f, err := parser.ParseFile(name, data); err == nil && !slices.ContainsFunc(f.Unresolved, undeclared) {
		return false
	}
	f, err := FromYAML(name, data)
	if err != nil {
		return false
	}
	_, isValue := FileData(f).(*ast.BasicLit)
	return !isValue
}

// undeclared reports whether an unresolved identifier is none that CUE itself declares.
func undeclared(id *ast.Ident) bool {
	return cuecontext.New().BuildExpr(ast.NewIdent(id.Name)).Err() != nil
}
