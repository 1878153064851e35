package fleetplan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every refusal is the code of a finding that somebody makes: a code that was renamed would end with another exit code.
func TestRefusalsAreMade(t *testing.T) {
	missing := map[string]bool{}
	for code := range refusals {
		missing[code] = true
	}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "refusal.go" {
			return err
		}
		data, err := os.ReadFile(path)
		for code := range missing {
			if strings.Contains(string(data), `"`+code+`"`) {
				delete(missing, code)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code := range missing {
		t.Errorf("nobody makes the finding %q", code)
	}
	if Refusal("unknown-field") || !Refusal("stale-plan") {
		t.Error("a mistake is no refusal, a stale plan is one")
	}
}

// What a function that refuses makes of what stands on a cluster is a refusal: else the run would end with exit code 1. These are the
// rooms that judge clusters; what is refused in documents is a mistake in them.
func TestWhatRefusesIsARefusal(t *testing.T) {
	refuses, found := regexp.MustCompile(`\brefuses?\b`), 0
	for _, room := range []string{"chance", "checkout", "deletionguard", "fleetplan", "lineage", "madeguard", "plan", "release", "retirement", "rights", "rollout", "staleplan"} {
		funcs, consts := declared(t, filepath.Join("..", room))
		for _, fn := range funcs {
			for _, code := range errorsOf(fn, consts) {
				if !refuses.MatchString(fn.Doc.Text()) && !strings.HasPrefix(code, "kept-values-") {
					continue
				}
				if found++; !Refusal(code) {
					t.Errorf("%s: %s refuses with %q, which is no refusal", room, fn.Name.Name, code)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d refusals were found in the rooms", found)
	}
}

// declared are the functions of a room and the values of its constants.
func declared(t *testing.T, dir string) (funcs []*ast.FuncDecl, consts map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, len(files), err)
	}
	consts = map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				funcs = append(funcs, n)
			case *ast.ValueSpec:
				for i, v := range n.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						consts[n.Names[i].Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
			return true
		})
	}
	return funcs, consts
}

// errorsOf are the codes of the error findings that a function makes.
func errorsOf(fn *ast.FuncDecl, consts map[string]string) (codes []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Errorf" {
			return true
		} else if pkg, ok := sel.X.(*ast.Ident); !ok || pkg.Name != "diag" {
			return true
		}
		switch code := call.Args[0].(type) {
		case *ast.BasicLit:
			value, _ := strconv.Unquote(code.Value)
			codes = append(codes, value)
		case *ast.Ident:
			codes = append(codes, consts[code.Name])
		}
		return true
	})
	return codes
}
