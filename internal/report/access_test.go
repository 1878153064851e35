package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// Commands in what is printed have the flags of the run, in headlines, fixes and lines of their own.
func TestCommandsReachTheFleet(t *testing.T) {
	f := diag.Errorf("paused", "release 3 was paused")
	f.Why, f.Fix = "see hawser history shop", "hawser resume shop, then run it again"
	st := wideStyle
	st.Access = "--fleet fleet.yaml"
	got := strings.Join(strings.Fields(text(t, func(b *bytes.Buffer) error { return Findings(b, diag.Findings{f}, st) })), " ")
	for _, want := range []string{"see hawser history shop --fleet fleet.yaml", "Fix: hawser resume shop --fleet fleet.yaml, then run it again"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	var b bytes.Buffer
	o := newOut(&b, st)
	o.wrapped(2, "since then: hawser approve shop", "")
	if err := o.Flush(); err != nil || !strings.Contains(b.String(), "hawser approve shop --fleet fleet.yaml") {
		t.Error(err, b.String())
	}
}
