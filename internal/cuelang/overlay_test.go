package cuelang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
)

func TestOverlay(t *testing.T) {
	for name, c := range map[string]struct{ base, over, want, reason string }{
		"field by field":      {`opt: {x: 1, y: 2}`, `opt: x: 9`, `{ opt: { x: 9 y: 2 } }`, "fields the overlay does not have stay"},
		"scalar replaces":     {`a: "set"`, `a: 5`, `{ a: 5 }`, "also of another kind; the schema decides"},
		"null over scalar":    {`a: "set"`, `a: null`, `{ a: null }`, "null replaces a scalar"},
		"struct over null":    {`a: null`, `a: {b: 1}`, `{ a: b: 1 }`, "a default of null is a scalar"},
		"null over empty":     {`a: {}`, `a: null`, `{ a: null }`, "an empty struct holds nothing to lose"},
		"list elements":       {`l: [{name: "http", port: 80}]`, `l: [{port: 81}]`, `{ l: [{ port: 81 name: "http" }] }`, "elements merge"},
		"shorter list":        {`l: [1, 2, 3]`, `l: [9]`, `{ l: [9] }`, "the overlay's length wins"},
		"empty list":          {`l: [1, 2]`, `l: []`, `{ l: [] }`, "[] empties"},
		"longer list":         {`l: [1]`, `l: [7, 8, 9]`, `{ l: [7 8 9] }`, "extra elements stay"},
		"longer than nothing": {`l: []`, `l: ["a"]`, `{ l: ["a"] }`, "over the common default"},
		"new fields":          {`a: 1`, `b: 2`, `{ b: 2 a: 1 }`, "order: the overlay's, then the rest"},
		"order":               {`a: 1, b: 2, c: 3`, `c: 30, a: 10`, `{ c: 30 a: 10 b: 2 }`, "order: the overlay's, then the rest"},
		"float over int":      {`a: 4`, `a: 4.0`, `{ a: 4.0 }`, "kinds are kept"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := cuelang.Overlay(data(t, c.base), data(t, c.over))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, text(t, got)); diff != "" {
				t.Errorf("%s: -want +got\n%s", c.reason, diff)
			}
		})
	}
}

func TestOverlayErrors(t *testing.T) {
	for name, c := range map[string]struct{ base, over, want string }{
		"null over struct":   {"a: {\n x: 1\n}", "\na: null", "a: null cannot replace the struct"},
		"string over list":   {`a: b: [1]`, `a: b: "x"`, "a.b: a string cannot replace the list"},
		"list over struct":   {`a: {x: 1}`, `a: [1]`, "a: a list cannot replace the struct"},
		"in a list":          {`a: [{x: 1}]`, `a: [3]`, "a.0: a number cannot replace the struct"},
		"struct over a list": {`a: [1]`, `a: {x: 1}`, "a: a struct cannot replace the list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cuelang.Overlay(data(t, c.base), data(t, c.over))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if !strings.Contains(err.Error(), "in.cue:1") {
				t.Errorf("the base's position is missing: %v", err)
			}
			if fs := cuelang.Findings(err, nil, ""); len(fs) != 1 || fs[0].Pos.File != "in.cue" {
				t.Errorf("the overlay's position is missing: %v", fs)
			}
		})
	}
}

func TestOverlayNil(t *testing.T) {
	x := data(t, `a: 1`)
	for _, c := range [][2]*v1alpha1.Value{{nil, x}, {x, nil}} {
		got, err := cuelang.Overlay(c[0], c[1])
		if err != nil || cuelang.Digest(got) != cuelang.Digest(x) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestOverlayKeepsPositions(t *testing.T) {
	got, err := cuelang.Overlay(data(t, "a: 1\nb: 2"), data(t, "\n\n\na: 7"))
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Lookup("a").Pos.Line; l != 4 {
		t.Errorf("overlaid value at line %d, want 4", l)
	}
	if l := got.Lookup("b").Pos.Line; l != 2 {
		t.Errorf("kept value at line %d, want 2", l)
	}
}

func TestOverlayChart(t *testing.T) {
	for name, c := range map[string]struct{ base, over, want string }{
		"field by field":     {`opt: {x: 1, y: 2}`, `opt: x: 9`, `{ opt: { x: 9 y: 2 } }`},
		"lists replace":      {`l: [{name: "http", port: 80}, 2]`, `l: [{port: 81}]`, `{ l: [{ port: 81 }] }`},
		"null over struct":   {`a: {x: 1}`, `a: null`, `{ a: null }`},
		"null over list":     {`a: [1]`, `a: null`, `{ a: null }`},
		"text over list":     {`a: b: [1]`, `a: b: "x"`, `{ a: b: "x" }`},
		"list over struct":   {`a: {x: 1}`, `a: [1]`, `{ a: [1] }`},
		"struct over a list": {`a: [1]`, `a: {x: 1}`, `{ a: x: 1 }`},
		"struct over null":   {`a: null`, `a: {b: 1}`, `{ a: b: 1 }`},
		"empty over struct":  {`a: {x: 1}`, `a: {}`, `{ a: x: 1 }`},
	} {
		got, err := cuelang.OverlayChart(data(t, c.base), data(t, c.over))
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(c.want, text(t, got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
