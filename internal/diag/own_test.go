package diag

import (
	"strings"
	"testing"
)

// TestMaskedKeepsOurSentence: a secret that is called like a sentence of ours hides what was put into it, and no word of ours.
func TestMaskedKeepsOurSentence(t *testing.T) {
	hide := func(secret string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	}
	changed := Errorf("x", "an immutable field changed: the object has to be deleted")
	other := changed
	other.What = "hunter says: an immutable field changed"
	more := Errorf("x", "it is stale")
	more.What += " by hunter"
	for _, c := range []struct {
		f            Finding
		secret, want string
	}{
		{changed, "an immutable field changed", changed.What},
		{changed, changed.What, changed.What},
		{Errorf("x", "%d of %s are not ready", 2, "hunter"), "not ready", "2 of hunter are not ready"},
		{Errorf("x", "%d of %s are not ready", 2, "hunter"), "hunter", "2 of *** are not ready"},
		{Errorf("x", "value %q is wrong: %s", "hunter", "not hunter"), "hunter", `value "***" is wrong: not ***`},
		{Errorf("x", "value %q is wrong: %s", "wrong: hunter", "x"), "wrong: hunter", `value "***" is wrong: x`},
		{Errorf("x", "%s is not %s", "a is not b", "c"), "is not b", "a *** is not c"}, // which "is not" is ours is not certain
		{Warnf("x", "%s", "an immutable field changed"), "an immutable field changed", "***"},
		{Finding{What: "not ready"}, "not ready", "***"},
		{other, "an immutable field changed", "hunter says: ***"},
		{more, "hunter", "it is stale by ***"},
	} {
		if got := c.f.Masked(hide(c.secret)); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.secret, c.f.What, got, c.want)
		}
	}
}

// TestEqual: findings that say the same are equal, also where one of them was read.
func TestEqual(t *testing.T) {
	made := Errorf("x", "%d of %d", 1, 2)
	if read := (Finding{Severity: Error, Code: "x", What: "1 of 2"}); !made.Equal(read) || made.Equal(Warnf("x", "%d of %d", 1, 2)) {
		t.Errorf("%+v and %+v", made, read)
	}
}
