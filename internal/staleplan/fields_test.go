package staleplan

import "testing"

// Values are quoted with the characters that they have.
func TestDifferHasCharactersAsTheyAre(t *testing.T) {
	got := Differ(map[string]any{"a": []any{"x & <y>"}}, map[string]any{"a": "b & <c>"})
	if want := `a is ["x & <y>"] in the file, and "b & <c>" now`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
