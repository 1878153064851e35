package blob

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testseed"
)

var (
	errDead   = errors.New("the process died")
	errServer = errors.New("500")
)

// faulty is a Bucket that counts requests, of which some do not come back.
type faulty struct {
	Bucket
	mu       sync.Mutex
	requests int
	// fails says of the n-th request whether it fails, and whether it was carried out before it did.
	fails func(n int) (err error, done bool)
	// ahead is how much further the clock is.
	ahead time.Duration
}

func (f *faulty) do(act func() error) error {
	f.mu.Lock()
	f.requests++
	n := f.requests
	f.mu.Unlock()
	if f.fails == nil {
		return act()
	}
	err, done := f.fails(n)
	if err == nil {
		return act()
	}
	if done {
		_ = act()
	}
	return err
}

func (f *faulty) Get(ctx context.Context, key string, limit int) (out []byte, err error) {
	err = f.do(func() error { out, err = f.Bucket.Get(ctx, key, limit); return err })
	return out, err
}

func (f *faulty) Create(ctx context.Context, key string, data []byte) error {
	return f.do(func() error { return f.Bucket.Create(ctx, key, data) })
}

func (f *faulty) List(ctx context.Context, prefix string) (out []Entry, err error) {
	err = f.do(func() error { out, err = f.Bucket.List(ctx, prefix); return err })
	for i := range out {
		out[i].Modified = out[i].Modified.Add(f.ahead)
	}
	return out, err
}

func (f *faulty) Delete(ctx context.Context, key string) error {
	return f.do(func() error { return f.Bucket.Delete(ctx, key) })
}

func (f *faulty) Now(ctx context.Context) (out time.Time, err error) {
	err = f.do(func() error { out, err = f.Bucket.Now(ctx); return err })
	return out.Add(f.ahead), err
}

// deadFrom makes a bucket of a process that dies at its n-th request, before it or after.
func deadFrom(b Bucket, at int, done bool) *faulty {
	return &faulty{Bucket: b, fails: func(n int) (error, bool) {
		if n < at {
			return nil, false
		}
		return errDead, done && n == at
	}}
}

// revise opens and closes a revision, under the lock.
func revise(ctx context.Context, s release.Store, r release.Record) error {
	l, err := s.Lock(ctx, r.Owner, "ann", time.Minute)
	if err != nil {
		return err
	}
	defer func() { _ = l.Unlock(context.WithoutCancel(ctx)) }()
	_, h, err := s.Current(ctx, r.Owner)
	if err != nil {
		return err
	}
	opened := r
	opened.Phase = release.Applying
	if h, err = s.Put(ctx, opened, nil, h); err != nil {
		return err
	}
	_, err = s.Put(ctx, r, storetest.Objects(2, fmt.Sprint("r", r.Revision, "-")), h)
	return err
}

