package wire

import (
	"fmt"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// What a node of CUE data is.
const (
	noNode byte = iota
	structNode
	listNode
	literalNode
	signNode
	nameNode
)

// expr writes CUE data: structs of plain fields, lists, literals with or without a sign, and names (null and booleans as some
// readers write them). Comments are left out, as everywhere where data is copied.
func (w *writer) expr(x ast.Expr, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested too deeply")
	}
	switch x := x.(type) {
	case nil:
		w.byte(noNode)
	case *ast.StructLit:
		return w.structLit(x, depth)
	case *ast.ListLit:
		w.byte(listNode)
		w.pos(x.Lbrack)
		w.pos(x.Rbrack)
		w.uint(uint64(len(x.Elts)))
		for _, e := range x.Elts {
			if err := w.expr(e, depth+1); err != nil {
				return err
			}
		}
	case *ast.BasicLit:
		w.byte(literalNode)
		w.pos(x.ValuePos)
		w.uint(uint64(x.Kind))
		w.text(x.Value)
	case *ast.UnaryExpr:
		w.byte(signNode)
		w.pos(x.OpPos)
		w.uint(uint64(x.Op))
		return w.expr(x.X, depth+1)
	case *ast.Ident:
		w.byte(nameNode)
		w.pos(x.NamePos)
		w.text(x.Name)
	default:
		return fmt.Errorf("a %T is no data", x)
	}
	return nil
}

func (w *writer) structLit(x *ast.StructLit, depth int) error {
	w.byte(structNode)
	w.pos(x.Lbrace)
	w.pos(x.Rbrace)
	var fields []*ast.Field
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.Field:
			fields = append(fields, d)
		case *ast.CommentGroup:
		default:
			return fmt.Errorf("a %T is no data", d)
		}
	}
	w.uint(uint64(len(fields)))
	for _, f := range fields {
		label, ok := f.Label.(ast.Expr)
		if !ok || f.Constraint != token.ILLEGAL || f.Alias != nil {
			return fmt.Errorf("a field with %T, or with more than a name, is no data", f.Label)
		}
		if err := w.expr(label, depth+1); err != nil {
			return err
		}
		w.pos(f.TokenPos)
		if err := w.expr(f.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) expr(depth int) (ast.Expr, error) {
	if depth > maxDepth {
		return nil, errNot
	}
	switch kind := r.byte(); kind {
	case noNode:
		return nil, r.err
	case structNode:
		return r.structLit(depth)
	case listNode:
		x := &ast.ListLit{Lbrack: r.pos(), Rbrack: r.pos()}
		for range r.count(1) {
			e, err := r.expr(depth + 1)
			if err != nil {
				return nil, err
			}
			x.Elts = append(x.Elts, e)
		}
		return x, r.err
	case literalNode:
		return &ast.BasicLit{ValuePos: r.pos(), Kind: token.Token(r.uint()), Value: r.text()}, r.err
	case signNode:
		x := &ast.UnaryExpr{OpPos: r.pos(), Op: token.Token(r.uint())}
		var err error
		x.X, err = r.expr(depth + 1)
		return x, err
	case nameNode:
		return &ast.Ident{NamePos: r.pos(), Name: r.text()}, r.err
	}
	return nil, errNot
}

func (r *reader) structLit(depth int) (ast.Expr, error) {
	x := &ast.StructLit{Lbrace: r.pos(), Rbrace: r.pos()}
	for range r.count(1) {
		name, err := r.expr(depth + 1)
		if err != nil {
			return nil, err
		}
		label, ok := name.(ast.Label)
		if !ok {
			return nil, errNot
		}
		f := &ast.Field{Label: label, TokenPos: r.pos()}
		if f.Value, err = r.expr(depth + 1); err != nil {
			return nil, err
		}
		x.Elts = append(x.Elts, f)
	}
	return x, r.err
}
