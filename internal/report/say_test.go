package report

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/release"
)

// TestApprovalSaysWhatItDoesNotCover: who approves is told that values behind references and queries are read again; who aborts is not.
func TestApprovalSaysWhatItDoesNotCover(t *testing.T) {
	for verb, want := range map[string]bool{release.Approve: true, release.Abort: false, release.Pause: false} {
		var b strings.Builder
		if err := Asked(&b, &release.Saying{Verb: verb, Bundle: "shop", Release: 3}, Style{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(strings.Fields(b.String()), " "), "Values behind references and queries, if it has any, are read again when it goes on"); got != want {
			t.Errorf("%s: %q", verb, b.String())
		}
	}
}
