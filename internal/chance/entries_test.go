package chance

import (
	"fmt"
	"testing"
)

// TestEntries: what is taken from which Secrets.
func TestEntries(t *testing.T) {
	kept := Entries{"ns/a": {"p": "1", "q": "2"}, "ns/b": {"p": "3"}}
	keys := Entries{"ns/a": {"p": "", "r": ""}, "ns/c": {"p": ""}}
	rendered := Entries{"ns/a": {"p": "9", "q": "8", "s": "7"}, "ns/d": {"p": "6"}}
	for want, got := range map[string]Entries{
		"map[ns/a:map[p:1]]": kept.Within(keys),
		"map[ns/a:map[p:9 q:8 s:7] ns/b:map[p:3] ns/d:map[p:6]]": kept.Over(rendered),
		"map[ns/a:map[p:1 q:8 s:7] ns/b:map[p:3]]":               kept.Beside(rendered, keys),
		"map[ns/a:map[q:2] ns/b:map[p:3]]":                       kept.Without(keys),
		"map[ns/a:map[q:2]]":                                     kept.Equal(Entries{"ns/a": {"p": "2", "q": "2"}}),
		"map[ns/a:map[r:]]":                                      kept.Lacking(keys),
		"map[]":                                                  Entries(nil).Beside(rendered, keys),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if fmt.Sprint(kept) != "map[ns/a:map[p:1 q:2] ns/b:map[p:3]]" {
		t.Errorf("what was given was changed: %v", kept)
	}
}

// TestHold: an answer that stands in what look-ups find goes to no other call, and stays among the answers.
func TestHold(t *testing.T) {
	call := func(value string) Call { return Call{Template: "t", Func: "randAlphaNum", Value: value} }
	b := NewBook(Answers{Calls: []Call{call("root"), call("spare"), call("unused")}}, func(Call) bool { return true })
	b.Hold(Entries{"ns/a": {"p": "cm9vdA=="}})
	if got, ok := b.Find(call("")); !ok || got != "spare" {
		t.Errorf("found %q", got)
	}
	b.Add(call("new"))
	if got := b.Answers().Calls; len(got) != 4 {
		t.Errorf("answers %v", got)
	}
}
