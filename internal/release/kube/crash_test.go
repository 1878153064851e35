package kube_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testseed"
)

// chunk is a chunk size with which every record overflows into two or three Secrets more, and every Set.
const chunk = 256

// run opens and closes a revision, and stops at the first error as a process does that dies.
func run(t testing.TB, s release.Store, revision int) error {
	r := storetest.Record(t, revision)
	_, h, err := s.Current(t.Context(), r.Owner)
	if err != nil {
		return err
	}
	opened := r
	opened.Phase = release.Applying
	if h, err = s.Put(t.Context(), opened, nil, h); err != nil {
		return err
	}
	_, err = s.Put(t.Context(), r, storetest.Objects(2, fmt.Sprint("r", revision, "-")), h)
	return err
}

// whole fails unless everything that the stored record names is there and intact; it returns the record.
func whole(t testing.TB, owner string) *release.Record {
	t.Helper()
	s := kube.New(connect(t), cluster)
	now, _, err := s.Current(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if now == nil {
		return nil
	}
	if _, err := s.Objects(t.Context(), *now); err != nil {
		t.Fatal(err)
	}
	kept, err := storetest.Kept(t.Context(), s.(release.History), owner)
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

// everyDeath runs do again and again, killed at each request in turn, before it is sent and after, from a fresh state
// made by prepare; then it looks and repairs.
func everyDeath(t *testing.T, prepare func(t *testing.T), do func(t *testing.T, s release.Store) error, check func(t *testing.T)) {
	step, first := testseed.Deaths(t, 4)
	for at := 1 + first; ; at += step {
		alive := true
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("request-%d-answered-%t", at, answered), func(t *testing.T) {
				prepare(t)
				c := connect(t)
				c.dieAt, c.answered = at, answered
				err := do(t, kube.New(c, cluster))
				if len(c.requests()) >= at {
					alive = false
					if !errors.Is(err, errDead) && err != nil {
						t.Fatalf("ended with %v", err)
					}
				} else if err != nil {
					t.Fatal(err)
				}
				check(t)
			})
		}
		if alive {
			return
		}
		if at > 60 {
			t.Fatal("does not end")
		}
	}
}

// A run killed at any request leaves the old record or the new one, whole; the next run goes through, and in the end
// there is nothing in the cluster that the record does not name.
func TestKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		first, chunk int // revisions before the run, chunk size
	}{
		{"first", 0, release.ChunkSize},
		{"second", 1, release.ChunkSize},
		{"retention", release.Retention, release.ChunkSize},
		{"big", 1, chunk},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			everyDeath(t, func(t *testing.T) {
				for n := 1; n <= c.first; n++ {
					if err := run(t, kube.SmallChunks(kube.New(connect(t), cluster), c.chunk), n); err != nil {
						t.Fatal(err)
					}
				}
			}, func(t *testing.T, s release.Store) error {
				return run(t, kube.SmallChunks(s, c.chunk), c.first+1)
			}, func(t *testing.T) {
				owner := storetest.Record(t, 1).Owner
				now := whole(t, owner)
				if c.first > 0 && (now == nil || now.Revision < c.first || len(now.Inventory) == 0) {
					t.Fatalf("the inventory is lost: %v", now)
				}
				resume(t, owner, release.NextRevision(now.At()), c.chunk)
			})
		})
	}
}

// resume makes two more revisions, with which everything is to be in order again: the head names every Secret.
func resume(t *testing.T, owner string, next, chunk int) {
	for n := range 2 {
		if err := run(t, kube.SmallChunks(kube.New(connect(t), cluster), chunk), next+n); err != nil {
			t.Fatal(err)
		}
	}
	now := whole(t, owner)
	if now == nil || now.Revision != next+1 || now.Phase != release.Succeeded {
		t.Fatalf("resumed to %v", now)
	}
	secret, err := admin(t).CoreV1().Secrets(object.SystemNamespace).Get(t.Context(), "hawser-"+owner, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	overflows := false
	for _, name := range secrets(t, owner) {
		overflows = overflows || strings.Contains(name, "-overflow-")
		if name != secret.Name && !strings.Contains(string(secret.Data["index"]), `"`+name+`"`) {
			t.Errorf("left behind: %s", name)
		}
	}
	if overflows != (chunk < release.ChunkSize) {
		t.Errorf("overflow: %t", overflows)
	}
}

// A delete killed at any request leaves a record that is whole, and deleting again leaves nothing.
func TestDeleteKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]int{"small": release.ChunkSize, "big": chunk} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyDeath(t, func(t *testing.T) {
				for n := 1; n <= 2; n++ {
					if err := run(t, kube.SmallChunks(kube.New(connect(t), cluster), chunk), n); err != nil {
						t.Fatal(err)
					}
				}
			}, func(t *testing.T, s release.Store) error {
				owner := storetest.Record(t, 1).Owner
				_, h, err := s.Current(t.Context(), owner)
				if err != nil {
					return err
				}
				return s.Delete(t.Context(), owner, h)
			}, func(t *testing.T) {
				owner := storetest.Record(t, 1).Owner
				whole(t, owner)
				s := kube.New(connect(t), cluster)
				_, h, err := s.Current(t.Context(), owner)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Delete(t.Context(), owner, h); err != nil {
					t.Fatal(err)
				}
				if left := secrets(t, owner); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		})
	}
}
