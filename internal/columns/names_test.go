package columns

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
		{"the spec's example", "production-eu-1 production-eu-2 production-eu-3 production-eu-4 production-us-1 production-us-2 production-us-3 production-us-4 production-ap-1", "production-{eu-1..4,us-1..4,ap-1}"},
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
