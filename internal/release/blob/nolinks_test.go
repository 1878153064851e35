package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testseed"
)

// ourForm are names as we would give them.
const (
	ourPartial = "abcdefghijklmnopqrstuvwxyz"
	ourSet     = "r1-abcdefghijklmnopqrstuvwxyz"
	ourEntry   = "000000000001"
)

// foreign fills directories with files that are older than what is swept, some of them called as ours are.
func foreign(t *testing.T, dirs ...string) {
	t.Helper()
	old := time.Now().Add(-3 * stale)
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"main", ourPartial, ourSet, ourEntry, "000000000002"} {
			at := filepath.Join(dir, name)
			if err := errors.Join(os.WriteFile(at, []byte(name), 0o600), os.Chtimes(at, old, old)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// contents are the files and directories of some directories, with what is in them.
func contents(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				out[at] = fmt.Sprint(d.Type())
				return err
			}
			data, err := os.ReadFile(at)
			out[at] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// refused fails unless an error names a link.
func refused(t *testing.T, what string, err error, link string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), link+" is a link") || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%s: %v", what, err)
	}
}

// TestLinkForWhatIsWritten: a link in the place of the directory of what is being written is followed neither to write nor to clear up.
func TestLinkForWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	branches := filepath.Join(dir, ".git", "refs", "heads")
	foreign(t, branches)
	if err := os.Symlink(filepath.Join(".git", "refs", "heads"), filepath.Join(dir, partial)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, branches)
	d := openDir(t, dir)
	_, err := d.Now(t.Context())
	refused(t, "the time", err, filepath.Join(dir, partial))
	refused(t, "a blob", d.Create(t.Context(), "uid-1/a", nil), filepath.Join(dir, partial))
	if diff := cmp.Diff(before, contents(t, branches)); diff != "" {
		t.Error(diff)
	}
}

// TestLinkForSets: a link in the place of a bundle's Sets is not followed, and of what is there those that no record names go only
// where they are called as ours are.
func TestLinkForSets(t *testing.T) {
	dir := t.TempDir()
	work, r := filepath.Join(dir, "work"), storetest.Record(t, 1)
	owner := filepath.Join(dir, "uid-1", r.Owner)
	foreign(t, work)
	if err := errors.Join(os.MkdirAll(owner, 0o700), os.Symlink(filepath.Join("..", "..", "work"), filepath.Join(owner, sets))); err != nil {
		t.Fatal(err)
	}
	before := contents(t, work)
	s := open(t, openDir(t, dir))
	_, err := s.Put(t.Context(), r, storetest.Objects(1, "x"), "")
	refused(t, "a record", err, filepath.Join(owner, sets))
	j, err := s.journal(r.Owner, heads)
	if err != nil {
		t.Fatal(err)
	}
	j.collect(t.Context(), head{})
	if diff := cmp.Diff(before, contents(t, work)); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(os.Remove(filepath.Join(owner, sets)), os.Rename(work, filepath.Join(owner, sets))); err != nil {
		t.Fatal(err)
	}
	before = contents(t, owner)
	delete(before, filepath.Join(owner, sets, ourSet))
	j.collect(t.Context(), head{})
	if diff := cmp.Diff(before, contents(t, owner)); diff != "" {
		t.Error(diff)
	}
}

// TestDirectoryInGit: no records are kept in a repository's .git, whatever link leads there.
func TestDirectoryInGit(t *testing.T) {
	dir := t.TempDir()
	foreign(t, filepath.Join(dir, ".git"))
	if err := os.Symlink(".git", filepath.Join(dir, "releases")); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	for _, at := range []string{".git", "releases", ".git/new", "releases/new"} {
		if d, err := OpenDir(filepath.Join(dir, at)); err == nil || !strings.Contains(err.Error(), "is a part of .git") {
			_ = d.Close()
			t.Errorf("%s: %v", at, err)
		}
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestNoLinkIsFollowed: whatever link is put into a store's directory, at whatever level and wherever it leads to, nothing that is not the
// store's is read as its own, written or removed, and what no link is in the way of goes on.
func TestNoLinkIsFollowed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testseed.From(t), 1))
	for round := range 40 {
		dir, outside := t.TempDir(), t.TempDir()
		others := []string{filepath.Join(dir, ".git", "refs", "heads"), filepath.Join(dir, "work"), filepath.Join(dir, ".hidden"), outside}
		foreign(t, others...)
		r := storetest.Record(t, 1)
		s := open(t, openDir(t, dir))
		if err := errors.Join(revise(t.Context(), s, r), revise(t.Context(), s, storetest.Record(t, 2))); err != nil {
			t.Fatal(err)
		}
		planted := plant(t, rnd, dir, "uid-1/"+r.Owner, others)
		before := contents(t, others...)
		everything(t, rnd, dir, r.Owner)
		if diff := cmp.Diff(before, contents(t, others...)); diff != "" {
			t.Fatalf("round %d, links %s: %s", round, planted, diff)
		}
		for _, link := range planted {
			if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("round %d: the link %s itself has gone: %v", round, link, err)
			}
		}
	}
}

