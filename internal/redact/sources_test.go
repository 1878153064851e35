package redact

import (
	"slices"
	"testing"
)

// TestSources: what stands in a text is told by where it comes from, to the instance that takes it.
func TestSources(t *testing.T) {
	r := New()
	for _, s := range [][3]string{{"web", "wiki", "ref://USER"}, {"web", "wiki", "ref://USER"}, {"web", "wiki", "ref://NAME"}, {"web", "", "ref://NONE"}, {"web", "1", "ref://REPLICAS"}, {"db", "wiki", "ref://OTHER"}} {
		r.Called(s[0], s[1], s[2])
	}
	if got := r.Sources("web", "registry/wiki:1"); !slices.Equal(got, []string{"ref://NAME", "ref://USER"}) {
		t.Error(got)
	}
	var none *Redactor
	none.Called("a", "b", "c")
	if got := append(none.Sources("a", "b"), r.Sources("web", "other")...); len(got) != 0 {
		t.Error(got)
	}
}
