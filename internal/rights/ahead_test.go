package rights

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What was asked ahead is taken once, while it is fresh, and not when it failed.
func TestAhead(t *testing.T) {
	var a Ahead
	now := time.Now()
	told := func(context.Context) (Known, error) { return Known{Whole: true}, nil }
	a.Ask(t.Context(), "ns", now, told)
	a.Ask(t.Context(), "old", now.Add(-FreshFor-time.Second), told)
	a.Ask(t.Context(), "failed", now, func(context.Context) (Known, error) { return Known{}, errors.New("away") })
	for _, c := range []struct {
		namespace string
		want      bool
	}{{"ns", true}, {"ns", false}, {"old", false}, {"failed", false}, {"never", false}} {
		if k, ok := a.Take(t.Context(), c.namespace, now); ok != c.want || ok && !k.Whole {
			t.Errorf("%s: %v, %+v", c.namespace, ok, k)
		}
	}
}

// Nobody is asked any more after Wait, which ends with the context, or when the answer would be of no use.
func TestAheadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cancelled := range []bool{true, false} {
			var a Ahead
			ctx, cancel := context.WithCancel(t.Context())
			under, began := true, time.Now()
			a.Ask(ctx, "ns", began, func(ctx context.Context) (Known, error) {
				<-ctx.Done()
				under = false
				return Known{}, ctx.Err()
			})
			if cancelled {
				cancel()
			}
			a.Wait()
			cancel()
			if took := time.Since(began); under || cancelled && took > 0 || took > FreshFor {
				t.Errorf("cancelled %t: under way: %t after %s", cancelled, under, took)
			}
		}
	})
}
