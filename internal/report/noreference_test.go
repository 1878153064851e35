package report

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestNoReferenceQuotesNothing: what stands around a text that is meant as a reference may be a password, and its line is not quoted.
func TestNoReferenceQuotesNothing(t *testing.T) {
	st := Style{ReadFile: func(string) ([]byte, error) { return []byte("bundle:\n  db: a:C4NARY ref://X\n"), nil }}
	for code, quoted := range map[string]bool{diag.CodeNoReference: false, "other": true} {
		f := diag.Warnf(code, "it")
		f.Pos = diag.Pos{File: "b.yaml", Line: 2, Column: 3}
		var b strings.Builder
		if err := Findings(&b, diag.Findings{f}, st); err != nil || strings.Contains(b.String(), "C4NARY") != quoted {
			t.Errorf("%s: %v\n%s", code, err, b.String())
		}
	}
}
