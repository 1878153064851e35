package columns

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bare is text without its colours.
func bare(s string) string { return regexp.MustCompile("\x1b\\[[^@-~]*[@-~]").ReplaceAllString(s, "") }

func TestColumns(t *testing.T) {
	red := "\x1b[31mab\x1b[0m"
	if Width(red) != 2 || Width("日本") != 4 || Width("e\u0301") != 1 || bare(red) != "ab" {
		t.Errorf("%d %d %d %q", Width(red), Width("日本"), Width("e\u0301"), bare(red))
	}
	if got := Truncate("production-eu", 8, "…"); got != "product…" {
		t.Errorf("%q", got)
	}
	if got := Truncate(red+"cdef", 4, "…"); Width(got) != 4 || bare(got) != "abc…" {
		t.Errorf("%q", got)
	}
	if got := Wrap("one two 日本日本", 6); !slices.Equal(got, []string{"one", "two", "日本日", "本"}) {
		t.Errorf("%q", got)
	}
	if got := Chunks("日本語", 4); !slices.Equal(got, []string{"日本", "語"}) {
		t.Errorf("%q", got)
	}
	if got := Clean("a\nb\x1b[2J\u202e"); Width(got) < 8 || slices.Contains([]byte(got), 0x1b) || slices.Contains([]byte(got), '\n') {
		t.Errorf("%q", got)
	}
	if At("long name", 4, "x") != "long name  x" || At("a", 4, "x") != "a   x" || Pad("日", 3) != "日 " {
		t.Error("columns do not begin where they should")
	}
}

// A line is cut so that the place which it is shown for stays, with something behind it, and the caret stands below that.
func TestAround(t *testing.T) {
	long := "    web: {namespace: My_Space, manifests: {paths: [./m]}, values: {replicas: three, image: {tag: latest}}}"
	for _, c := range []struct {
		col, cols int
		want      string
	}{
		{4, 40, "    web: {namespace: My_Space, manifest…"},
		{strings.Index(long, "three"), 40, "…sts: {paths: [./m]}, values: {replicas: three, image: {tag: latest}}}"},
		{len(long) - 1, 40, ""},
		{len(long), 40, ""},
		{0, 200, long},
	} {
		got, at := Around(long, c.col, c.cols, "…")
		if Width(got) > c.cols || at < 0 || at > c.cols {
			t.Fatalf("%d in %d: %q, %d", c.col, c.cols, got, at)
		}
		if c.col < len(long) {
			if rest := []rune(got); at >= len(rest) || !strings.HasPrefix(long[c.col:], strings.TrimSuffix(string(rest[at:]), "…")) {
				t.Errorf("%d in %d: %q does not have its place at %d", c.col, c.cols, got, at)
			}
		}
	}
	if got, at := Around("日本日本日本日本日本", 16, 10, "…"); Width(got) > 10 || at > 10 {
		t.Errorf("%q %d", got, at)
	}
}

// TestWrapOfOneWord: a word of any length is cut into lines in time that grows with it alone.
func TestWrapOfOneWord(t *testing.T) {
	const long = 4 << 20
	lines := Wrap("a "+strings.Repeat("x", long)+" b", 64)
	if len(lines) != 2+long/64 || lines[0] != "a" || Width(lines[1]) != 64 || lines[len(lines)-1] != "b" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}
