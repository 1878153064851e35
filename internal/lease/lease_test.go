package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hawser.dev/hawser/internal/lease"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
)

func taken(t *testing.T, ctx context.Context, s release.Store, holder string) *lease.Lease {
	t.Helper()
	l := &lease.Lease{Store: s, Owner: "shop", Holder: holder, TTL: time.Minute}
	if _, err := l.Take(ctx); err != nil {
		t.Fatal(err)
	}
	return l
}

// The end of the context in which a lock was taken takes nothing away: it is there for the next pass. What is written in a pass ends with that
// pass's context and says why, and asks the lock before each write.
func TestLeaseOutlivesItsPass(t *testing.T) {
	t.Parallel()
	s := memory.New("c")
	type key struct{}
	first, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "of the lock"))
	l := taken(t, first, s, "one")
	c, done := l.Under(first)
	if other, done := l.Under(t.Context()); other.Value(key{}) != "of the lock" { // the lock is asked before each write by its context
		t.Error("what is written knows nothing of the lock")
	} else {
		done()
	}
	why := errors.New("killed")
	cancel(why)
	<-c.Done()
	if !errors.Is(context.Cause(c), why) {
		t.Errorf("it ended for %v", context.Cause(c))
	}
	done()
	if ended, done := l.Under(first); ended.Err() == nil || !errors.Is(context.Cause(ended), why) {
		t.Error("under a context that has ended something may be written")
	} else {
		done()
	}
	if c, done := l.Under(t.Context()); c.Err() != nil {
		t.Errorf("the next pass cannot go on: %v", context.Cause(c))
	} else {
		done()
	}
	if _, err := (&lease.Lease{Store: s, Owner: "shop", Holder: "two", TTL: time.Minute}).Take(t.Context()); !errors.Is(err, release.ErrLocked) {
		t.Errorf("another one took it: %v", err)
	}
	if err := l.Give(t.Context()); err != nil {
		t.Errorf("given back: %v", err)
	}
	if err := l.Give(t.Context()); err != nil {
		t.Errorf("given back twice: %v", err)
	}
	again := taken(t, t.Context(), s, "two")
	if err := again.Give(t.Context()); err != nil {
		t.Error(err)
	}
}

// A context that has ended takes no lock, and one that ends meanwhile leaves none.
func TestLeaseOfARunThatEnds(t *testing.T) {
	t.Parallel()
	s := memory.New("c")
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("killed")
	cancel(why)
	if _, err := (&lease.Lease{Store: s, Owner: "shop", Holder: "one", TTL: time.Minute}).Take(ended); !errors.Is(err, why) {
		t.Errorf("taken: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	late := &lease.Lease{Store: slow{s, func() { cancel(why) }}, Owner: "shop", Holder: "one", TTL: time.Minute}
	if _, err := late.Take(ctx); !errors.Is(err, why) {
		t.Errorf("taken: %v", err)
	}
	if err := taken(t, t.Context(), s, "two").Give(t.Context()); err != nil {
		t.Error(err)
	}
}

// slow is a store that lets something happen after a lock was taken and before that is told.
type slow struct {
	release.Store
	do func()
}

func (s slow) Lock(ctx context.Context, owner, holder string, ttl time.Duration) (release.Lock, error) {
	l, err := s.Store.Lock(ctx, owner, holder, ttl)
	s.do()
	return l, err
}

// A lock that is lost is told to whoever waits, and ends what is written under it.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	lost := make(chan struct{})
	l := &lease.Lease{Store: memory.New("c"), Owner: "shop", Holder: "one", TTL: time.Minute, OnLost: func() { close(lost) }}
	life, cancel := context.WithCancel(t.Context())
	l.Store = cutting{l.Store, life}
	if _, err := l.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, done := l.Under(t.Context())
	defer done()
	cancel()
	<-lost
	<-c.Done()
}

// cutting is a store whose locks are lost when life ends.
type cutting struct {
	release.Store
	life context.Context
}

func (s cutting) Lock(_ context.Context, owner, holder string, ttl time.Duration) (release.Lock, error) {
	return s.Store.Lock(s.life, owner, holder, ttl)
}
