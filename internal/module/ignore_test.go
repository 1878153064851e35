package module

import (
	"strings"
	"testing"
)

func TestIgnore(t *testing.T) {
	ig := parseIgnore("# note\n*.tmp\n/build\ndocs/\n!keep.tmp\na/**/z\n\\#odd\n")
	for rel, want := range map[string]bool{
		"x.tmp": true, "d/x.tmp": true, "keep.tmp": false, "build": true, "d/build": false, "docs": true, "a/b/c/z": true,
		"a/z": true, "#odd": true, "timoni.cue": false,
	} {
		if got := ig.Match(rel, !strings.Contains(rel, ".")); got != want {
			t.Errorf("%s: ignored %v, want %v", rel, got, want)
		}
	}
	if ig.Match("docs", false) {
		t.Error("a file named as a directory pattern is ignored")
	}
}

// TestIgnoreIsMatchedAtOnce: a pattern of many ** is no bomb, and means what it says.
func TestIgnoreIsMatchedAtOnce(t *testing.T) {
	deep := strings.Repeat("a/", 200)
	for pattern, want := range map[string]bool{
		strings.Repeat("**/a/", 100) + "x": false, strings.Repeat("**/", 100) + "b": true, strings.Repeat("**/a/", 100) + "b": true,
		"a/**/a/**/b": true, "a/**/b/**": false, "**/a/a/b": true, "**/a/b/b": false, "a/**": true, "**": true, "**/**": true, "**/c/**/b": false,
	} {
		if got := parseIgnore(pattern).Match(deep+"b", false); got != want {
			t.Errorf("%.40s: ignored %t, want %t", pattern, got, want)
		}
	}
}

// The last pattern that matches decides: what each line says by itself, in order, is what all of them say, and a last line for
// everything decides for everything.
func FuzzIgnore(f *testing.F) {
	f.Add("*.tmp\n!a\n", "x/a.tmp", false)
	f.Add("a/**/b\n[", "a/b", false)
	f.Add("docs/\n!/docs\n\\#x", "docs", true)
	f.Add(strings.Repeat("**/*/", 30)+"x", strings.Repeat("a/", 40)+"b", false)
	f.Fuzz(func(t *testing.T, text, rel string, isDir bool) {
		if len(text) > 200 || len(rel) > 100 {
			return
		}
		want := false
		for line := range strings.Lines(text) {
			one := parseIgnore(line)
			for _, p := range one.patterns {
				p.negated = false
				if (&Ignore{patterns: []pattern{p}}).Match(rel, isDir) {
					want = !one.patterns[0].negated
				}
			}
		}
		if got := parseIgnore(text).Match(rel, isDir); got != want {
			t.Errorf("%q is ignored %t by %q, line by line %t", rel, got, text, want)
		}
		if !parseIgnore(text+"\n*").Match(rel, isDir) || parseIgnore(text+"\n*\n!*").Match(rel, isDir) {
			t.Errorf("%q: the last line of %q does not decide", rel, text)
		}
	})
}
