package driver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hawser.dev/hawser/internal/driver"
	"hawser.dev/hawser/internal/rollout"
)

// script is a rollout that waits for one thing after another, until somebody stops it.
type script struct {
	waits  []*rollout.Wait
	passes int
	why    string
	// changed is told when something has happened that is waited for.
	changed chan struct{}
}

func (s *script) Pass(context.Context) *rollout.Wait {
	s.passes++
	if s.why != "" || s.passes > len(s.waits) {
		return nil
	}
	return s.waits[s.passes-1]
}

func (s *script) Stop(why string)          { s.why = why }
func (s *script) Changed() <-chan struct{} { return s.changed }

// A command waits out soaks, and ends at what may take days; Ctrl-C in a soak stops the rollout, and what ends the command ends
// it at once.
func TestDrive(t *testing.T) {
	t.Parallel()
	now := time.Now
	soon := &rollout.Wait{On: rollout.ForSoak, Wake: now().Add(20 * time.Millisecond)}
	long := &rollout.Wait{On: rollout.ForSoak, Wake: now().Add(time.Hour)}
	object := &rollout.Wait{On: rollout.ForObjects, Wake: now().Add(time.Hour)}
	told := make(chan struct{}, 3)
	told <- struct{}{}
	closed := make(chan struct{})
	close(closed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		stop   chan struct{}
		waits  []*rollout.Wait
		passes int
		why    string
		told   chan struct{}
	}{
		"nothing to wait for": {passes: 1},
		"soaks":               {waits: []*rollout.Wait{soon, soon}, passes: 3},
		"a window":            {waits: []*rollout.Wait{soon, {On: rollout.ForWindow, Why: "closed"}, long}, passes: 3, why: "closed"},
		"an approval":         {waits: []*rollout.Wait{{On: rollout.ForApproval, Why: "nobody"}, long}, passes: 2, why: "nobody"},
		"objects":             {waits: []*rollout.Wait{{On: rollout.ForObjects, Wake: soon.Wake}, soon}, passes: 3},
		"a change":            {waits: []*rollout.Wait{object}, told: told, passes: 2},
		"Ctrl-C, objects":     {stop: closed, waits: []*rollout.Wait{object, object}, passes: 2, why: "interrupted"},
		"killed, objects":     {ctx: ended, waits: []*rollout.Wait{object}, passes: 2},
		"Ctrl-C in a soak":    {stop: closed, waits: []*rollout.Wait{long, long}, passes: 2, why: "interrupted"},
		"killed in a soak":    {ctx: ended, waits: []*rollout.Wait{long, long}, passes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			s := &script{waits: c.waits, changed: c.told}
			before := now()
			driver.Drive(ctx, s, now, c.stop)
			if s.passes != c.passes || s.why != c.why {
				t.Errorf("%d passes, stopped %q", s.passes, s.why)
			}
			if slices.Contains(c.waits, soon) && now().Before(soon.Wake) || now().Sub(before) > 30*time.Minute {
				t.Errorf("it waited for %s", now().Sub(before))
			}
		})
	}
}
