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

// TestHiddenBytesAreNotQuoted: what a bytes literal holds is hidden in a finding, and its line is not quoted below it.
func TestHiddenBytesAreNotQuoted(t *testing.T) {
	st := Style{ReadFile: func(string) ([]byte, error) { return []byte("bundle: {\n\tnamespace: 'C4NARY' & 'C5NARY'\n"), nil }}
	for what, quoted := range map[string]bool{"conflicting values '***' and '***'": false, "must be a string, is bytes": false, "conflicting values 1 and 2": true, "*** is no name": true} {
		f := diag.Errorf("cue", "%s", what)
		f.Pos = diag.Pos{File: "b.cue", Line: 2, Column: 3}
		var b strings.Builder
		if err := Findings(&b, diag.Findings{f}, st); err != nil || strings.Contains(b.String(), "C4NARY") != quoted {
			t.Errorf("%s: %v\n%s", what, err, b.String())
		}
	}
}
