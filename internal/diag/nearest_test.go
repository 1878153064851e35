package diag

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"replicas", "namespace", "values", "valuesFor", "url"}
	for _, c := range []struct{ name, want, reason string }{
		{"replcas", "replicas", "one letter missing"},
		{"namepsace", "namespace", "neighbours swapped"},
		{"valuesfor", "valuesFor", "letter case is not an edit"},
		{"ulr", "url", "short names allow one edit"},
		{"zzz", "", "nothing close"},
		{"", "", "no name"},
		{"urls", "url", "one letter too many"},
	} {
		if got := Nearest(c.name, known); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q: %s", c.name, got, c.want, c.reason)
		}
	}
}
