package oci

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// TestVersionsOfArtifacts: what an artifact says of itself is its version only when it could stand in a line of hawser.lock.
func TestVersionsOfArtifacts(t *testing.T) {
	for said, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3+meta.1": "1.2.3+meta.1", "latest": "latest", "": "0.0.1",
		"1.0.0\n::error::x": "0.0.1", "\u202e1.0.0": "0.0.1", "1.0.0 and more": "0.0.1", strings.Repeat("1", 129): "0.0.1"} {
		m := manifest{Annotations: map[string]string{module.VersionAnnotation: said}}
		if got, err := contentOf(place{}, module.Resolved{Version: "0.0.1"}, m, cache.Tree{}); err != nil || got.Version != want {
			t.Errorf("%q: version %q (%v), want %q", said, got.Version, err, want)
		}
	}
}

// TestQuoteCutsNothing: a part of a text is never shown: the redactor, which comes later, would not know a part of a secret.
func TestQuoteCutsNothing(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for _, pad := range []int{0, 150, 190, 199, 250} {
		text := strings.Repeat("x", pad) + secret
		if got := quote(text); !strings.Contains(got, secret) && strings.Contains(got, "x") {
			t.Errorf("%d: %s", pad, got)
		}
	}
	if got := quote(strings.Repeat("x", 300)); got != "(300 bytes)" {
		t.Error(got)
	}
}
