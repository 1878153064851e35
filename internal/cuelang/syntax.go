package cuelang

import (
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/diag"
)

// Pos is where a token stands, as findings name it; the zero Pos for one that stands nowhere.
func Pos(p token.Pos) diag.Pos {
	if !p.IsValid() {
		return diag.Pos{}
	}
	return diag.Pos{File: p.Filename(), Line: p.Line(), Column: p.Column()}
}

// StringLit is the text of a string literal. Bytes, interpolations and everything else are none.
func StringLit(x ast.Expr) (string, bool) {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING || strings.HasPrefix(strings.TrimLeft(lit.Value, "#"), "'") {
		return "", false
	}
	s, err := literal.Unquote(lit.Value)
	return s, err == nil
}
