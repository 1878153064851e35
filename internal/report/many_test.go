package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestManyFindings: of thousands of messages the first are told and how many more there are, errors before warnings; so
// are the objects of one message.
func TestManyFindings(t *testing.T) {
	var fs diag.Findings
	for i := range 20_000 {
		f := diag.Warnf("w", "careful")
		if i%100 == 0 {
			f = diag.Errorf("e", "missing")
		}
		f.Pos = diag.Pos{File: "a.yaml", Line: i + 1}
		fs = append(fs, f)
	}
	var b bytes.Buffer
	Findings(&b, fs, Style{})
	if text := b.String(); strings.Count(text, "Error: ") != 100 || !strings.HasSuffix(text, "\nand 19900 more; -o json has more of them\n") {
		t.Errorf("%d bytes:\n%s", len(text), text[max(0, len(text)-200):])
	}
	fs = nil
	for i := range 5000 {
		f := diag.Errorf("e", "missing")
		f.Object = fmt.Sprintf("ConfigMap x/%d", i)
		fs = append(fs, f)
	}
	b.Reset()
	Findings(&b, fs, Style{})
	if text := b.String(); strings.Count(text, "ConfigMap") != 100 || !strings.Contains(text, "(5000 objects)") || !strings.Contains(text, "and 4900 more") {
		t.Errorf("%d bytes:\n%s", len(text), text[max(0, len(text)-200):])
	}
}
