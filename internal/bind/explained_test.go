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
		got := Explained(diag.Findings{f}, []From{{Instance: "up"}})[0]
		if !strings.HasPrefix(got.Fix, "give a value that fits in the meantime: {from: {..., preview: VALUE}}") || !strings.HasSuffix(got.Fix, fix) || got.Why != "values are known only after up" {
			t.Errorf("%q: %s", fix, got)
		}
	}
}

// TestExplainedOfABundle: what another bundle writes has no preview; who has applied that bundle before knows the values. Beside a value of an
// instance both are named.
func TestExplainedOfABundle(t *testing.T) {
	const apply, preview = "apply that one first, by itself (--bundle platform): the values are known then", "give a value that fits in the meantime: {from: {..., preview: VALUE}}"
	for _, c := range []struct {
		open     []From
		why, fix string
	}{
		{nil, "", ""},
		{[]From{{Bundle: "platform"}, {Bundle: "platform"}}, "values are known only after bundle platform", apply},
		{[]From{{Bundle: "platform"}, {Bundle: "base"}}, "values are known only after bundle platform, bundle base", "apply those first, by themselves (--bundle platform, --bundle base): the values are known then"},
		{[]From{{Instance: "up"}, {Bundle: "platform"}}, "values are known only after up, bundle platform", preview + "; of bundles: " + apply},
	} {
		if got := Explained(diag.Findings{diag.Errorf("schema", "got string, want integer")}, c.open)[0]; got.Why != c.why || got.Fix != c.fix {
			t.Errorf("%q: %q", got.Why, got.Fix)
		}
	}
}
