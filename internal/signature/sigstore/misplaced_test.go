package sigstore

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/signature"
)

// A key or token that stands where its file or variable is named is not in the error.
func TestKeyForItsName(t *testing.T) {
	for _, how := range []signature.Sign{{Key: "-----BEGIN PRIVATE KEY-----\nMIIQQQ\n"}, {Key: "env://-----BEGIN PRIVATE KEY-----\nMIIQQQ\n"}, {TokenFile: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIQQQ.c2ln"}} {
		_, err := no(nil).Signer(t.Context(), how)
		if err == nil || strings.Contains(err.Error(), "QQQ") || !strings.Contains(err.Error(), "shown") {
			t.Errorf("%v", err)
		}
	}
}
