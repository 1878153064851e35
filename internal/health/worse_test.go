package health_test

import (
	"testing"

	"hawser.dev/hawser/internal/health"
)

func TestWorse(t *testing.T) {
	for _, c := range []struct {
		so              string
		object          health.State
		drifted, noWait bool
		want            string
	}{
		{"ready", health.Ready, false, false, "ready"},
		{"ready", "", false, false, "ready"},
		{"ready", health.Ready, true, false, "drifted"},
		{"drifted", health.Ready, false, false, "drifted"},
		{"drifted", health.Progressing, false, false, "progressing"},
		{"ready", health.Progressing, false, true, "ready"},
		{"ready", health.Progressing, true, true, "drifted"},
		{"ready", health.Failed, false, true, "failed"},
		{"failed", health.Missing, false, false, "failed"},
		{"terminating", health.Missing, false, false, "missing"},
	} {
		if got := health.Worse(c.so, c.object, c.drifted, c.noWait); got != c.want {
			t.Errorf("%s and %s (drifted %t, not waited for %t): %s, want %s", c.so, c.object, c.drifted, c.noWait, got, c.want)
		}
	}
}
