package child_test

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/ceiling"
	"hawser.dev/hawser/internal/child"
)

// TestCeilingIsNotInherited: what bounds an evaluation bounds no program that is started meanwhile, and still holds afterwards.
func TestCeilingIsNotInherited(t *testing.T) {
	limit := func() string {
		var out strings.Builder
		c := child.New(t.Context(), "sh", "-c", "ulimit -d")
		c.Stdout = &out
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	was := limit()
	lift := ceiling.Hold(1 << 30)
	during := limit()
	lift()
	if during != was || limit() != was {
		t.Errorf("a program may have %q, in an evaluation %q", was, during)
	}
}
