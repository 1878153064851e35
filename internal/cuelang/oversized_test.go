package cuelang_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cuelang"
)

// TestOversized: what repeats its way to gigabytes is refused before CUE evaluates it. Nothing here is evaluated.
func TestOversized(t *testing.T) {
	chain := func(step string) string {
		var b strings.Builder
		b.WriteString("_x0: \"aaaaaaaaaa\"\n")
		for i := range 30 {
			fmt.Fprintf(&b, "_x%d: %s\n", i+1, strings.ReplaceAll(step, "X", fmt.Sprint("_x", i)))
		}
		return b.String()
	}
	const a = "_a: \"aaaaaaaaaaaaaaaa\"*1000000\n"
	const imports = "import (\"strings\", \"list\")\n"
	for name, c := range map[string]struct {
		src  string
		line int // 0: it is fine
	}{
		"reference":          {a + "y: len(_a*1000)", 2},
		"count in front":     {a + "y: 1_000 * _a", 2},
		"count by reference": {a + "n: 1000\ny: _a*n", 3},
		"count computed":     {a + "n: 10*10*10\ny: _a*(n+1)", 3},
		"with a unit":        {a + "y: _a*1K", 2},
		"most":               {a + "y: _a*1000000", 2},
		"in parentheses":     {"y: (\"aaaaaaaaaaaaaaaa\"*1000000)*300", 1},
		"bytes":              {"y: 'aaaaaaaaaaaaaaaa'*1000000*64", 1},
		"raw text":           {"y: #\"aaaaaaaaaaaaaaaa\"#*1000000*64", 1},
		"chain":              {chain("X*10"), 8},
		"chain of sums":      {chain("X+X") + "y: _x1*1", 24},
		"interpolated":       {chain(`"\(X)\(X)"`) + "y: _x1*1", 23},
		"in interpolation":   {a + `y: "x\(_a*1000)"`, 2},
		"strings.Repeat":     {imports + "y: strings.Repeat(strings.Repeat(\"aaaaaaaaaa\", 1000000), 200)", 2},
		"another name":       {"import s \"strings\"\ny: s.Repeat(s.Repeat(\"aaaaaaaaaa\", 1000000), 200)", 2},
		"list.Repeat":        {imports + "y: len(list.Repeat(list.Repeat([1], 1000), 1000000))", 2},
		"strings.Replace":    {imports + "_b: \"aaaa\"*10000\ny: strings.Replace(_b, \"a\", _b, -1)", 3},
		"strings.Join":       {imports + "_b: \"aaaa\"*100000\ny: strings.Join(list.Repeat([\"\"], 100000), _b)", 3},
		"let":                {"let a = \"aaaaaaaaaaaaaaaa\"*1000000\ny: a*1000", 2},
		"alias":              {"A=a: \"aaaaaaaaaaaaaaaa\"*1000000\ny: A*1000", 2},
		"selector":           {"a: b: \"aaaaaaaaaaaaaaaa\"*1000000\ny: a.b*1000", 2},
		"index":              {"a: {\"b\": \"aaaaaaaaaaaaaaaa\"*1000000}\ny: a[\"b\"]*1000", 2},
		"item":               {"a: [\"aaaaaaaaaaaaaaaa\"*1000000]\ny: a[0]*1000", 2},
		"for":                {"y: [for x in [\"aaaaaaaaaaaaaaaa\"*1000000] {x*1000}]", 1},
		"comprehension":      {a + "if true {\n\ty: _a*1000\n}", 3},
		"default":            {a + "y: *(_a*1000) | string", 2},
		"declared twice":     {"_a: string\n_a: \"aaaaaaaaaaaaaaaa\"*1000000\ny: _a*1000", 3},
		"nested":             {a + "b: c: d: _a*1000", 2},
		"definition":         {"#a: {b: *(\"aaaaaaaaaaaaaaaa\"*1000000) | string}\ny: (#a & {c: 1}).b*1000", 2},

		"numbers":           {"a: 1000000\ny: a*1000*1000*1000", 0},
		"memory":            {"m: int | *512\nlimits: m: \"512Mi\"\ny: m*1024*1024*1024", 0},
		"a line":            {"y: \"-\"*80", 0},
		"many lines":        {imports + "y: strings.Repeat(\"0123456789\", 100000)", 0},
		"CUE's own limit":   {"y: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"*1000000000", 0},
		"defaults":          {"y: *\"a\" | string\nz: int | *1000000", 0},
		"another scope":     {"b: {_a: \"aaaaaaaaaaaaaaaa\"*1000000}\n_a: 1\ny: _a*1000", 0},
		"itself":            {"a: a*2\nb: c*2\nc: b*2", 0},
		"not CUE":           {"a: {*1000000*", 0},
		"made of structs":   {"a: b & b\nb: c & c\nc: {d: 1}\ny: a.d*2", 0},
		"nothing to repeat": {"y: x*1000\nx: _", 0},
	} {
		t.Run(name, func(t *testing.T) {
			fs := cuelang.CheckSource("x.cue", []byte(c.src), cuelang.Limits{})
			if c.line == 0 {
				if len(fs) > 0 {
					t.Errorf("got %v", fs)
				}
				return
			}
			if len(fs) != 1 || fs[0].Code != "value-too-large" || fs[0].Pos.Line != c.line || fs[0].Pos.File != "x.cue" {
				t.Errorf("got %v, want line %d", fs, c.line)
			}
		})
	}
}

// TestOversizedIsBounded: what is made to look at is looked at in time.
func TestOversizedIsBounded(t *testing.T) {
	var structs, refs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&structs, "a%d: a%d & a%d\n", i, i+1, i+1)
	}
	for i := range 20_000 {
		fmt.Fprintf(&refs, "a%d: a%d\n", i, i+1)
	}
	for name, src := range map[string]string{
		"structs": structs.String() + "y: a0.b*2\n", "references": refs.String() + "y: a0*2\n",
		"defaults": strings.Repeat("*", 1000), "spaces": strings.Repeat("* ", 1<<19),
		"itself": "a: b.c\nb: a.c & b.c\ny: a.d*2\n", "members": "a: a.b\ny: a.b*2\n",
	} {
		began := time.Now()
		cuelang.CheckSource("x.cue", []byte(src), cuelang.Limits{})
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %s", name, took)
		}
	}
}
