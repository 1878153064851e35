package secret

import (
	"strings"
	"testing"
)

// TestWrongReferenceIsNamedWhole: what is wrong with a reference is told with the reference as it stands there, its store included, and without
// what follows the question mark.
func TestWrongReferenceIsNamedWhole(t *testing.T) {
	for _, text := range []string{"ref://files:../x", "ref://files:a//b", "ref://files:", "ref://files:a/b?version=1&x=s3cret", "ref://files:a/b?%zz=s3cret", "ref://:a/b", "ref://files:a/%2e%2e/b"} {
		_, err := ParseRef(text)
		want, _, _ := strings.Cut(text, "?")
		if err == nil || !strings.HasPrefix(err.Error(), want+": ") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
