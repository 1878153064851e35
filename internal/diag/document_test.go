package diag

import "testing"

func TestWords(t *testing.T) {
	for value, want := range map[string]string{"": "", "failed": "failed", "notStarted": "not started", "newerOutOfRange": "newer out of range"} {
		if got := Words(value); got != want {
			t.Errorf("Words(%q) = %q, want %q", value, got, want)
		}
	}
}