// whole fails unless everything that the record and the kept revisions name is there; it returns the record.
func whole(t *testing.T, s *store, owner string) *release.Record {
	t.Helper()
	now, _, err := s.Current(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := storetest.Kept(t.Context(), s, owner)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range kept {
		objects, err := s.Objects(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(storetest.Objects(2, fmt.Sprint("r", r.Revision, "-")), objects); diff != "" {
			t.Fatalf("the Set of revision %d: %s", r.Revision, diff)
		}
	}
	return now
}

// A process dies at every request of a revision, before it is carried out and after. What is stored is the old record or
// the new one, whole; the next process goes on, at once, and leaves nothing that nobody names.
func TestEveryDeath(t *testing.T) {
	for at, reached := 1, true; reached; at++ {
		reached = false
		for _, done := range []bool{false, true} {
			dir := openDir(t, t.TempDir())
			first, second := storetest.Record(t, 1), storetest.Record(t, 2)
			if err := revise(t.Context(), open(t, dir), first); err != nil {
				t.Fatal(err)
			}
			b := deadFrom(dir, at, done)
			err := revise(t.Context(), open(t, b), second)
			if b.requests >= at {
				reached = true
			}
			if err != nil && !errors.Is(err, errDead) {
				t.Fatalf("request %d: %v", at, err)
			}
			s := open(t, dir)
			now := whole(t, s, first.Owner)
			switch {
			case now == nil:
				t.Fatalf("request %d: there is no record", at)
			case now.Revision == 2 && !now.Phase.Open() && now.Phase != release.Succeeded, now.Revision == 1 && now.Phase != release.Succeeded:
				t.Fatalf("request %d: revision %d is %s", at, now.Revision, now.Phase)
			}
			held, err := s.Holder(t.Context(), first.Owner)
			if err != nil {
				t.Fatal(err)
			}
			if held != nil { // of this very process, so that it is waited for; a dead one's is not
				expire(t, s, first.Owner)
			}
			for n := 2; n <= 4; n++ {
				if err := revise(t.Context(), s, storetest.Record(t, n)); err != nil {
					t.Fatalf("request %d: revision %d: %v", at, n, err)
				}
			}
			if now := whole(t, s, first.Owner); now.Revision != 4 {
				t.Fatalf("request %d: revision %d", at, now.Revision)
			}
			orphans(t, s, first.Owner)
		}
	}
}

// expire lets a lock's holder give up.
func expire(t *testing.T, s *store, owner string) {
	t.Helper()
	j, err := s.journal(owner, locks)
	if err != nil {
		t.Fatal(err)
	}
	tip, err := j.last(t.Context())
	if err == nil {
		_, err = j.append(t.Context(), tip, lease{Released: true})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func orphans(t *testing.T, s *store, owner string) {
	t.Helper()
	_, _, h, err := s.now(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.bucket.List(t.Context(), "uid-1/"+owner+"/"+sets+"/")
	if err != nil || len(list) != len(h.Kept)+len(h.Sweep) {
		t.Fatalf("%d Sets of %d revisions: %v", len(list), len(h.Kept), err)
	}
}

// A delete dies at every request; a second one ends it, and a bundle that is made anew goes on after it.
func TestDeleteDies(t *testing.T) {
	for at, reached := 1, true; reached; at++ {
		reached = false
		for _, done := range []bool{false, true} {
			dir := openDir(t, t.TempDir())
			r := storetest.Record(t, 1)
			if err := revise(t.Context(), open(t, dir), r); err != nil {
				t.Fatal(err)
			}
			b := deadFrom(dir, at, done)
			del := func(s *store) error {
				_, h, err := s.Current(t.Context(), r.Owner)
				if err == nil {
					err = s.Delete(t.Context(), r.Owner, h)
				}
				return err
			}
			err := del(open(t, b))
			reached = reached || b.requests >= at
			if err != nil && !errors.Is(err, errDead) {
				t.Fatal(err)
			}
			s := open(t, dir)
			whole(t, s, r.Owner)
			if err := del(s); err != nil {
				t.Fatal(err)
			}
			list, err := dir.List(t.Context(), "uid-1/"+r.Owner+"/"+sets+"/")
			if now := whole(t, s, r.Owner); now != nil || len(list) > 0 || err != nil {
				t.Fatalf("request %d: left %v %v %v", at, now, list, err)
			}
			if err := revise(t.Context(), s, r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Writers that sleep at any request while others go on, delete and begin anew, in a bucket of which any answer may be
// lost: every write that is said to be done is followed by those that read it, and none by one that did not.
func TestWritersThatSleep(t *testing.T) {
	first := testseed.From(t)
	for seed := first; seed < first+40; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var mu sync.Mutex
		chance := func(n int) bool {
			mu.Lock()
			defer mu.Unlock()
			return rnd.IntN(n) == 0
		}
		dir := openDir(t, t.TempDir())
		base := storetest.Record(t, 0)
		var wrote atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			b := &faulty{Bucket: dir, fails: func(int) (error, bool) {
				if chance(12) {
					time.Sleep(3 * time.Millisecond)
				}
				if chance(15) {
					return errServer, chance(2)
				}
				return nil, false
			}}
			s := open(t, b)
			wg.Go(func() {
				for range 12 {
					now, h, err := s.Current(t.Context(), base.Owner)
					if err != nil {
						continue
					}
					next := base
					next.Revision = now.At() + 1
					if _, err := s.Put(t.Context(), next, storetest.Objects(1, fmt.Sprint("r", next.Revision, "-")), h); err == nil {
						wrote.Add(1)
					}
				}
			})
		}
		wg.Wait()
		now, _, err := open(t, dir).Current(t.Context(), base.Owner)
		if err != nil {
			t.Fatal(err)
		}
		if int64(now.At()) < wrote.Load() {
			t.Fatalf("seed %d: %d writes were done, revision %d", seed, wrote.Load(), now.At())
		}
	}
}

// A number that is free because its entry was let go of long ago is not the next one.
func TestNumberOfLongAgo(t *testing.T) {
	dir := openDir(t, t.TempDir())
	s, later := open(t, dir), open(t, &faulty{Bucket: dir, ahead: 0})
	r := storetest.Record(t, 1)
	h, err := s.Put(t.Context(), r, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	j, asleep, _, err := s.now(t.Context(), r.Owner)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 6; n++ {
		r.Revision = n
		if h, err = later.Put(t.Context(), r, nil, h); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 4; n++ { // as an hour would have
		if err := dir.Delete(t.Context(), j.key(n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.add(t.Context(), asleep, []byte(`{"v":1,"deleted":true}`)); !errors.Is(err, release.ErrConflict) {
		t.Errorf("error %v, want a conflict", err)
	}
	if now := whole(t, s, r.Owner); now == nil || now.Revision != 6 {
		t.Errorf("the sleeper's entry counts: %+v", now)
	}
}

// Old entries go, and the last ones stay.
func TestSweep(t *testing.T) {
	dir := openDir(t, t.TempDir())
	r := storetest.Record(t, 1)
	h := release.RecordVersion("")
	for n := 1; n <= 8; n++ {
		b := &faulty{Bucket: dir}
		s := open(t, b)
		r.Revision = n
		var err error
		if h, err = s.Put(t.Context(), r, nil, h); err != nil {
			t.Fatal(err)
		}
		if n == 5 {
			ageAll(t, dir)
		}
	}
	list, err := dir.List(t.Context(), "uid-1/"+r.Owner+"/heads/")
	if err != nil || len(list) != 4 { // the fifth, whose successor is young, and what came after it
		t.Errorf("%d entries: %v", len(list), err)
	}
	if now := whole(t, open(t, dir), r.Owner); now.Revision != 8 {
		t.Errorf("revision %d", now.Revision)
	}
}

// ageAll makes every blob two hours older.
func ageAll(t *testing.T, d *Dir) {
	t.Helper()
	list, err := d.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		old := e.Modified.Add(-2 * time.Hour)
		if err := d.root.Chtimes(e.Key, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// Another key, a blob in another's place and a damaged one are told, and nothing is written over them.
func TestSealed(t *testing.T) {
	dir := openDir(t, t.TempDir())
	s, r := open(t, dir), storetest.Record(t, 1)
	h, err := s.Put(t.Context(), r, storetest.Objects(1, "x"), "")
	if err != nil {
		t.Fatal(err)
	}
	other := New(Options{Bucket: dir, Scope: scoped("uid-1"), Cluster: "c1", Key: keyed([]byte("another key of a store, long enough"))})
	if _, _, err := other.Current(t.Context(), r.Owner); !errors.Is(err, errSealed) {
		t.Errorf("another key: %v", err)
	}
	for _, handle := range []release.RecordVersion{"", h} {
		if _, err := other.Put(t.Context(), r, nil, handle); !errors.Is(err, errSealed) {
			t.Errorf("another key writes: %v", err)
		}
	}
	for name, o := range map[string]Options{
		"a short key":       {Bucket: dir, Scope: scoped("uid-1"), Key: keyed([]byte("short"))},
		"no key":            {Bucket: dir, Scope: scoped("uid-1"), Key: keyed(nil)},
		"a scope leads out": {Bucket: dir, Scope: scoped("../up"), Key: keyed(testKey)},
	} {
		if _, _, err := New(o).Current(t.Context(), r.Owner); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	j, _ := s.journal(r.Owner, heads)
	moved := New(Options{Bucket: dir, Scope: scoped("uid-2"), Cluster: "c2", Key: keyed(testKey)})
	data, err := dir.Get(t.Context(), j.key(1), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(t.Context(), "uid-2/"+r.Owner+"/heads/000000000001", data); err != nil {
		t.Fatal(err)
	}
	if _, _, err := moved.Current(t.Context(), r.Owner); !errors.Is(err, errSealed) {
		t.Errorf("another cluster's blob: %v", err)
	}
}

// The clock of a bucket may be an hour off, either way: locks expire by it alone.
func TestLockByTheBucketsClock(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		dir := openDir(t, t.TempDir())
		s := open(t, &faulty{Bucket: dir, ahead: ahead})
		l, err := s.Lock(t.Context(), "owner", "ann", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		locked, ok := errors.AsType[*release.LockedError](func() error { _, err := s.Lock(t.Context(), "owner", "bob", time.Minute); return err }())
		if !ok || time.Until(locked.Expires) > 2*time.Minute || time.Until(locked.Expires) < 0 || time.Since(locked.Since) > time.Minute {
			t.Errorf("%s: %+v", ahead, locked)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A disk that is full, or any other failure to write, leaves nothing half-written.
func TestDirectoryIsWholeOrNot(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	if err := d.root.Mkdir("uid-1", 0o500); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(t.Context(), "a/b", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(t.Context(), "a/b", []byte("y")); !errors.Is(err, ErrExists) {
		t.Errorf("error %v", err)
	}
	if data, err := d.Get(t.Context(), "a/b", 10); string(data) != "x" || err != nil {
		t.Errorf("%q %v", data, err)
	}
	if _, err := d.Get(t.Context(), "a/c", 10); !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v", err)
	}
	if _, err := d.Get(t.Context(), "../"+path, 10); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("error %v", err)
	}
	if err := d.Create(t.Context(), "a/b/c", []byte("y")); err == nil || errors.Is(err, ErrExists) {
		t.Errorf("below a file: %v", err)
	}
	list, err := d.List(t.Context(), "")
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	left, err := d.root.Open(partial)
	if err != nil {
		t.Fatal(err)
	}
	names, err := left.Readdirnames(-1)
	if err != nil || len(names) > 0 {
		t.Errorf("left aside: %v %v", names, err)
	}
	_ = left.Close()
}
