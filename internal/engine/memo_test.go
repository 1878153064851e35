package engine

import (
	"context"
	"testing"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/release"
)

// keeping is a store that is asked for what is kept; nothing else is asked of it.
type keeping struct {
	release.Store
	release.Keeper
	kept func(ctx context.Context) (release.Kept, error)
}

func (k keeping) Kept(ctx context.Context, _ string) (release.Kept, release.RecordVersion, error) {
	kept, err := k.kept(ctx)
	return kept, "h", err
}

// TestCancelledReadIsNobodyElses: what is kept on a cluster is read again when who read it first was cancelled.
func TestCancelledReadIsNobodyElses(t *testing.T) {
	asked := 0
	store := keeping{kept: func(ctx context.Context) (release.Kept, error) {
		asked++
		return release.Kept{"app": {}}, ctx.Err()
	}}
	r, tg := &run{Engine: &Engine{}}, &target{session: &cluster.Session{}, store: store, record: &release.Record{Made: map[string]string{"app": "x"}}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.remembered(ended, tg, &set{}); err == nil {
		t.Error("a cancelled read succeeds")
	}
	for range 2 {
		if m, err := r.remembered(t.Context(), tg, &set{}); err != nil || len(m.stored) != 1 {
			t.Errorf("it answers for the next one: %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
