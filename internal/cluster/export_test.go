package cluster

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/plan"
)

// ListInto is what a look into a namespace makes of one kind that discovery had, where these definitions were seen.
func (s *Session) ListInto(ctx context.Context, k kubeapi.KindInfo, ns string, defined ...string) plan.Contents {
	l := &looker{s: s, ctx: ctx, uids: map[string]bool{}, defined: map[string]bool{}}
	for _, name := range defined {
		l.defined[name] = true
	}
	l.list(k, ns)
	return l.Contents
}

// ShortenSilence lets a watch be silent for d only, until restore.
func ShortenSilence(d time.Duration) (restore func()) {
	old := kubeapi.SilentFor
	kubeapi.SilentFor = d
	return func() { kubeapi.SilentFor = old }
}

// Execute carries a plan out pass by pass, waiting between them.
func (s *Session) Execute(ctx context.Context, req ExecuteRequest) ExecuteResult {
	woken := make(chan struct{}, 1)
	req.OnWake = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	x := s.Begin(req)
	defer x.Close()
	for stop := req.Stop; ; {
		r, waits := x.Pass(ctx)
		if len(waits) == 0 {
			return r
		}
		select {
		case <-woken:
		case <-ctx.Done():
		case <-stop:
			stop = nil
		}
	}
}
