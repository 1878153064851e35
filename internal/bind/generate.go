package bind

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// Generate is one {generate: {length: N, charset: NAME}} in the values: a text that is made up once.
type Generate struct {
	// Length is in characters, Alphabet what they are taken from.
	Length   int
	Alphabet string
	// At is the data path below the values, Pos the place in the user's file.
	At  string
	Pos diag.Pos

	node *ast.StructLit
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	// maxLength of a text, and the fewest characters of an alphabet that is written out.
	maxLength   = 4096
	minAlphabet = 10
)

// charsets are the alphabets by name; the first is the default.
var charsets = []struct{ name, alphabet string }{
	{"alphanumeric", lower + upper + digits}, {"letters", lower + upper}, {"lower", lower + digits}, {"digits", digits},
	{"hex", digits + "abcdef"}, {"symbols", lower + upper + digits + "!#%*+,-./:=?@^_~"},
}

// Value is a text as CUE data, at the place of the value.
func (g Generate) Value(s string) ast.Expr { return text(s, g.node.Pos()) }

// Placeholder stands in for the text while there is none: of its length and alphabet, the same every time.
func (g Generate) Placeholder() string {
	word := "generated"
	if strings.Trim(word, g.Alphabet) != "" {
		word = string([]rune(g.Alphabet)[:1])
	}
	return string([]rune(strings.Repeat(word, g.Length))[:g.Length])
}

// generateStruct is the struct {generate: {length: ...}} that a node is, sealed or not; nil for anything else.
func generateStruct(x ast.Expr) *ast.StructLit {
	if p, ok := x.(*ast.ParenExpr); ok {
		x = p.X
	}
	s, ok := x.(*ast.StructLit)
	if !ok {
		return nil
	}
	fields, err := cuelang.Fields(s)
	if err != nil || len(fields) != 1 || fields[0].Name != "generate" || cuelang.Lookup(fields[0].Value, "length") == nil {
		return nil
	}
	return s
}

func newGenerate(s *ast.StructLit, at v1alpha1.Path) (Generate, diag.Findings) {
	body := cuelang.Lookup(s, "generate") // generateStruct has seen it
	g := Generate{At: at.String(), Pos: position(s.Pos()), Alphabet: charsets[0].alphabet, node: s}
	if !g.Pos.IsValid() {
		g.Pos = position(body.Pos())
	}
	var fs diag.Findings
	fail := func(x ast.Expr, name, fix, format string, args ...any) {
		n := diag.Errorf("value-generate", format, args...)
		n.Pos, n.Path, n.Fix = g.Pos, strings.TrimPrefix(g.At+".generate."+name, "."), fix
		if x != nil && x.Pos().IsValid() {
			n.Pos = position(x.Pos())
		}
		fs = append(fs, n)
	}
	held, err := cuelang.ToJSON(body)
	fields, isMap := held.(map[string]any)
	if err != nil || !isMap {
		fail(body, "", "write {generate: {length: 24}}", "generate is no struct of plain data")
		return g, fs
	}
	length, whole := fields["length"].(int64)
	if whole && length > 0 && length <= maxLength {
		g.Length = int(length)
	} else {
		fail(cuelang.Lookup(body, "length"), "length", "", "length must be a whole number from 1 to %d", maxLength)
	}
	if charset, given := fields["charset"]; given {
		var why string
		if g.Alphabet, why = alphabetOf(charset); why != "" {
			fail(cuelang.Lookup(body, "charset"), "charset", "", "%s", why)
		}
	}
	list, _ := cuelang.Fields(body.(*ast.StructLit))
	for _, f := range list {
		if f.Name != "length" && f.Name != "charset" {
			fail(f.Value, f.Name, diag.DidYouMean(f.Name, []string{"length", "charset"}), "generate has no field %s", f.Name)
		}
	}
	if g.At == "" {
		fail(body, "", "make each field up by itself", "all the values cannot be made up")
	}
	return g, fs
}

// alphabetOf is a charset by its name, or one that is written out.
func alphabetOf(v any) (alphabet, why string) {
	name, _ := v.(string)
	var names []string
	for _, c := range charsets {
		if c.name == name {
			return c.alphabet, ""
		}
		names = append(names, c.name)
	}
	letters := []rune(name)
	slices.Sort(letters)
	if letters = slices.Compact(letters); len(letters) < minAlphabet {
		return "", fmt.Sprintf("charset must be one of %s, or at least %d characters written out", strings.Join(names, ", "), minAlphabet)
	}
	return string(letters), ""
}
