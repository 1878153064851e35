package cuelang

import (
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
	cuejson "cuelang.org/go/encoding/json"
	cueyaml "cuelang.org/go/encoding/yaml"

	"hawser.dev/hawser/api/v1alpha1"
)

// FromYAML reads YAML as data with the positions of the user's file; several documents become one list, no document
// an empty file. Duplicate keys, anchors that expand without bound and tabs are errors with positions.
func FromYAML(filename string, src []byte) (*ast.File, error) {
	if err := plainText(filename, src); err != nil {
		return nil, err
	}
	if err := checkAliases(filename, src); err != nil {
		return nil, err
	}
	f, err := extractYAML(filename, src)
	if err != nil {
		return nil, ofFile(filename, err)
	}
	data := FileData(f)
	if at := deeper(data, DefaultLimits().Nesting); at != nil {
		return nil, errors.Newf(at.Pos(), "nested too deeply")
	}
	if err := CheckEntries(data); err != nil {
		return nil, err
	}
	return f, nil
}

// Bounds of the entries of one list and of the fields of one struct of data: CUE looks through all of them for each.
const (
	maxEntries = 100_000
	maxFields  = 20_000
)

// CheckEntries refuses data in which a list, or a struct, has more entries than can be evaluated in a time.
func CheckEntries(x ast.Expr) error {
	var values []ast.Expr
	what, most := "entries in one list", maxEntries
	switch x := x.(type) {
	case *ast.StructLit:
		what, most = "fields in one struct", maxFields
		for _, d := range x.Elts {
			if f, ok := d.(*ast.Field); ok {
				values = append(values, f.Value)
			}
		}
	case *ast.ListLit:
		values = x.Elts
	}
	if len(values) > most {
		return errors.Newf(x.Pos(), "%d %s, at most %d are evaluated", len(values), what, most)
	}
	for _, v := range values {
		if err := CheckEntries(v); err != nil {
			return err
		}
	}
	return nil
}

// CheckPlain is CheckEntries of plain data, nil too.
func CheckPlain(x *v1alpha1.Value) error {
	switch {
	case x == nil:
		return nil
	case len(x.Items) > maxEntries:
		return errors.Newf(TokenPos(x.Pos), "%d entries in one list, at most %d are evaluated", len(x.Items), maxEntries)
	case len(x.Fields) > maxFields:
		return errors.Newf(TokenPos(x.Pos), "%d fields in one struct, at most %d are evaluated", len(x.Fields), maxFields)
	}
	for _, f := range x.Fields {
		if err := CheckPlain(f.Value); err != nil {
			return err
		}
	}
	for _, e := range x.Items {
		if err := CheckPlain(e); err != nil {
			return err
		}
	}
	return nil
}

// deeper is a node of data that lies more than so many levels below, nil when there is none.
func deeper(x ast.Expr, levels int) ast.Expr {
	switch x := x.(type) {
	case *ast.StructLit:
		for _, d := range x.Elts {
			f, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			if levels == 0 {
				return f.Value
			}
			if at := deeper(f.Value, levels-1); at != nil {
				return at
			}
		}
	case *ast.ListLit:
		for _, e := range x.Elts {
			if levels == 0 {
				return e
			}
			if at := deeper(e, levels-1); at != nil {
				return at
			}
		}
	}
	return nil
}

// extractYAML guards against panics of the YAML library on hostile input.
func extractYAML(filename string, src []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, errors.Newf(token.NewFile(filename, 0, len(src)).Pos(0, 0), "not valid YAML")
		}
	}()
	f, err = cueyaml.Extract(filename, src)
	if err == nil && longNumber(src) {
		ast.Walk(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind != token.STRING { // as the library writes integers of more than 64 bits
				lit.Value = strings.TrimPrefix(lit.Value, "number & ")
			}
			return true
		}, nil)
	}
	return f, err
}

// longNumber reports whether a text may hold an integer of more than 64 bits.
func longNumber(src []byte) bool {
	run := 0
	for _, c := range src {
		switch {
		case '0' <= c && c <= '9':
			if run++; run == 19 {
				return true
			}
		case c != '_':
			run = 0
		}
	}
	return false
}

// FromJSON reads one JSON value as data with the positions of the user's file.
func FromJSON(filename string, src []byte) (ast.Expr, error) {
	if err := plainText(filename, src); err != nil {
		return nil, err
	}
	if pos, what := tooDeep(filename, src, DefaultLimits()); what != "" {
		return nil, errors.Newf(pos, "%s", what)
	}
	x, err := cuejson.Extract(filename, src)
	if err == nil {
		err = CheckEntries(x)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// FileData is the data a file of one value holds: its fields as a struct, or the one embedded value.
func FileData(f *ast.File) ast.Expr {
	var rest []ast.Decl
	for _, d := range f.Decls {
		switch x := d.(type) {
		case *ast.Package, *ast.CommentGroup, *ast.Attribute:
			continue
		case *ast.EmbedDecl:
			if len(f.Decls) == 1 {
				return x.Expr
			}
		}
		rest = append(rest, d)
	}
	return &ast.StructLit{Elts: rest}
}

// Clone is a deep copy of data, positions included. The CUE compiler writes into the trees it is given, so trees that
// are shared between evaluations are cloned first.
func Clone(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.StructLit:
		out := &ast.StructLit{Lbrace: x.Lbrace, Rbrace: x.Rbrace, Elts: make([]ast.Decl, 0, len(x.Elts))}
		for _, d := range x.Elts {
			f, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			name, _, err := ast.LabelName(f.Label)
			if err != nil {
				continue
			}
			out.Elts = append(out.Elts, field(name, Clone(f.Value), f.Label.Pos()))
		}
		return out
	case *ast.ListLit:
		out := &ast.ListLit{Lbrack: x.Lbrack, Rbrack: x.Rbrack, Elts: make([]ast.Expr, 0, len(x.Elts))}
		for _, e := range x.Elts {
			out.Elts = append(out.Elts, Clone(e))
		}
		return out
	case *ast.UnaryExpr:
		return &ast.UnaryExpr{OpPos: x.OpPos, Op: x.Op, X: Clone(x.X)}
	case *ast.BasicLit:
		return &ast.BasicLit{ValuePos: x.ValuePos, Kind: x.Kind, Value: x.Value}
	case *ast.Ident:
		return &ast.Ident{NamePos: x.NamePos, Name: x.Name}
	}
	return x
}

func dotted(path []string) string { return strings.Join(path, ".") }
