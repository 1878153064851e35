package linediff

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHunks: applying a diff's lines to the old text gives the new one, and context is bounded.
func TestHunks(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d", ""})
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(line, 0, 30).Draw(t, "old")
		new := rapid.SliceOfN(line, 0, 30).Draw(t, "new")
		var got []string
		at := 0
		for _, h := range Hunks(old, new, 3) {
			from := h.OldAt - 1
			got = append(got, old[at:from]...)
			at = from
			if len(got) != h.NewAt-1 {
				t.Fatalf("hunk %s begins at line %d of the new text", h.Head(), len(got)+1)
			}
			o, n := 0, 0
			for _, l := range h.Lines {
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
			if o != h.OldLen || n != h.NewLen {
				t.Fatalf("%s has %d and %d lines", h.Head(), o, n)
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
	if h := Hunks(a, b, 3); len(h) != 1 || len(h[0].Lines) != 40000 {
		t.Errorf("%d hunks", len(h))
	}
}
