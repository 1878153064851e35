package cuelang

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAliases: what aliases stand for is bounded in bytes and in values, however they are nested; what is usual is read.
func TestAliases(t *testing.T) {
	long, nested := strings.Repeat("x", 500_000), "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		nested += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	each := func(line string) (out string) {
		for i := range 40 {
			out += fmt.Sprintf(line, i) + "\n"
		}
		return out
	}
	for name, c := range map[string]struct {
		text string
		line int // 0 where it is read, -1 where the lines of YAML are others than an editor's
	}{
		"no alias":              {"a: '" + strings.Repeat("x", 17<<20) + "'\n", 0},
		"signs in texts":        {"a: '& * &b *b'\nb: a*b\nc: a&b\n", 0},
		"usual":                 {"a: &a {b: c}\nd: {<<: *a}\ne: [*a, *a]\n", 0},
		"some long ones":        {"a: &a '" + long + "'\nb: [*a, *a, *a, *a]\n", 0},
		"many long ones":        {"a: &a '" + long + "'\n" + each("k%d: *a"), 35},
		"each in a list":        {"a: &a '" + long + "'\n" + each("k%d: [*a]"), 35},
		"as keys":               {"a: &a '" + long + "'\nb: {" + strings.TrimSuffix(strings.Repeat("*a : 1,", 40), ",") + "}\n", 2},
		"merged":                {"a: &a {x: '" + long + "'}\n" + each("k%d: {<<: *a}"), 35},
		"in a second document":  {"x: 1\n---\na: &a '" + long + "'\n" + each("k%d: *a"), 37},
		"nested":                {nested, 6},
		"anchor of an anchor":   {"a: &a '" + long + "'\nb: &b [" + strings.TrimSuffix(strings.Repeat("*a,", 30), ",") + "]\nc: *b\n", 3},
		"a map with few values": {"m: &m {a: 1, b: 2}\nl: [" + strings.TrimSuffix(strings.Repeat("*m,", 250_000), ",") + "]\n", 2},
		"after next lines":      {"l: [\u0085&a '" + long + "'" + strings.Repeat(",\u0085*a", 40) + "]\n", -1},
		"after separators":      {"l: [\u2028&a '" + long + "'" + strings.Repeat(",\u2029*a", 40) + "]\n", -1},
		"within itself":         {"a: &a [*a]\n", 0},
		"no YAML":               {"a: &a [*b\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			fs := CheckAliases("v.yaml", []byte(c.text))
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it takes %s", took)
			}
			if c.line == 0 {
				if fs != nil {
					t.Error(fs)
				}
				return
			}
			if len(fs) != 1 || fs[0].Code != "yaml" || fs[0].Pos.File != "v.yaml" || fs[0].Pos.Line != c.line && c.line > 0 {
				t.Fatalf("want one finding in line %d, got %v", c.line, fs)
			}
			if _, err := FromYAML("v.yaml", []byte(c.text)); err == nil {
				t.Error("it is read")
			}
		})
	}
}
