package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestSettle: looking again begins at once, is slow enough in all for a controller that writes several times, and ends with
// the context.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, first := time.Now(), time.Duration(0)
		for n := 1; n <= maxLooks; n++ {
			if err := settle(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			if n == 1 {
				first = time.Since(start)
			}
		}
		if all := time.Since(start); first > all/4 || all < time.Second {
			t.Errorf("the first look waits %s, all of them %s", first, all)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if err := settle(ctx, maxLooks); !errors.Is(err, over) {
		t.Error(err)
	}
}
