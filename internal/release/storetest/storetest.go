// Package storetest is the conformance suite of release stores: what every store must do, whatever it keeps records
// in. It is imported by tests alone.
//
// storetest must not know any store.
package storetest

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Run runs the suite. open returns a store as a new process would see it: all of them show the same cluster.
func Run(t *testing.T, open func(t *testing.T) release.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open func(t *testing.T) release.Store)
	}{
		{"Nothing", testNothing},
		{"RoundTrip", testRoundTrip},
		{"Conflict", testConflict},
		{"TwoWriters", testTwoWriters},
		{"Set", testSet},
		{"OpenSet", testOpenSet},
		{"CorrectionDied", testCorrectionDied},
		{"Retention", testRetention},
		{"RetentionAsked", testRetentionAsked},
		{"Learned", testLearned},
		{"BigSet", testBigSet},
		{"BigRecord", testBigRecord},
		{"Newer", testNewer},
		{"Bundles", testBundles},
		{"Delete", testDelete},
		{"Kept", testKept},
		{"Hold", testHold},
		{"Lock", testLock},
		{"OneLocks", testOneLocks},
		{"LockIsRenewed", testLockIsRenewed},
		{"LockOfTheDead", testLockOfTheDead},
		{"ForceUnlock", testForceUnlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open)
		})
	}
}

// Record is a record of a bundle of the test's own, with every field set.
func Record(t testing.TB, revision int) release.Record {
	bundle := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return release.Record{
		V: release.V, Bundle: bundle, Owner: object.OwnerID("", "", bundle), Fleet: "fleet", Cluster: "c1", Group: "g",
		ClusterUID: "uid", Revision: revision, SourceDigest: "sha256:head", Rollout: "7K2M", Phase: release.Succeeded, Started: start,
		Finished: start.Add(time.Minute), Author: "ann@laptop", Message: "why <&> not", Version: "1.2.3",
		Release: revision + 1, Approvals: []release.Approval{{Wave: "wave 2 (prod)", Word: release.Word{By: "ann", At: start, Message: "yes"}}},
		Commit: "0123456789abcdef0123456789abcdef01234567", Tree: "dirty", Plan: "sha256:plan", Done: plan.Counts{Create: 1, Unchanged: 2},
		Digests: map[string]string{"api": "sha256:content"}, Images: map[string][]string{"api": {"registry.example.com/api:2"}},
		Inputs: map[string]string{"api": "sha256:in"}, Sources: map[string]string{"api": "module api"},
		Inventory: []plan.InventoryEntry{{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}, Version: "v1",
			Instance: "api", Stage: 1, UID: "u1", ResourceVersion: "12", Digest: "sha256:d", ApplyHash: "o", Schema: "s", Keep: true,
			NoWait: true, Once: true, OwnNamespace: true, Replicas: true, Hook: &plan.HookRun{Event: object.PreInstall, Done: true}}},
		Hooks: map[string]plan.HookState{"api": {Step: plan.Upgrade, Inputs: "sha256:in", Done: []object.HookPhase{object.PreUpgrade},
			Hooks: []plan.Hook{{Ref: object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "bye"}, Version: "v1", Digest: "sha256:h",
				Hook: object.Hook{Events: []object.HookPhase{object.PreDelete}, Weight: -5, Delete: []string{object.HookFailed}}}}}},
		Checks:  map[string][]health.Check{"api": {{Name: "up", Group: "x", Kind: "Y", Source: "current: true", Recorded: true}}},
		Origins: map[string]string{"REGION": "eu (env)"}, Depends: map[string][]string{"api": {"db"}},
	}
}

// Objects are a Set of n objects whose names hold the text. They have every kind of JSON value.
func Objects(n int, text string) []object.Object {
	out := make([]object.Object, n)
	for i := range out {
		out[i] = object.Object{
			Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprint(text, i), "namespace": "shop"},
				"data": map[string]any{"text": "ü <&>\n", "int": int64(1 << 53), "float": 1.5, "yes": true, "none": nil, "list": []any{int64(1), "a"}}},
			Instance: "api", Stage: i, Pos: diag.Pos{File: "api.yaml", Line: 3, Column: 1}, Sensitive: []string{"data.text"},
			Hook: &object.Hook{Events: []object.HookPhase{object.PreDelete}, Weight: i},
		}
	}
	return out
}

// random is text of n bytes that does not compress well.
func random(n int) string {
	data := make([]byte, n/2+1)
	_, _ = rand.Read(data)
	return hex.EncodeToString(data)[:n]
}

func put(t testing.TB, s release.Store, r release.Record, objects []object.Object, h release.RecordVersion) release.RecordVersion {
	t.Helper()
	next, err := s.Put(t.Context(), r, objects, h)
	if err != nil {
		t.Fatal(err)
	}
	if next == "" || next == h {
		t.Fatalf("handle %q after %q", next, h)
	}
	return next
}

