package cuelang

import "cuelang.org/go/cue/ast"

// Used lists the imports and let clauses a file's identifiers use.
func Used(f *ast.File) map[ast.Node]bool {
	used := map[ast.Node]bool{}
	ast.Walk(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Node != nil {
			switch id.Node.(type) {
			case *ast.ImportSpec, *ast.LetClause:
				used[id.Node] = true
			}
		}
		return true
	}, nil)
	return used
}

// DropUnused removes imports and let clauses that were used before, and are not any more: CUE refuses both.
func DropUnused(f *ast.File, before map[ast.Node]bool) {
	for {
		now := Used(f)
		gone := map[ast.Node]bool{}
		for n := range before {
			if !now[n] {
				gone[n] = true
				delete(before, n)
			}
		}
		if len(gone) == 0 {
			return
		}
		f.Decls = without(f.Decls, gone)
		ast.Walk(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructLit); ok {
				s.Elts = without(s.Elts, gone)
			}
			return true
		}, nil)
	}
}

func without(decls []ast.Decl, gone map[ast.Node]bool) []ast.Decl {
	out := decls[:0:0]
	for _, d := range decls {
		switch x := d.(type) {
		case *ast.LetClause:
			if gone[x] {
				continue
			}
		case *ast.ImportDecl:
			kept := x.Specs[:0:0]
			for _, spec := range x.Specs {
				if !gone[spec] {
					kept = append(kept, spec)
				}
			}
			if len(kept) == 0 {
				continue
			}
			x.Specs = kept
		}
		out = append(out, d)
	}
	return out
}
