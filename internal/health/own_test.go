package health

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOwnReasonsAreKnown: every reason that our rooms write as a constant, or begin with one and a colon, is among those that no
// secret hides.
func TestOwnReasonsAreKnown(t *testing.T) {
	seen := 0
	for _, room := range []string{".", "../cluster", "../release", "../engine"} {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				kv, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Reason" {
					return true
				}
				value, head := kv.Value, false
				if sum, ok := value.(*ast.BinaryExpr); ok {
					value, head = sum.X, true
				}
				lit, ok := value.(*ast.BasicLit)
				if !ok {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				if head && !strings.HasSuffix(text, ": ") {
					return true
				}
				if seen++; text != "" && !slices.Contains(own, strings.TrimSuffix(text, ": ")) {
					t.Errorf("%s: the reason %q is not among those that no secret hides (own)", name, text)
				}
				return true
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d reasons were found", seen)
	}
}

// TestSecretsHideNoReasonOfOurs: what a reason quotes is masked, what it says by itself is not.
func TestSecretsHideNoReasonOfOurs(t *testing.T) {
	for _, secret := range append([]string{"hunter"}, own...) {
		mask := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
		for _, reason := range own {
			if got := (Status{Reason: reason}).Masked(mask).Reason; got != reason {
				t.Errorf("%q hides %q: %q", secret, reason, got)
			}
		}
		if got := (Status{Reason: "the job failed: login as " + secret}).Masked(mask).Reason; got != "the job failed: login as ***" {
			t.Errorf("%q: %q", secret, got)
		}
	}
}
