package fleet

import (
	"strings"
	"testing"
)

// A label selector that is none says how one is written; KEY:VALUE is told what was meant.
func TestSelectorThatIsNone(t *testing.T) {
	for text, want := range map[string]string{"region:eu": "write region=eu", "region in eu": "KEY=VALUE"} {
		_, fs := Select(nil, Selection{Labels: text})
		if len(fs) != 1 || !strings.Contains(fs[0].Fix, want) || strings.Contains(fs[0].What, "<nil>") && text == "region:eu" {
			t.Errorf("%s: %+v", text, fs)
		}
	}
}
