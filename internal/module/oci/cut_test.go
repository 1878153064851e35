package oci

import (
	"errors"
	"strings"
	"testing"
)

// TestErrorsAreMaskedBeforeTheyAreCut: a secret that stands where a long answer of a registry is cut is hidden all of it.
func TestErrorsAreMaskedBeforeTheyAreCut(t *testing.T) {
	const secret = "c4nary-of-a-password"
	c := &Client{o: Options{Redact: func(s string) string { return strings.ReplaceAll(s, secret, "***") }}}
	for pad := 250; pad < 330; pad++ {
		for _, err := range []error{&statusError{code: 418, text: strings.Repeat("x", pad) + secret}, errors.New(strings.Repeat("x", pad) + secret)} {
			if text := c.explain(place{scheme: "oci://"}, err).Error(); strings.Contains(text, "c4n") {
				t.Fatalf("cut at %d: %s", pad, text)
			}
		}
	}
}
