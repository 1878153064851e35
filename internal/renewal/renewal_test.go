package renewal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hawser.dev/hawser/internal/permit"
)

// What is sent under a lock is told at once when the lock has become too old for it, before anything in the background has
// looked at the time: as in a process that was suspended and goes on.
func TestPermitOfALock(t *testing.T) {
	const ttl = 30 * time.Second
	for name, c := range map[string]struct {
		age  time.Duration
		left time.Duration
		lost bool
	}{
		"fresh":                      {age: 0, left: ttl},
		"a moment before it is late": {age: 20*time.Second - 1, left: 10*time.Second + 1},
		"too old to send":            {age: 20 * time.Second, lost: true},
		"expired long ago":           {age: time.Hour, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := Begin(t.Context(), ttl, time.Now().Add(-c.age), func(context.Context) (bool, error) { return false, nil })
				defer r.Stop()
				under, cancel := context.WithTimeout(r.Context(), time.Hour)
				defer cancel()
				left, err := permit.Of(context.WithoutCancel(under))()
				if errors.Is(err, ErrLost) != c.lost || left != c.left {
					t.Errorf("left %s, %v", left, err)
				}
				if cause := context.Cause(under); errors.Is(cause, ErrLost) != c.lost || c.lost && !errors.Is(err, cause) {
					t.Errorf("the context ended with %v, the permit with %v", cause, err)
				}
			})
		})
	}
}

// Renewing gives more time, and whose lock is somebody else's gets none.
func TestPermitAfterRenewing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer error
		r := Begin(t.Context(), 30*time.Second, time.Now(), func(context.Context) (bool, error) { return answer == nil, answer })
		defer r.Stop()
		time.Sleep(2 * time.Minute)
		if left, err := permit.Of(r.Context())(); err != nil || left < 18*time.Second {
			t.Errorf("%s %v", left, err)
		}
		answer = ErrLost
		time.Sleep(15 * time.Second)
		if _, err := permit.Of(context.WithoutCancel(r.Context()))(); !errors.Is(err, ErrLost) {
			t.Errorf("a lock of somebody else's: %v", err)
		}
	})
}
