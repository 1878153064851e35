package fleetplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/source"
)

// TestOutdatedHidesURLs: an address that is signed is told without its signature.
func TestOutdatedHidesURLs(t *testing.T) {
	var d source.Declared
	d.Name = "https://bucket.example/x.tgz?X-Amz-Date=1&X-Amz-Signature=canary"
	got := Outdated(d, source.Row{}, redact.New().Redact).Source
	if strings.Contains(got, "canary") || !strings.Contains(got, "X-Amz-Date=1&X-Amz-Signature=***") {
		t.Error(got)
	}
}
