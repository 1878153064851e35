package bind

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestExplainedNamesPreview: where values are not known yet, preview is the first way out of an error, and another one does not hide it.
func TestExplainedNamesPreview(t *testing.T) {
	for _, fix := range []string{"", "correct the value; skipSchema: true in helm renders without the check"} {
		f := diag.Errorf("schema", "got string, want integer")
		f.Fix = fix
		got := Explained(diag.Findings{f}, []string{"up"})[0]
		if !strings.HasPrefix(got.Fix, "give a value that fits in the meantime: {from: {..., preview: VALUE}}") || !strings.HasSuffix(got.Fix, fix) || got.Why != "values are known only after up" {
			t.Errorf("%q: %s", fix, got)
		}
	}
}
