package oci

import (
	"strings"
	"testing"
)

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
