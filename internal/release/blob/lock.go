package blob

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"hawser.dev/hawser/internal/localprocess"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/renewal"
)

// The lock of a bundle is a journal, of which the last entry says who holds it, or that nobody does. Whether a lock has
// expired is judged by the bucket's clock alone, which wrote the entry's time.

const (
	// slack covers the clock's resolution on both sides.
	slack = 2 * time.Second
	// tries bounds how often a lock is fought for with others that want it at this moment.
	tries = 3
)

// lease is the body of an entry.
type lease struct {
	Holder string `json:"holder"`
	// ID is one taking of the lock; Since when it was, by the bucket's clock.
	ID      string          `json:"id"`
	Since   time.Time       `json:"since"`
	TTL     time.Duration   `json:"ttl"` // in nanoseconds
	Process localprocess.ID `json:"process,omitzero"`
	// Released: it was given back.
	Released bool `json:"released,omitempty"`
}

// lock is one that is held.
type lock struct {
	*renewal.Renewal
	journal   journal
	lease     lease
	recovered *release.Held
	once      sync.Once
	err       error
	tip       tip // only touched by Lock, then by renew, then by Unlock
}

var _ release.Lock = (*lock)(nil)

// Lock takes the lock, or returns an error with a *release.LockedError that names the holder.
func (s *store) Lock(ctx context.Context, owner, holder string, ttl time.Duration) (release.Lock, error) {
	j, err := s.journal(owner, locks)
	if err != nil {
		return nil, err
	}
	l := &lock{journal: j, lease: lease{ID: rand.Text(), TTL: ttl, Process: localprocess.Self()}}
	l.lease.Holder = fmt.Sprintf("%s pid %d (%s)", holder, os.Getpid(), l.lease.ID[:10])
	for range tries {
		held, t, now, err := j.holder(ctx)
		if err != nil {
			return nil, err
		}
		if held != nil && !held.gone {
			return nil, s.wrap("lock", j.prefix, &release.LockedError{Held: held.Held})
		}
		if held != nil {
			l.recovered = &held.Held
		}
		if now.IsZero() {
			if now, err = j.bucket.Now(ctx); err != nil {
				return nil, j.wrap("read the time for", j.prefix, err)
			}
		}
		l.lease.Since = now
		began := time.Now()
		if l.tip, err = j.append(ctx, t, l.lease); err == nil {
			l.Renewal = renewal.Begin(ctx, ttl, began, l.renew)
			return l, nil
		}
		if !errors.Is(err, release.ErrConflict) {
			return nil, err
		}
	}
	return nil, s.wrap("lock", j.prefix, release.ErrLocked)
}

// holding is who holds a lock, in local time; gone, that it has expired or that the process runs no more.
type holding struct {
	release.Held
	gone bool
}

// holder reads the last entry: nil when nobody holds the lock. now is the bucket's time, which is asked, and with that something
// written, only where somebody does.
func (j journal) holder(ctx context.Context) (held *holding, t tip, now time.Time, err error) {
	if t, err = j.last(ctx); err != nil {
		return nil, t, now, err
	}
	e, err := j.leaseOf(t)
	if err != nil || e.Holder == "" || e.Released {
		return nil, t, now, err
	}
	if now, err = j.bucket.Now(ctx); err != nil {
		return nil, t, now, j.wrap("read the time for", j.prefix, err)
	}
	local, expires := time.Now(), t.modified.Add(e.TTL+slack)
	held = &holding{gone: now.After(expires) || e.Process.Gone()}
	held.Held = release.Held{Holder: e.Holder, Since: local.Add(e.Since.Sub(now)), Expires: local.Add(expires.Sub(now))}
	return held, t, now, nil
}

func (j journal) leaseOf(t tip) (lease, error) {
	var e lease
	if t.number == 0 {
		return e, nil
	}
	if err := json.Unmarshal(t.Body, &e); err != nil {
		return e, j.wrap("read", j.key(t.number), err)
	}
	return e, nil
}

// append adds a lease.
func (j journal) append(ctx context.Context, after tip, e lease) (tip, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return tip{}, err
	}
	return j.add(ctx, after, body)
}

// Holder says who holds a bundle's lock.
func (s *store) Holder(ctx context.Context, owner string) (*release.Held, error) {
	j, err := s.journal(owner, locks)
	if err != nil {
		return nil, err
	}
	held, _, _, err := j.holder(ctx)
	if err != nil || held == nil || held.gone {
		return nil, err
	}
	return &held.Held, nil
}

// ForceUnlock writes that nobody holds the lock of a holder that was seen.
func (s *store) ForceUnlock(ctx context.Context, owner string, seen release.Held) error {
	j, err := s.journal(owner, locks)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		t, err := j.last(ctx)
		if err != nil {
			return err
		}
		e, err := j.leaseOf(t)
		if err != nil || e.Holder == "" || e.Released {
			return err
		}
		if e.Holder != seen.Holder {
			return s.wrap("unlock", j.prefix, fmt.Errorf("%w: it is held by %s now", release.ErrConflict, e.Holder))
		}
		e.ID, e.Released = rand.Text(), true // its holder finds another one's
		if _, err = j.append(ctx, t, e); !errors.Is(err, release.ErrConflict) || try == tries {
			return err
		}
	}
}

// renew writes the next entry. When another one is there it is that of an earlier try, of which the answer got lost, or
// somebody else's.
func (l *lock) renew(ctx context.Context) (bool, error) {
	next, err := l.journal.append(ctx, l.tip, l.lease)
	if err == nil {
		l.tip = next
		return true, nil
	}
	if !errors.Is(err, release.ErrConflict) {
		return false, nil
	}
	return false, l.catchUp(ctx)
}

// catchUp takes the last entry for ours where it is; the error says that the lock is somebody else's.
func (l *lock) catchUp(ctx context.Context) error {
	t, err := l.journal.last(ctx)
	if err != nil {
		return nil
	}
	e, err := l.journal.leaseOf(t)
	if err != nil {
		return nil
	}
	if e.ID != l.lease.ID {
		return fmt.Errorf("%w to %s", release.ErrLost, e.Holder)
	}
	l.tip = t
	return nil
}

// Recovered is the former holder that was gone, if there was one.
func (l *lock) Recovered() *release.Held { return l.recovered }

// Unlock stops renewing and writes that nobody holds the lock, if it is still ours.
func (l *lock) Unlock(ctx context.Context) error {
	l.once.Do(func() {
		l.Stop()
		l.err = l.giveBack(ctx)
		l.End()
	})
	return l.err
}

func (l *lock) giveBack(ctx context.Context) error {
	free := l.lease
	free.Released = true
	for range tries {
		_, err := l.journal.append(ctx, l.tip, free)
		if !errors.Is(err, release.ErrConflict) {
			return err
		}
		if err := l.catchUp(ctx); err != nil {
			return l.journal.wrap("unlock", l.journal.prefix, err)
		}
		if e, err := l.journal.leaseOf(l.tip); err == nil && e.Released {
			return nil
		}
	}
	return l.journal.wrap("unlock", l.journal.prefix, release.ErrLost)
}
