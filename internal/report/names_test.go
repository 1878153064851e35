package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		reason, in, want string
	}{
		{"one is named", "a", "a"},
		{"two are named", "staging-eu staging-us", "staging-eu, staging-us"},
		{"the spec's example", strings.Join(shopClusters[2:11], " "), "production-{eu-1..4,us-1..4,ap-1}"},
		{"a range of one stem", "n-1 n-2 n-3", "n-1..3"},
		{"order is kept", "b-2 b-1 a-1", "b-{2,1}, a-1"},
		{"padding is kept", "n01 n02 n03 n10", "n01..03, n10"},
		{"padded over a power of ten", "n-08 n-09 n-10", "n-08..10"},
		{"unpadded over a power of ten", "n-9 n-10 n-11", "n-9..11"},
		{"no common segment", "a b c", "a, b, c"},
		{"a sign of ours in a name", "a{ a1 a2", "a{, a1, a2"},
		{"duplicates stay", "n-1 n-1 n-2", "n-{1,1..2}"},
	} {
		if got := Names(strings.Fields(c.in)); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

var rangeForm = regexp.MustCompile(`^(.*?)(\d+)\.\.(\d+)$`)

// expand is the inverse of Names, written from its description alone.
func expand(s string) []string {
	var out []string
	depth, start := 0, 0
	var parts []string
	for i := range len(s) {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case s[i] == ',' && depth == 0:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	for _, p := range append(parts, s[start:]) {
		p = strings.TrimSpace(p)
		prefix, rest, ok := strings.Cut(p, "{")
		if !ok {
			out = append(out, expandRange(p)...)
			continue
		}
		for _, inner := range strings.Split(strings.TrimSuffix(rest, "}"), ",") {
			out = append(out, expandRange(prefix+inner)...)
		}
	}
	return out
}

func expandRange(s string) []string {
	m := rangeForm.FindStringSubmatch(s)
	if m == nil {
		return []string{s}
	}
	from, _ := strconv.Atoi(m[2])
	to, _ := strconv.Atoi(m[3])
	var out []string
	for n := from; n <= to; n++ {
		if m[2][0] == '0' {
			out = append(out, fmt.Sprintf("%s%0*d", m[1], len(m[2]), n))
			continue
		}
		out = append(out, fmt.Sprintf("%s%d", m[1], n))
	}
	return out
}

// TestNamesReversible: the text stands for exactly the names, in their order.
func TestNamesReversible(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "eu", "us", "01", "1", "9", "10", "099", "3", "x7"}), 1, 4).Draw(t, "parts")
		return strings.Join(parts, rapid.SampledFrom([]string{"-", "", ".", "-"}).Draw(t, "sep"))
	})
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 3, 12).Draw(t, "names")
		if n := rapid.IntRange(0, 12).Draw(t, "run"); n > 0 {
			stem := name.Draw(t, "stem")
			for i := range n {
				names = append(names, fmt.Sprintf("%s-%d", stem, i))
			}
		}
		if got := expand(Names(names)); !slices.Equal(got, names) {
			t.Fatalf("%q\nbecame %q\nwhich is %q", names, Names(names), got)
		}
	})
}

// TestHunks: applying a diff's lines to the old text gives the new one, and context is bounded.
func TestHunks(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d", ""})
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(line, 0, 30).Draw(t, "old")
		new := rapid.SliceOfN(line, 0, 30).Draw(t, "new")
		var got []string
		at := 0
		for _, h := range hunks(old, new, 3) {
			from := h.oldAt - 1
			got = append(got, old[at:from]...)
			at = from
			if len(got) != h.newAt-1 {
				t.Fatalf("hunk %s begins at line %d of the new text", h.head(), len(got)+1)
			}
			o, n := 0, 0
			for _, l := range h.lines {
				if l[0] != '+' {
					if old[at] != l[1:] {
						t.Fatalf("old line %d is %q, not %q", at, old[at], l[1:])
					}
					at, o = at+1, o+1
				}
				if l[0] != '-' {
					got, n = append(got, l[1:]), n+1
				}
			}
			if o != h.oldLen || n != h.newLen {
				t.Fatalf("%s has %d and %d lines", h.head(), o, n)
			}
		}
		if got = append(got, old[at:]...); !slices.Equal(got, new) {
			t.Fatalf("%q -> %q gave %q", old, new, got)
		}
	})
}

// TestLongTexts: texts that differ everywhere do not cost the square of their length.
func TestLongTexts(t *testing.T) {
	var a, b []string
	for i := range 20000 {
		a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
	}
	if h := hunks(a, b, 3); len(h) != 1 || len(h[0].lines) != 40000 {
		t.Errorf("%d hunks", len(h))
	}
}

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