// plant puts links into a store's directory, in the place of what is there and of what is not.
func plant(t *testing.T, rnd *rand.Rand, dir, bundle string, others []string) (out []string) {
	t.Helper()
	places := []string{partial, nameplate, "uid-1", bundle, bundle + "/" + heads, bundle + "/" + locks, bundle + "/" + sets, bundle + "/" + holds,
		bundle + "/" + heads + "/" + ourEntry, bundle + "/" + heads + "/000000000003", bundle + "/" + sets + "/" + ourSet, bundle + "/" + locks + "/" + ourEntry,
		partial + "/" + ourPartial, "uid-1/other", "uid-1/other/" + heads}
	for range 1 + rnd.IntN(3) {
		link, to := places[rnd.IntN(len(places))], others[rnd.IntN(len(others))]
		at := filepath.Join(dir, link)
		if slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(link+"/", o+"/") || strings.HasPrefix(o+"/", link+"/") }) {
			continue
		}
		if rnd.IntN(3) == 0 {
			to = filepath.Join(to, []string{"main", ourSet, ourEntry, "empty", "nothing"}[rnd.IntN(5)])
		}
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o700)); err != nil {
			t.Fatal(err)
		}
		if rel, err := filepath.Rel(filepath.Dir(at), to); err == nil && rnd.IntN(2) == 0 {
			to = rel
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		out = append(out, link)
	}
	return out
}

// everything does what a store and its bucket can, in some order; how it ends is another matter.
func everything(t *testing.T, rnd *rand.Rand, dir, owner string) {
	t.Helper()
	ctx, d := t.Context(), openDir(t, dir)
	s := open(t, d)
	keys := []string{nameplate, "uid-1/" + owner + "/" + heads + "/" + ourEntry, "uid-1/" + owner + "/" + sets + "/" + ourSet, "uid-1/" + owner + "/" + sets + "/mine",
		"uid-1/" + owner + "/" + locks + "/000000000002", "uid-1/" + owner + "/" + locks, "uid-1/" + owner + "/empty", "uid-1/other/" + heads + "/mine", "uid-1"}
	j, err := s.journal(owner, heads)
	if err != nil {
		t.Fatal(err)
	}
	ops := []func(){
		func() { _, _ = d.Now(ctx) },
		func() { _, _ = d.List(ctx, "") },
		func() { _, _ = s.Place(ctx, true) },
		func() { _ = revise(ctx, s, storetest.Record(t, 3)) },
		func() { j.collect(ctx, head{}) },
		func() {
			if _, h, err := s.Current(ctx, owner); err == nil {
				_ = s.Delete(ctx, owner, h)
			}
		},
		func() {
			if l, err := s.Lock(ctx, owner, "ann", time.Minute); err == nil {
				_ = l.Unlock(ctx)
			}
		},
	}
	for _, key := range keys {
		ops = append(ops, func() {
			if data, err := d.Get(ctx, key, 1<<20); err == nil && filepath.Base(key) == string(data) {
				t.Errorf("%s: another file's content", key)
			}
		}, func() { _ = d.Create(ctx, key, []byte("ours")) }, func() { _ = d.Delete(ctx, key) }, func() {
			if list, err := d.List(ctx, key+"/"); err == nil && slices.ContainsFunc(list, func(e Entry) bool { return strings.HasSuffix(e.Key, "/main") }) {
				t.Errorf("%s: another directory is listed", key)
			}
		})
	}
	rnd.Shuffle(len(ops), func(i, k int) { ops[i], ops[k] = ops[k], ops[i] })
	for _, op := range ops {
		op()
	}
}
