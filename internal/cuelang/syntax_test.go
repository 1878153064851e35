package cuelang_test

import (
	"testing"

	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

func TestStringLit(t *testing.T) {
	for text, want := range map[string]string{`"a\tb"`: "a\tb", `#"a\tb"#`: `a\tb`, "\"\"\"\n\tx\n\t\"\"\"": "x", `'bytes'`: "-", `#'bytes'#`: "-", `"\(x)"`: "-", `1`: "-", `x`: "-"} {
		x, err := parser.ParseExpr("x.cue", text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := cuelang.StringLit(x)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestPos(t *testing.T) {
	x, err := parser.ParseExpr("x.cue", "\n  y")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cuelang.Pos(x.Pos()), (diag.Pos{File: "x.cue", Line: 2, Column: 3}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := cuelang.Pos(token.NoPos); got != (diag.Pos{}) {
		t.Errorf("%v of no position", got)
	}
}
