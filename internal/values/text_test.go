package values

import (
	"strings"
	"sync/atomic"
	"testing"
)

// Texts are what they are or what they refer to, and are hidden from then on; what only a cluster has is said.
func TestText(t *testing.T) {
	r, redactor := reader(new(atomic.Int32))
	for text, want := range map[string]string{"ref://db/password": "hunter2", "plain-hunter3": "plain-hunter3"} {
		if got, err := r.Text(t.Context(), text); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if redactor.Redact("x "+want+" y") != "x *** y" {
			t.Errorf("%s: the redactor does not know the value", text)
		}
	}
	for text, want := range map[string]string{"ref://none/x": "ref://none/x", "ref://vault:a/b": "before any is reached", "ref://:x": "the name of the store is empty"} {
		if got, err := r.Text(t.Context(), text); got != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
