package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// watched are the literals that have to name who watches evaluations: type, with its path below the module, and the field.
var watched = map[string]string{
	"internal/document.Options":         "Watchdog",
	"internal/engine.Engine":            "Watchdog",
	"internal/input.Want":               "Watchdog",
	"internal/isolate.Host":             "Watchdog",
	"internal/toolchain.Tools":          "Watchdog",
	"internal/render/cue.Options":       "Watch",
	"internal/render/helm.Options":      "Watch",
	"internal/render/kustomize.Options": "Watch",
}

// unwatched are the literals of a file that leave the field out, and the calls of document.Load with options that are made elsewhere
// and nobody gives it in the same function.
func (s *source) unwatched() []ast.Node {
	uses := map[ast.Node]string{}
	for _, x := range s.selectors() {
		if name, ok := ours(x.name); ok {
			uses[x.at] = name
		}
	}
	var out []ast.Node
	for _, d := range s.file.Decls {
		given := map[string]bool{} // options whose Watchdog is assigned
		ast.Inspect(d, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for _, to := range a.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Watchdog" {
						if id, ok := sel.X.(*ast.Ident); ok {
							given[id.Name] = true
						}
					}
				}
			}
			return true
		})
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if field := watched[uses[n.Type]]; field != "" && !names(n, field) {
					out = append(out, n)
				}
			case *ast.CallExpr:
				if uses[n.Fun] != "internal/document.Load" || len(n.Args) != 2 {
					break
				}
				if _, literal := n.Args[1].(*ast.CompositeLit); literal {
					break
				}
				if id, ok := n.Args[1].(*ast.Ident); !ok || !given[id.Name] {
					out = append(out, n)
				}
			}
			return true
		})
	}
	return out
}

// names reports whether a literal names a field.
func names(lit *ast.CompositeLit, field string) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
				return true
			}
		}
	}
	return false
}

// What evaluates documents, modules, charts or kustomizations is watched, wherever that is begun: an evaluation cannot be cancelled,
// and one that nobody watches takes all memory, or for ever.
func TestEvaluationsAreWatched(t *testing.T) {
	h := visit(t)
	types := map[string]bool{}
	for _, s := range h.sources(t) {
		if r, _, _ := h.roomOf(s.pkg); s.test || r.test {
			continue
		}
		for _, at := range s.unwatched() {
			t.Errorf("%s:%d: an evaluation that nobody watches: name the watchdog", s.path, s.line(at.Pos()))
		}
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if typ, ok := spec.(*ast.TypeSpec); ok {
						types[s.pkg+"."+typ.Name.Name] = true
					}
				}
			}
		}
	}
	for typ, field := range watched {
		if !types[typ] {
			t.Errorf("there is no %s with a %s any more", strings.TrimPrefix(typ, "internal/"), field)
		}
	}
}
