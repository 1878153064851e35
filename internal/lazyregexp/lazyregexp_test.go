package lazyregexp

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each method does what that of package regexp does.
func TestRegexp(t *testing.T) {
	const text, in = `(b+)(c?)`, "abbc abc ab"
	r, want := New(text), regexp.MustCompile(text)
	up := func(s string) string { return "<" + s + ">" }
	for name, pair := range map[string][2]any{
		"Match": {r.Match([]byte(in)), want.Match([]byte(in))}, "MatchString": {r.MatchString("x"), want.MatchString("x")},
		"FindString": {r.FindString(in), want.FindString(in)}, "FindIndex": {r.FindIndex([]byte(in)), want.FindIndex([]byte(in))},
		"FindStringIndex": {r.FindStringIndex(in), want.FindStringIndex(in)}, "FindStringSubmatch": {r.FindStringSubmatch(in), want.FindStringSubmatch(in)},
		"FindAllString": {r.FindAllString(in, 2), want.FindAllString(in, 2)}, "FindAllStringIndex": {r.FindAllStringIndex(in, -1), want.FindAllStringIndex(in, -1)},
		"FindAllStringSubmatch":      {r.FindAllStringSubmatch(in, -1), want.FindAllStringSubmatch(in, -1)},
		"FindAllStringSubmatchIndex": {r.FindAllStringSubmatchIndex(in, -1), want.FindAllStringSubmatchIndex(in, -1)},
		"ReplaceAllString":           {r.ReplaceAllString(in, "$2"), want.ReplaceAllString(in, "$2")},
		"ReplaceAllStringFunc":       {r.ReplaceAllStringFunc(in, up), want.ReplaceAllStringFunc(in, up)},
		"ReplaceAll":                 {string(r.ReplaceAll([]byte(in), []byte("$1"))), string(want.ReplaceAll([]byte(in), []byte("$1")))},
		"Split":                      {r.Split(in, -1), want.Split(in, -1)},
	} {
		if d := cmp.Diff(pair[1], pair[0]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A wrong expression is found by the tests of the room that has it, and not by who needs it first.
func TestWrong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it is taken")
		}
	}()
	New("(")
}
