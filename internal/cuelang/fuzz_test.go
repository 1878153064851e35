package cuelang_test

import (
	"testing"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/internal/cuelang"
)

var seeds = []string{
	`a: 1, b: [2, "x", {c: null}]`, `x: -1.5e3`, `x: 'a\x00'`, `a: *1 | int`, `{}`, `[]`, `"s"`, `a: {b: {c: {}}}`, `"_x": 0x1f`,
}

// FuzzData: data of any concrete value compiles back to the same data.
func FuzzData(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 2000 || cuelang.CheckSource("f.cue", []byte(src), cuelang.Limits{Nesting: 30, Chain: 200}).HasErrors() {
			return
		}
		file, err := parser.ParseFile("f.cue", src)
		if err != nil {
			cuelang.Findings(err, nil, "")
			return
		}
		x, err := cuelang.Data(cuecontext.New().BuildFile(file))
		if err != nil {
			cuelang.Findings(err, nil, "")
			return
		}
		again, err := cuelang.Data(cuecontext.New().BuildExpr(cuelang.Syntax(x)))
		if err != nil {
			t.Fatalf("data does not compile: %v", err)
		}
		if cuelang.Digest(x) != cuelang.Digest(again) {
			t.Fatalf("data changed: %s became %s", text(t, x), text(t, again))
		}
	})
}

// FuzzOverlay: laying data over itself changes nothing, and what is laid over something wins.
func FuzzOverlay(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, seeds[0])
	}
	f.Fuzz(func(t *testing.T, base, over string) {
		b, err := cuelang.FromYAML("b.yaml", []byte(base))
		if err != nil {
			return
		}
		o, err := cuelang.FromYAML("o.yaml", []byte(over))
		if err != nil {
			return
		}
		x, err := cuelang.FromFile(b)
		if err != nil {
			return
		}
		y, err := cuelang.FromFile(o)
		if err != nil {
			return
		}
		self, err := cuelang.Overlay(x, x)
		if err != nil || cuelang.Digest(self) != cuelang.Digest(x) {
			t.Fatalf("over itself: %v", err)
		}
		merged, err := cuelang.Overlay(x, y)
		if err != nil {
			return
		}
		twice, err := cuelang.Overlay(merged, y)
		if err != nil || cuelang.Digest(twice) != cuelang.Digest(merged) {
			t.Fatalf("an overlay laid twice differs: %v", err)
		}
	})
}
