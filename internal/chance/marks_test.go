package chance

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestSince: which texts of a release were made anew since is told by each, with what is kept of the same call; where
// nobody can tell which that is, nothing is.
func TestSince(t *testing.T) {
	call := func(args, line, value string) Call {
		return Call{Template: "t", Func: "randAlphaNum", Args: args, Line: line, Value: value}
	}
	made := func(calls ...Call) Answers { return Answers{Calls: calls} }
	pair := Call{Template: "t", Func: "genCA", Value: `{"cert":"cert one\n","key":"key one\n"}`}
	other := pair
	other.Value = `{"cert":"cert two\n","key":"key two\n"}`
	signed := Call{Template: "t", Func: "genSignedCert", Args: "of one", Value: `{"cert":"leaf","key":"leaf key"}`}
	found := func(text string) Answers {
		return Answers{Secrets: map[string]map[string]string{"ns/s": {"k": base64.StdEncoding.EncodeToString([]byte(text))}}}
	}
	for name, c := range map[string]struct {
		then, now Answers
		want      string
	}{
		"nothing since":             {made(call("1", "a", "old")), made(call("1", "a", "old")), "[] 0"},
		"something was made beside": {made(call("1", "a", "old")), made(call("1", "a", "old"), call("2", "b", "new")), "[] 0"},
		"other arguments":           {made(call("1", "a", "old")), made(call("1", "a", "old"), call("2", "a", "new")), "[] 0"},
		"rotated":                   {made(call("1", "a", "old")), made(call("1", "a", "new")), "[new] 0"},
		"two, by their lines":       {made(call("1", "a", "old a"), call("1", "b", "old b")), made(call("1", "b", "new b"), call("1", "a", "new a")), "[new a new b] 0"},
		"two on one line":           {made(call("1", "a", "old 1"), call("1", "a", "old 2")), made(call("1", "a", "new 1"), call("1", "a", "new 2")), "[new 1 new 2] 0"},
		"one of two, line moved":    {made(call("1", "a", "old a"), call("1", "b", "old b")), made(call("1", "a", "new a"), call("1", "c", "new c")), "[new a new c] 0"},
		"nobody can tell":           {made(call("1", "a", "old a"), call("1", "b", "old b")), made(call("1", "c", "new c"), call("1", "d", "new d")), "[ ] 0"},
		"it is asked for no more":   {made(call("1", "a", "old")), made(call("2", "a", "new")), "[] 0 gone"},
		"a certificate, and of it":  {made(pair, signed), made(signed, other), "[cert two key two] 2"},
		"found":                     {found("old"), found("new"), "[new] 0"},
		"times are no secrets":      {made(Call{Func: "now", Value: "2026", Public: true}), made(), "[] 0"},
	} {
		gone, doubtful := c.now.Since(c.then.Marks())
		var texts []string
		lost := ""
		for _, g := range gone {
			if texts = append(texts, g.Now); g.Now == "" && len(gone) == 1 {
				texts, lost = nil, " gone"
			}
		}
		if got := fmt.Sprintf("%v %d%s", texts, len(doubtful), lost); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestBegan: also a release without marks tells that nothing was made anew, where what is kept begins with what it had.
func TestBegan(t *testing.T) {
	one, two := Call{Func: Generate, Value: "one"}, Call{Func: Generate, Value: "two"}
	then := Answers{Calls: []Call{one}}.Digest()
	for name, c := range map[string]struct {
		now  []Call
		want bool
	}{
		"the same": {[]Call{one}, true}, "more": {[]Call{one, two}, true}, "rotated": {[]Call{two}, false}, "none": {nil, false},
	} {
		if got := (Answers{Calls: c.now}).Began(then); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestRecorded: what a run made up and no release has is told from what one has; where nobody can tell, nothing is new.
func TestRecorded(t *testing.T) {
	one, moved, two := Call{Func: Generate, Value: "one"}, Call{Func: Generate, Value: "one", Line: "x"}, Call{Func: Generate, Value: "two"}
	time := Call{Func: "now", Value: "2026", Public: true}
	of := func(instance string, calls ...Call) (map[string]string, map[string][]Mark) {
		a := Answers{Calls: calls}
		return map[string]string{instance: a.Digest()}, map[string][]Mark{instance: a.Marks()}
	}
	for name, c := range map[string]struct {
		instance  string
		then, now []Call
		unmarked  bool
		from      string
		want      string
	}{
		"no release":                  {"", nil, []Call{one, time}, false, "", ""},
		"another instance alone":      {"db", []Call{two}, []Call{one}, false, "", ""},
		"all of it":                   {"app", []Call{one, time}, []Call{one, time}, false, "", "one 2026"},
		"one was made since":          {"app", []Call{one}, []Call{one, two, time}, false, "", "one"},
		"and the line has changed":    {"app", []Call{one}, []Call{moved, two}, false, "", "one"},
		"a line has changed":          {"app", []Call{time, one}, []Call{time, moved}, false, "", "2026 one"},
		"it had another name":         {"old", []Call{one}, []Call{one, two}, false, "", "one"},
		"rotated since":               {"app", []Call{one}, []Call{two}, false, "", ""},
		"rotated, and nothing tells":  {"app", []Call{one}, []Call{two}, true, "", "two"},
		"it came from another bundle": {"", nil, []Call{one}, false, "other", "one"},
	} {
		made, marks := of(c.instance, c.then...)
		if c.instance == "" {
			made = nil
		}
		if c.unmarked {
			marks = nil
		}
		var got []string
		for _, call := range (Answers{Calls: c.now, From: c.from}).Recorded(made, marks, "app").Calls {
			got = append(got, call.Value)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestStays: what stays is told with its release where that is known, and not with hundreds of objects.
func TestStays(t *testing.T) {
	many := strings.Split("a b c d e f g h", " ")
	for want, f := range map[string]string{
		"what was made anew for web in release 3 (C) stays: a, b":       Stays("web", "3 (C)", many[:2]).What,
		"what was made anew for web since stays: a, b, c, d, e, f":      Stays("web", "", many[:6]).What,
		"what was made anew for web since stays: a, b, c, d, e, 3 more": Stays("web", "", many).What,
	} {
		if f != want {
			t.Errorf("%s, want %s", f, want)
		}
	}
}
