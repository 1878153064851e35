package columns

import (
	"slices"
	"testing"
)

func TestColumns(t *testing.T) {
	red := "\x1b[31mab\x1b[0m"
	if Width(red) != 2 || Width("日本") != 4 || Width("e\u0301") != 1 || Bare(red) != "ab" {
		t.Errorf("%d %d %d %q", Width(red), Width("日本"), Width("e\u0301"), Bare(red))
	}
	if got := Truncate("production-eu", 8, "…"); got != "product…" {
		t.Errorf("%q", got)
	}
	if got := Truncate(red+"cdef", 4, "…"); Width(got) != 4 || Bare(got) != "abc…" {
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
