package rights

import (
	"errors"
	"testing"
	"time"
)

// What was asked ahead is taken once, while it is fresh, and not when it failed.
func TestAhead(t *testing.T) {
	var a Ahead
	now := time.Now()
	told := func() (Known, error) { return Known{Whole: true}, nil }
	a.Ask("ns", now, told)
	a.Ask("old", now.Add(-FreshFor-time.Second), told)
	a.Ask("failed", now, func() (Known, error) { return Known{}, errors.New("away") })
	for _, c := range []struct {
		namespace string
		want      bool
	}{{"ns", true}, {"ns", false}, {"old", false}, {"failed", false}, {"never", false}} {
		if k, ok := a.Take(t.Context(), c.namespace, now); ok != c.want || ok && !k.Whole {
			t.Errorf("%s: %v, %+v", c.namespace, ok, k)
		}
	}
}
