// Package memory keeps release records in memory: for tests, and for plans made from a snapshot without any cluster.
//
// It keeps the encoded forms that other stores keep, so that what comes back shares nothing with what was handed in.
// The package must not know what is in a record.
package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Store is a release.Store of one cluster. All users of one share its content, as writers share a cluster.
type Store struct {
	cluster string

	mu      sync.Mutex
	writes  int
	bundles map[string]*bundle
	locks   map[string]*lock
	kept    map[string]kept
	holds   map[string]kept
}

var (
	_ release.Store   = (*Store)(nil)
	_ release.History = (*Store)(nil)
)

// bundle is what is kept of one: the encoded record, and the revisions with a Set, newest first.
type bundle struct {
	handle release.RecordVersion
	record []byte
	kept   []revision
}

type revision struct {
	number int
	phase  release.Phase
	set    string
	data   []byte
}

// New returns an empty store. The name of the cluster is for error messages.
func New(cluster string) *Store {
	return &Store{cluster: cluster, bundles: map[string]*bundle{}, locks: map[string]*lock{}, kept: map[string]kept{}, holds: map[string]kept{}}
}

func (s *Store) wrap(owner string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cluster %s: the record of owner %s: %w", s.cluster, owner, err)
}

// Current returns the record and its handle.
func (s *Store) Current(_ context.Context, owner string) (*release.Record, release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bundles[owner]
	if b == nil {
		return nil, "", nil
	}
	r, err := release.DecodeRecord(b.record)
	if err != nil {
		return nil, "", s.wrap(owner, err)
	}
	return r, b.handle, nil
}

// Bundles gives all current records to each; those that cannot be read are in the error.
func (s *Store) Bundles(ctx context.Context, each func(release.Record) error) error {
	s.mu.Lock()
	var owners []string
	for owner := range s.bundles {
		owners = append(owners, owner)
	}
	s.mu.Unlock()
	var failed []error
	for _, owner := range owners {
		r, _, err := s.Current(ctx, owner)
		if err == nil && r != nil {
			err = each(*r)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Put replaces the record that the handle names.
func (s *Store) Put(_ context.Context, r release.Record, objects []object.Object, h release.RecordVersion) (release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bundles[r.Owner]
	if b == nil && h != "" || b != nil && b.handle != h {
		return "", s.wrap(r.Owner, release.ErrConflict)
	}
	next := &bundle{}
	if b != nil {
		next.kept = b.kept
	}
	if objects != nil {
		r.SetDigest = release.SetDigest(objects)
		data, err := release.EncodeRevision(r, objects)
		if err != nil {
			return "", s.wrap(r.Owner, err)
		}
		next.keep(revision{number: r.Revision, phase: r.Phase, set: r.SetDigest, data: data}, r.Keep)
	} else if i := slices.IndexFunc(next.kept, func(k revision) bool { return k.number == r.Revision }); i >= 0 {
		next.kept = slices.Clone(next.kept)
		next.kept[i].phase = r.Phase
	}
	data, err := release.EncodeRecord(r)
	if err != nil {
		return "", s.wrap(r.Owner, err)
	}
	s.writes++
	next.record, next.handle = data, release.RecordVersion(fmt.Sprint(s.writes))
	s.bundles[r.Owner] = next
	return next.handle, nil
}

// keep adds a revision and forgets those beyond the retention.
func (b *bundle) keep(r revision, number int) {
	b.kept, _ = release.Retain(b.kept, r, number, func(r revision) (int, release.Phase) { return r.number, r.phase })
}

// Objects returns the Set of a revision.
func (s *Store) Objects(_ context.Context, r release.Record) ([]object.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bundles[r.Owner]
	if b == nil || r.SetDigest == "" {
		return nil, nil
	}
	for _, k := range b.kept {
		if k.number == r.Revision && k.set == r.SetDigest {
			_, objects, err := release.DecodeRevision(k.data, k.set)
			return objects, s.wrap(r.Owner, err)
		}
	}
	return nil, nil
}

// Revisions gives the records of the kept revisions to each.
func (s *Store) Revisions(_ context.Context, owner string, each func(release.Record) error) error {
	s.mu.Lock()
	var kept []revision
	if b := s.bundles[owner]; b != nil {
		kept = slices.Clone(b.kept)
	}
	s.mu.Unlock()
	for _, k := range kept {
		r, err := release.DecodeRevisionRecord(k.data, owner, k.number, k.phase)
		if err == nil && !r.Phase.Open() {
			err = each(*r)
		}
		if err != nil {
			return s.wrap(owner, err)
		}
	}
	return nil
}

// Delete forgets a bundle.
func (s *Store) Delete(_ context.Context, owner string, h release.RecordVersion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bundles[owner]
	if b != nil && b.handle != h {
		return s.wrap(owner, release.ErrConflict)
	}
	delete(s.bundles, owner)
	delete(s.holds, owner)
	return nil
}

// lock is a held lock. Nobody renews it: it is held while its context lasts, and for its time to live after that.
type lock struct {
	s          *Store
	owner      string
	holder     string
	ttl        time.Duration
	taken      time.Time
	died       time.Time // when its context ended, else zero
	ctx        context.Context
	cancel     context.CancelCauseFunc
	recovered  *release.Held
	undoExpiry func() bool
}

var _ release.Lock = (*lock)(nil)

// Lock takes the lock of a bundle.
func (s *Store) Lock(ctx context.Context, owner, holder string, ttl time.Duration) (release.Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	l := &lock{s: s, owner: owner, holder: holder, ttl: ttl, taken: now}
	if old := s.locks[owner]; old != nil {
		held := old.held(now)
		if !now.After(held.Expires) {
			return nil, s.wrap(owner, &release.LockedError{Held: held})
		}
		l.recovered = &held
	}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.undoExpiry = context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.died = time.Now()
	})
	s.locks[owner] = l
	return l, nil
}

func (l *lock) held(now time.Time) release.Held {
	last := now
	if !l.died.IsZero() {
		last = l.died
	}
	return release.Held{Holder: l.holder, Since: l.taken, Expires: last.Add(l.ttl)}
}

// Context ends with the context of Lock, or with Unlock.
func (l *lock) Context() context.Context { return l.ctx }

// Recovered is the holder whose expired lock this was.
func (l *lock) Recovered() *release.Held { return l.recovered }

// Unlock gives the lock back.
func (l *lock) Unlock(context.Context) error {
	l.undoExpiry()
	l.cancel(context.Canceled)
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	switch l.s.locks[l.owner] {
	case l:
		delete(l.s.locks, l.owner)
		return nil
	case nil:
		return nil
	}
	return l.s.wrap(l.owner, release.ErrLost)
}
