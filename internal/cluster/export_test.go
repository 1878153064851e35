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
