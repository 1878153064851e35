package report

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/release"
)

// TestAskedShowsHow: whoever is asked for an approval gets the command that shows what it is about, and no empty line where the release has no message.
func TestAskedShowsHow(t *testing.T) {
	for message, lines := range map[string]int{"": 5, "why": 6} {
		var b strings.Builder
		about := &release.Saying{Verb: release.Approve, Bundle: "shop", Release: 3, Author: "ann", Message: message, Wave: "wave 2", Clusters: []release.SaidOn{{Cluster: "a"}}}
		if err := Asked(&b, about, Style{}); err != nil || !strings.Contains(b.String(), "hawser history show 3 --bundle shop\n") || strings.Count(b.String(), "\n") != lines || strings.Contains(b.String(), "\n\n") {
			t.Errorf("%q: %v\n%s", message, err, b.String())
		}
	}
}
