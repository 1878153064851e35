package charts

import (
	"strings"
	"testing"
)

// What to do names the host that asks for a user.
func TestWhoAsksForAUser(t *testing.T) {
	if got := (&statusError{code: 401, host: "127.0.0.1:5599"}).fix(); !strings.Contains(got, "--creds 127.0.0.1:5599=USER:PASSWORD") {
		t.Error(got)
	}
}
