package fleet

import (
	"strings"
	"testing"
)

// A runtime value that is a secret by another name is masked in what changed; names and our own words never are.
func TestRuntimeChangesAreRedacted(t *testing.T) {
	mask := func(s string) string {
		return strings.NewReplacer("hunter2", "***", "env", "***", "REGION", "***").Replace(s)
	}
	for _, c := range []struct{ was, now, want string }{
		{"eu (env)", "hunter2 (env)", "REGION eu -> *** (env)"},
		{"hunter2 (env)", "us (default)", "REGION *** (env) -> us (default)"},
		{"hunter2", "a (b) (env)", "REGION *** -> a (b) (env)"},
	} {
		if got := Moved("REGION", c.was, c.now, mask); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.was, c.now, got, c.want)
		}
	}
}
