package cuelang_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

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
		line int
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
		"computed list":      {imports + "y: len(list.Repeat([for i in list.Range(0,3000,1) {i}],200000))", 2},
		"computed twice":     {imports + "y: len(list.Repeat([for i in list.Range(0,300,1) for j in list.Range(0,10,1) {i*j}],200000))", 2},
		"computed text":      {imports + "y: strings.Join([for i in list.Range(0,3000,1) {\"aaaa\"}], \",\")*100000", 2},
		"of a struct":        {imports + "a: {for i in list.Range(0,3000,1) {\"k\\(i)\": i}}\ny: len(list.Repeat([for k, v in a {v}], 200000))", 3},
		"of characters":      {imports + "y: len(list.Repeat(strings.Split(strings.Repeat(\"a\", 3000), \"\"), 200000))", 2},
		"unknown text":       {imports + "#in: string\ny: strings.Repeat(#in, 1000000)", 3},
		"unknown list":       {imports + "#in: [...int]\ny: list.Repeat(#in, 1000000)", 3},
		"unknown product":    {"#in: string\ny: #in*1000000", 2},
		"unknown count":      {"#in: int\n_a: \"aaaaaaaaaaaaaaaa\"*1000\ny: _a*#in", 3},
		"one of two counts":  {a + "n: *1000000 | 2000000\ny: _a*n", 3},
		"negative taken":     {a + "n: 1 - -1000000\ny: _a*n", 3},
		"divided":            {a + "n: div(1000000, 2)\ny: _a*n", 3},
		"shifted":            {"import \"math/bits\"\ny: bits.Lsh(1, 100000000000)", 2},
		"digits":             {"import \"strconv\"\ny: strconv.FormatFloat(1.5, 102, 1900000000, 64)", 2},
		"by a regex":         {"import \"regexp\"\n_b: \"aaaa\"*10000\ny: regexp.ReplaceAll(\"a\", _b, _b)", 3},
		"of JSON":            {"import \"encoding/json\"\ny: json.Marshal([for i in [1,2] {\"aaaaaaaaaaaaaaaa\"*100000}])*1000", 2},
		"embedded":           {"y: {\"aaaaaaaaaaaaaaaa\"*1000000}*1000", 1},
	} {
		t.Run(name, func(t *testing.T) {
			fs := cuelang.CheckSource("x.cue", []byte(c.src), cuelang.Limits{})
			if len(fs) != 1 || fs[0].Code != "value-too-large" || fs[0].Pos.Line != c.line || fs[0].Pos.File != "x.cue" {
				t.Errorf("got %v, want line %d", fs, c.line)
			}
		})
	}
}

// TestNotOversized: what is computed otherwise, or little, is not refused.
func TestNotOversized(t *testing.T) {
	const imports = "import (\"strings\", \"list\")\n"
	for name, src := range map[string]string{
		"numbers":           "a: 1000000\ny: a*1000*1000*1000",
		"memory":            "m: int | *512\nlimits: m: \"512Mi\"\ny: m*1024*1024*1024",
		"unknown numbers":   "#m: int\n#c: number\nlimits: #m*1024*1024*1024\nc: #c*1000*1000",
		"quantities":        "#m: int | string\nif (#m & int) != _|_ {limits: #m*1024*1024*1024}",
		"workers":           imports + "#n: int\ny: list.Repeat([{name: \"worker\", image: \"example.com/worker:1.2.3\", env: [{name: \"A\", value: \"b\"}]}], #n)",
		"indented":          imports + "#t: string\n#n: int\ny: strings.Repeat(#t, #n) + strings.Repeat(\" \", 80-len(#t))",
		"nested loops":      imports + "#x: [...{y: [...{z: [...string]}]}]\ny: strings.Join([for a in #x for b in a.y for c in b.z {\"a\\(c)\"}], \",\")",
		"small shifts":      "import (\"math/bits\", \"strconv\")\ny: bits.Lsh(1, 64)\nz: strconv.FormatFloat(1.5, 102, 3, 64)",
		"a line":            "y: \"-\"*80",
		"many lines":        imports + "y: strings.Repeat(\"0123456789\", 100000)",
		"CUE's own limit":   "y: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"*1000000000",
		"defaults":          "y: *\"a\" | string\nz: int | *1000000",
		"another scope":     "b: {_a: \"aaaaaaaaaaaaaaaa\"*1000000}\n_a: 1\ny: _a*1000",
		"itself":            "a: a*2\nb: c*2\nc: b*2",
		"not CUE":           "a: {*1000000*",
		"made of structs":   "a: b & b\nb: c & c\nc: {d: 1}\ny: a.d*2",
		"nothing to repeat": "y: x*1000\nx: _",
	} {
		if fs := cuelang.CheckSource("x.cue", []byte(src), cuelang.Limits{}); len(fs) > 0 {
			t.Errorf("%s: got %v", name, fs)
		}
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

// TestBuildOversized: what files of a package make together, and of what they import, is refused before it is evaluated.
func TestBuildOversized(t *testing.T) {
	const large = "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nA: _a\n"
	for name, c := range map[string]struct {
		files []string
		lib   string
		at    string // of the refusal; "" for none
	}{
		"reference":      {[]string{"package x\n" + large, "package x\ny: len(_a*1000)"}, "", "1.cue:2"},
		"count":          {[]string{"package x\nn: 1000\n", "package x\n" + large + "y: len(A*n)"}, "", "1.cue:4"},
		"type elsewhere": {[]string{"package x\n_a: string\n", "package x\ny: len(_a*1000)", "package x\n" + large}, "", "1.cue:2"},
		"sum":            {[]string{"package x\n_b: _a+_a+_a+_a+_a\n", "package x\n" + large}, "", "0.cue:2"},
		"import":         {[]string{"package x\nimport \"example.com/lib\"\ny: len(lib.A*1000)"}, large, "0.cue:3"},
		"renamed import": {[]string{"package x\nimport l \"example.com/lib\"\ny: len(l.A*1000)"}, large, "0.cue:3"},
		"fine":           {[]string{"package x\nn: 3\n", "package x\ny: \"-\"*n", "package x\nimport \"example.com/lib\"\nz: len(lib.A)"}, large, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var lib *build.Instance
			ctx := build.NewContext(build.Loader(func(token.Pos, string) *build.Instance { return lib }))
			instance := func(name string, files ...string) *build.Instance {
				inst := ctx.NewInstance(name, func(token.Pos, string) *build.Instance { return lib })
				for i, src := range files {
					f, err := parser.ParseFile(fmt.Sprintf("%d.cue", i), src)
					if err == nil {
						err = inst.AddSyntax(f)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := inst.Complete(); err != nil {
					t.Fatal(err)
				}
				return inst
			}
			if c.lib != "" {
				lib = instance("lib", "package lib\n"+c.lib)
				lib.ImportPath = "example.com/lib"
			}
			_, err := cuelang.Build(cuecontext.New(), instance("x", c.files...))
			if c.at == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			fs := cuelang.FindingsFor(err, cuelang.Show{Code: "evaluation"})
			if len(fs) != 1 || !strings.Contains(fs[0].What, "more than 64 MiB") || fmt.Sprintf("%s:%d", fs[0].Pos.File, fs[0].Pos.Line) != c.at {
				t.Errorf("got %v, want %s", fs, c.at)
			}
		})
	}
}
