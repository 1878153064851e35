package kube_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/blob"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

func openDir(t testing.TB, dir string) *blob.Dir {
	t.Helper()
	d, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// beside is the store of the cluster in a bucket.
func beside(c kube.Client, b blob.Bucket) release.Store {
	in := kube.Own(c, cluster)
	return blob.New(blob.Options{Bucket: b, Scope: func() (string, error) { return "uid-1", nil }, Cluster: cluster, Key: in.Key, Own: in})
}

// TestStoreInDirectory: records lie in a directory, made-up values in the cluster.
func TestStoreInDirectory(t *testing.T) {
	t.Parallel()
	dir := openDir(t, t.TempDir())
	storetest.Run(t, func(t *testing.T) release.Store { return beside(connect(t), dir) })
}

// mortal is a bucket of a process that dies.
type mortal struct {
	blob.Bucket
	before func() error
}

func (m mortal) Get(ctx context.Context, key string, limit int) ([]byte, error) {
	if err := m.before(); err != nil {
		return nil, err
	}
	return m.Bucket.Get(ctx, key, limit)
}

func (m mortal) Create(ctx context.Context, key string, data []byte) error {
	if err := m.before(); err != nil {
		return err
	}
	return m.Bucket.Create(ctx, key, data)
}

func (m mortal) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := m.before(); err != nil {
		return nil, err
	}
	return m.Bucket.List(ctx, prefix)
}

func (m mortal) Delete(ctx context.Context, key string) error {
	if err := m.before(); err != nil {
		return err
	}
	return m.Bucket.Delete(ctx, key)
}

// TestMove: records come from the cluster to a directory, from there to another one, and back, whenever the process dies.
func TestMove(t *testing.T) {
	t.Parallel()
	a, b := openDir(t, t.TempDir()), openDir(t, t.TempDir())
	stores := map[string]func(c kube.Client, before func() error) release.Store{
		"cluster": func(c kube.Client, _ func() error) release.Store { return kube.New(c, cluster) },
		"a":       func(c kube.Client, before func() error) release.Store { return beside(c, mortal{a, before}) },
		"b":       func(c kube.Client, before func() error) release.Store { return beside(c, mortal{b, before}) },
	}
	for _, way := range [][2]string{{"cluster", "a"}, {"a", "cluster"}, {"a", "b"}} {
		t.Run(way[0]+"-"+way[1], func(t *testing.T) {
			t.Parallel()
			open := func(t testing.TB, n int) (release.Store, release.Store, func() bool) {
				var count atomic.Int64
				before := func() error {
					if at := count.Add(1); n > 0 && at >= int64(n) {
						return errDead
					}
					return nil
				}
				c := connect(t)
				c.before = before
				return stores[way[0]](c, before), stores[way[1]](c, before), func() bool { return n > 0 && count.Load() >= int64(n) }
			}
			storetest.RunMove(t, open, func(t testing.TB, owner string) {
				for _, name := range way {
					unlock(t, stores[name](connect(t), func() error { return nil }), owner)
				}
			})
		})
	}
}

// unlock gives back the lock of a process that died.
func unlock(t testing.TB, s release.Store, owner string) {
	t.Helper()
	held, err := s.(release.Watched).Holder(t.Context(), owner)
	if err == nil && held != nil {
		err = s.(release.Unlocker).ForceUnlock(t.Context(), owner, *held)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoStores: of two writers that begin in two stores one does, and the other is told where the records are; so is who comes later with
// another store, or none, and an older Hawser.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	a, b := openDir(t, t.TempDir()), openDir(t, t.TempDir())
	for range 5 {
		r := storetest.Record(t, 1)
		stores := []release.Store{beside(connect(t), a), beside(connect(t), b), kube.New(connect(t), cluster)}
		var wg sync.WaitGroup
		errs := make([]error, len(stores))
		for i, s := range stores {
			wg.Go(func() { _, errs[i] = s.Put(t.Context(), r, storetest.Objects(1, "x"), "") })
		}
		wg.Wait()
		var won []release.Store
		for i, err := range errs {
			switch {
			case err == nil:
				won = append(won, stores[i])
			case !errors.Is(err, release.ErrElsewhere) && !errors.Is(err, release.ErrConflict):
				t.Error(err)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d writers began: %v", len(won), errs)
		}
		for i, s := range []release.Store{beside(connect(t), a), beside(connect(t), b), kube.New(connect(t), cluster)} {
			now, h, err := s.Current(t.Context(), r.Owner)
			if (errs[i] == nil) != (err == nil && now != nil) || err != nil && (!errors.Is(err, release.ErrElsewhere) || !strings.Contains(err.Error(), "hawser release move "+r.Bundle)) {
				t.Errorf("store %d: %v, %v", i, now, err)
			}
			if err == nil {
				continue
			}
			if _, err := s.Put(t.Context(), r, nil, h); !errors.Is(err, release.ErrElsewhere) && !errors.Is(err, release.ErrConflict) {
				t.Errorf("store %d writes: %v", i, err)
			}
			if err := s.Delete(t.Context(), r.Owner, h); !errors.Is(err, release.ErrElsewhere) {
				t.Errorf("store %d deletes: %v", i, err)
			}
		}
		_, h, err := won[0].Current(t.Context(), r.Owner)
		if err == nil {
			err = won[0].Delete(t.Context(), r.Owner, h)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admin(t).CoreV1().Secrets(object.SystemNamespace).Get(t.Context(), "hawser-"+r.Owner, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the cluster still says where the records are: %v", err)
		}
	}
}

// TestLostBucket: a bucket that is empty is another one, although it is called the same; one that lost the records of a bundle is told
// by what the cluster says.
func TestLostBucket(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	dir := openDir(t, path)
	r := storetest.Record(t, 1)
	if _, err := beside(connect(t), dir).Put(t.Context(), r, nil, ""); err != nil {
		t.Fatal(err)
	}
	list, err := dir.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Key == "hawser-store.json" {
			continue
		}
		if err := dir.Delete(t.Context(), e.Key); err != nil {
			t.Fatal(err)
		}
	}
	s := beside(connect(t), dir)
	if now, _, err := s.Current(t.Context(), r.Owner); now != nil || err != nil {
		t.Errorf("%v, %v", now, err)
	}
	if err := release.LostOf(t.Context(), s, r.Owner); err == nil || !strings.Contains(err.Error(), r.Bundle) {
		t.Errorf("nothing says that the record is lost: %v", err)
	}
	if err := dir.Delete(t.Context(), "hawser-store.json"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := beside(connect(t), dir).Current(t.Context(), r.Owner); !errors.Is(err, release.ErrElsewhere) {
		t.Errorf("an empty bucket of the same name: %v", err)
	}
}

// TestKeyStaysInTheCluster: many that need the key at once have the same one.
func TestKeyStaysInTheCluster(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	keys := make([]string, 6)
	for i := range keys {
		wg.Go(func() {
			key, err := kube.Own(connect(t), cluster).Key(t.Context(), true)
			if keys[i] = string(key); err != nil || len(key) != 32 {
				t.Errorf("%d bytes, %v", len(key), err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Error("there are two keys")
		}
	}
}
