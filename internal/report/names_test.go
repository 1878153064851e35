package report

import (
	"testing"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"abc": 3, "äöü": 3, "日本": 4, "\x1b[31mred\x1b[0m": 3, "e\u0301": 1, "✗ ◐ ·": 5, "": 0} {
		if got := width(s); got != want {
			t.Errorf("width(%q) = %d, want %d", s, got, want)
		}
	}
	for _, c := range []struct {
		in   string
		cols int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"\x1b[31mabcdef\x1b[0m", 4, "\x1b[31mabc…\x1b[0m"}} {
		if got := truncate(c.in, c.cols, "…"); got != c.want {
			t.Errorf("truncate(%q, %d) = %q, want %q", c.in, c.cols, got, c.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("日本 \x1b[31mx", 3)
	f.Fuzz(func(t *testing.T, s string, cols int) {
		cols = 1 + (cols&0x7fffffff)%200
		if got := truncate(clean(s), cols, "…"); width(got) > cols {
			t.Errorf("%q is %d columns, not %d", got, width(got), cols)
		}
	})
}