// current returns the record, and fails when there is none.
func current(t testing.TB, s release.Store, owner string) (release.Record, release.RecordVersion) {
	t.Helper()
	r, h, err := s.Current(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Fatal("there is no record")
	}
	return *r, h
}

func revisions(t testing.TB, s release.Store, owner string) []release.Record {
	t.Helper()
	h, ok := s.(release.History)
	if !ok {
		t.Fatal("the store keeps no history")
	}
	out, err := Kept(t.Context(), h, owner)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func testNothing(t *testing.T, open func(*testing.T) release.Store) {
	s, r := open(t), Record(t, 1)
	if got, h, err := s.Current(t.Context(), r.Owner); got != nil || h != "" || err != nil {
		t.Errorf("current %v %q %v", got, h, err)
	}
	if got, err := s.Objects(t.Context(), r); got != nil || err != nil {
		t.Errorf("objects %v %v", got, err)
	}
	if got := revisions(t, s, r.Owner); got != nil {
		t.Errorf("revisions %v", got)
	}
	if err := s.Delete(t.Context(), r.Owner, ""); err != nil {
		t.Error(err)
	}
	if _, err := s.Put(t.Context(), r, nil, "12345"); !errors.Is(err, release.ErrConflict) {
		t.Errorf("put over a record that is gone: %v", err)
	}
}

func testRoundTrip(t *testing.T, open func(*testing.T) release.Store) {
	s, r := open(t), Record(t, 1)
	h := put(t, s, r, nil, "")
	for _, reader := range []release.Store{s, open(t)} {
		got, handle := current(t, reader, r.Owner)
		if diff := cmp.Diff(r, got); diff != "" {
			t.Error(diff)
		}
		if handle != h {
			t.Errorf("handle %q, want %q", handle, h)
		}
	}
	r.Phase, r.Revision = release.Applying, 2
	put(t, open(t), r, nil, h)
	if got, _ := current(t, s, r.Owner); got.Revision != 2 || !got.Phase.Open() {
		t.Errorf("revision %d is %s", got.Revision, got.Phase)
	}
}

func testConflict(t *testing.T, open func(*testing.T) release.Store) {
	a, b, r := open(t), open(t), Record(t, 1)
	first := put(t, a, r, Objects(1, "first"), "")
	conflicts := func(h release.RecordVersion) {
		t.Helper()
		mine := r
		mine.Message = "the loser's"
		if _, err := b.Put(t.Context(), mine, Objects(1, "loser"), h); !errors.Is(err, release.ErrConflict) {
			t.Errorf("error %v, want a conflict", err)
		}
	}
	conflicts("")
	second := put(t, a, r, Objects(1, "second"), first)
	conflicts(first)
	conflicts("")
	if err := b.Delete(t.Context(), r.Owner, first); !errors.Is(err, release.ErrConflict) {
		t.Errorf("delete: %v, want a conflict", err)
	}
	got, h := current(t, b, r.Owner)
	if h != second || got.Message != r.Message {
		t.Errorf("the loser's write is there: %q %q", h, got.Message)
	}
	if diff := cmp.Diff(Objects(1, "second"), set(t, b, got)); diff != "" {
		t.Error(diff)
	}
}

func set(t testing.TB, s release.Store, r release.Record) []object.Object {
	t.Helper()
	out, err := s.Objects(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Writers without a lock, all at once: each write that succeeds makes one revision, and no record is ever torn.
func testTwoWriters(t *testing.T, open func(*testing.T) release.Store) {
	const writers, rounds = 4, 6
	var wrote atomic.Int64
	var wg sync.WaitGroup
	base := Record(t, 0)
	for w := range writers {
		s := open(t)
		wg.Go(func() {
			for range rounds {
				now, h, err := s.Current(t.Context(), base.Owner)
				if err != nil {
					t.Error(err)
					return
				}
				r := base
				r.Revision, r.Message = release.NextRevision(now.At()), fmt.Sprint(w)
				_, err = s.Put(t.Context(), r, Objects(2, r.Message), h)
				switch {
				case err == nil:
					wrote.Add(1)
				case !errors.Is(err, release.ErrConflict):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := open(t)
	got, _ := current(t, s, base.Owner)
	if int64(got.Revision) != wrote.Load() || got.Revision < rounds {
		t.Errorf("revision %d after %d writes", got.Revision, wrote.Load())
	}
	for _, r := range revisions(t, s, base.Owner) {
		if diff := cmp.Diff(Objects(2, r.Message), set(t, s, r)); diff != "" {
			t.Errorf("revision %d: %s", r.Revision, diff)
		}
	}
}

func testSet(t *testing.T, open func(*testing.T) release.Store) {
	s, r := open(t), Record(t, 1)
	opened := r
	opened.Phase = release.Applying
	h := put(t, s, opened, nil, "")
	if got := set(t, s, opened); got != nil {
		t.Errorf("an open record has the Set %v", got)
	}
	h = put(t, s, r, Objects(3, "one"), h)
	first, _ := current(t, s, r.Owner)
	if first.SetDigest != release.SetDigest(Objects(3, "one")) {
		t.Errorf("digest %q", first.SetDigest)
	}
	for _, reader := range []release.Store{s, open(t)} {
		if diff := cmp.Diff(Objects(3, "one"), set(t, reader, first)); diff != "" {
			t.Error(diff)
		}
	}
	touched := first
	touched.SourceDigest = "sha256:new"
	h = put(t, s, touched, nil, h)
	if diff := cmp.Diff(Objects(3, "one"), set(t, open(t), touched)); diff != "" {
		t.Errorf("a new head without a new Set loses it: %s", diff)
	}
	second := Record(t, 2)
	put(t, s, second, []object.Object{}, h)
	if got := set(t, s, first); len(got) != 3 {
		t.Errorf("revision 1 has %d objects", len(got))
	}
	second, _ = current(t, open(t), r.Owner)
	if got := set(t, open(t), second); got == nil || len(got) != 0 {
		t.Errorf("an empty Set comes back as %#v", got)
	}
}

// An open record may have a Set: the hooks of a removal. It stays when the record is written again, and gives way to
// that of the closed record; a revision that is open is not in the history.
func testOpenSet(t *testing.T, open func(*testing.T) release.Store) {
	s, first := open(t), Record(t, 1)
	h := put(t, s, first, Objects(3, "one"), "")
	opened := Record(t, 2)
	opened.Phase, opened.SetDigest = release.Applying, release.SetDigest(Objects(1, "hook"))
	h = put(t, s, opened, Objects(1, "hook"), h)
	opened.Hooks = nil
	h = put(t, s, opened, nil, h)
	for _, reader := range []release.Store{s, open(t)} {
		now, _ := current(t, reader, first.Owner)
		if diff := cmp.Diff(Objects(1, "hook"), set(t, reader, now)); diff != "" {
			t.Error(diff)
		}
		if list := revisions(t, reader, first.Owner); len(list) != 1 || list[0].Revision != 1 {
			t.Errorf("%d revisions while the second is open", len(list))
		}
	}
	put(t, s, Record(t, 2), Objects(2, "two"), h)
	now, _ := current(t, open(t), first.Owner)
	if diff := cmp.Diff(Objects(2, "two"), set(t, open(t), now)); diff != "" {
		t.Error(diff)
	}
	if list := revisions(t, s, first.Owner); len(list) != 2 {
		t.Errorf("%d revisions when both are closed", len(list))
	}
}

// The last Retention revisions are kept, and the last one that succeeded.
func testRetention(t *testing.T, open func(*testing.T) release.Store) {
	s, h := open(t), release.RecordVersion("")
	const last = release.Retention + 4
	for n := 1; n <= last; n++ {
		r := Record(t, n)
		if n != 2 {
			r.Phase = release.Failed
		}
		h = put(t, s, r, Objects(1, fmt.Sprint("r", n, "-")), h)
	}
	var got []int
	for _, r := range revisions(t, open(t), Record(t, 1).Owner) {
		got = append(got, r.Revision)
		if diff := cmp.Diff(Objects(1, fmt.Sprint("r", r.Revision, "-")), set(t, s, r)); diff != "" {
			t.Errorf("revision %d: %s", r.Revision, diff)
		}
	}
	want := []int{14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if objects := set(t, s, Record(t, 1)); objects != nil {
		t.Error("revision 1 is still kept")
	}
}

// A record may ask for another number of revisions than Retention.
func testRetentionAsked(t *testing.T, open func(*testing.T) release.Store) {
	s, h := open(t), release.RecordVersion("")
	for n := 1; n <= 5; n++ {
		r := Record(t, n)
		r.Keep = 2
		if n != 1 {
			r.Phase = release.Failed
		}
		h = put(t, s, r, Objects(1, fmt.Sprint("r", n, "-")), h)
	}
	var got []int
	for _, r := range revisions(t, open(t), Record(t, 1).Owner) {
		got = append(got, r.Revision)
	}
	if diff := cmp.Diff([]int{5, 4, 1}, got); diff != "" {
		t.Error(diff)
	}
}

// What is learned of a revision after it was kept (it failed its soak) is told when it is no longer the current one.
func testLearned(t *testing.T, open func(*testing.T) release.Store) {
	s := open(t)
	r := Record(t, 1)
	put(t, s, r, Objects(1, "a"), "")
	r, h := current(t, s, r.Owner)
	r.Phase = release.Failed
	h = put(t, s, r, nil, h)
	put(t, s, Record(t, 2), Objects(1, "b"), h)
	list := revisions(t, open(t), r.Owner)
	if len(list) != 2 || list[1].Phase != release.Failed || list[0].Phase != release.Succeeded {
		t.Errorf("%+v", list)
	}
	if set(t, s, list[1]) == nil {
		t.Error("its objects are lost")
	}
}

// A Set of ten mebibytes that do not compress.
func testBigSet(t *testing.T, open func(*testing.T) release.Store) {
	r := Record(t, 1)
	objects := Objects(20, "big")
	for i := range objects {
		objects[i].Body["data"].(map[string]any)["text"] = random(1 << 20)
	}
	h := put(t, open(t), r, objects, "")
	s := open(t)
	got, _ := current(t, s, r.Owner)
	if diff := cmp.Diff(release.SetDigest(objects), release.SetDigest(set(t, s, got))); diff != "" {
		t.Error(diff)
	}
	if err := s.Delete(t.Context(), r.Owner, h); err != nil {
		t.Error(err)
	}
}

// A record of several mebibytes, written again and again.
func testBigRecord(t *testing.T, open func(*testing.T) release.Store) {
	r, h := Record(t, 1), release.RecordVersion("")
	for round := range 3 {
		r.Inventory = nil
		for i := range 20_000 >> round {
			r.Inventory = append(r.Inventory, plan.InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("c", i)},
				Version: "v1", UID: random(36), Digest: "sha256:" + random(64), ApplyHash: random(64)})
		}
		h = put(t, open(t), r, nil, h)
		got, handle := current(t, open(t), r.Owner)
		if handle != h || len(got.Inventory) != len(r.Inventory) {
			t.Fatalf("%d entries under %q", len(got.Inventory), handle)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Error("the record is not the one that was written")
		}
	}
	if err := open(t).Delete(t.Context(), r.Owner, h); err != nil {
		t.Error(err)
	}
}

// A record of a newer schema is refused by name, and is not written over.
func testNewer(t *testing.T, open func(*testing.T) release.Store) {
	s, r := open(t), Record(t, 1)
	r.V, r.Version = release.V+1, "9.0.0"
	put(t, s, r, nil, "")
	_, _, err := open(t).Current(t.Context(), r.Owner)
	newer, ok := errors.AsType[*release.NewerError](err)
	if !ok || newer.V != release.V+1 || newer.Hawser != "9.0.0" {
		t.Errorf("error %v, want one that names schema %d and Hawser 9.0.0", err, release.V+1)
	}
	if _, err := open(t).Put(t.Context(), Record(t, 1), nil, ""); !errors.Is(err, release.ErrConflict) {
		t.Errorf("error %v, want a conflict", err)
	}
	if _, err := open(t).Put(t.Context(), Record(t, 1), nil, "0"); err == nil {
		t.Error("a newer record was written over")
	}
}

func testBundles(t *testing.T, open func(*testing.T) release.Store) {
	s := open(t)
	want := map[string]int{}
	for i, name := range []string{"b", "c", "a"} {
		r := Record(t, i+1)
		r.Bundle += "-" + name
		r.Owner = object.OwnerID("", "", r.Bundle)
		put(t, s, r, Objects(1, name), "")
		want[r.Bundle] = r.Revision
	}
	got := map[string]int{}
	err := open(t).Bundles(t.Context(), func(r release.Record) error {
		if _, ok := want[r.Bundle]; ok {
			got[r.Bundle] = r.Revision
			if len(r.Inventory) != 1 {
				t.Errorf("%s has %d entries", r.Bundle, len(r.Inventory))
			}
		}
		return nil
	})
	if _, newer := errors.AsType[*release.NewerError](err); err != nil && !newer && !errors.Is(err, release.ErrElsewhere) { // of the tests beside this one
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func testDelete(t *testing.T, open func(*testing.T) release.Store) {
	s, h := open(t), release.RecordVersion("")
	for n := 1; n <= 3; n++ {
		h = put(t, s, Record(t, n), Objects(2, "x"), h)
	}
	r, _ := current(t, s, Record(t, 1).Owner)
	if err := open(t).Delete(t.Context(), r.Owner, h); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []release.Store{s, open(t)} {
		if got, _, err := reader.Current(t.Context(), r.Owner); got != nil || err != nil {
			t.Errorf("still there: %v %v", got, err)
		}
		if got, err := reader.Objects(t.Context(), r); got != nil || err != nil {
			t.Errorf("the Set is still there: %v %v", got, err)
		}
	}
	put(t, s, Record(t, 1), Objects(1, "again"), "")
	if got := revisions(t, open(t), r.Owner); len(got) != 1 {
		t.Errorf("%d revisions after a new beginning", len(got))
	}
}
