package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/diag"
)

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// origin gives content and counts how often it was asked.
type origin struct {
	content string
	asked   atomic.Int64
}

func (o *origin) fetch(_ context.Context, w io.Writer) error {
	o.asked.Add(1)
	_, err := io.WriteString(w, o.content)
	return err
}

func (o *origin) build(_ context.Context, dir string) ([]byte, error) {
	o.asked.Add(1)
	return []byte("note"), errors.Join(os.MkdirAll(filepath.Join(dir, "sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "sub", "b"), []byte(o.content), 0o644), os.WriteFile(filepath.Join(dir, "a"), nil, 0o644))
}

// expect is what build makes.
func (o *origin) expect(context.Context, []byte) ([]archive.File, error) {
	return []archive.File{{Path: "a", SHA256: digestOf("")[7:]}, {Path: "sub/b", Size: int64(len(o.content)), SHA256: digestOf(o.content)[7:]}}, nil
}

func blob(t *testing.T, c *Cache, o *origin) string {
	t.Helper()
	f, err := c.Blob(t.Context(), digestOf(o.content), o.fetch)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func treeOf(t *testing.T, c *Cache, o *origin) Tree {
	t.Helper()
	tree, err := c.Tree(t.Context(), Key{Digest: digestOf(o.content), Source: "oci://registry/x"}, o.expect, o.build)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(tree.Root, "sub", "b"))
	if err != nil || string(data) != o.content {
		t.Fatalf("content %q, %v", data, err)
	}
	if d := cmp.Diff([]string{"a", "sub/b"}, tree.Files); d != "" {
		t.Error(d)
	}
	return tree
}

func TestBlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	o := &origin{content: "hello"}
	for range 3 {
		if got := blob(t, Open(Options{Dir: dir}), o); got != "hello" {
			t.Errorf("got %q", got)
		}
	}
	if n := o.asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	at := filepath.Join(dir, "blobs", "sha256", digestOf("hello")[7:])
	for name, damage := range map[string]func() error{
		"changed": func() error { return os.WriteFile(at, []byte("hellO"), 0o644) },
		"cut off": func() error { return os.Truncate(at, 2) },
		"removed": func() error { return os.Remove(at) },
	} {
		before := o.asked.Load()
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if got := blob(t, Open(Options{Dir: dir}), o); got != "hello" || o.asked.Load() != before+1 {
			t.Errorf("%s: got %q after %d more questions", name, got, o.asked.Load()-before)
		}
	}
}

// TestDigestIsNotCut: what is no digest is quoted whole, or not at all: what is left of a secret would not be recognised.
func TestDigestIsNotCut(t *testing.T) {
	secret := strings.Repeat("x", 95) + "hunter2-canary"
	for text, whole := range map[string]bool{secret: true, secret + strings.Repeat("y", 200): false} {
		if _, err := hexOf(text); err == nil || strings.Contains(err.Error(), text) != whole || !whole && strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
}

func TestBlobRefuses(t *testing.T) {
	dir := t.TempDir()
	c := Open(Options{Dir: dir})
	liar := &origin{content: "something else"}
	_, err := c.Blob(t.Context(), digestOf("hello"), liar.fetch)
	mismatch, ok := errors.AsType[*MismatchError](err)
	if !ok || mismatch.Want != digestOf("hello") || mismatch.Got != digestOf(liar.content) {
		t.Errorf("another digest: %v", err)
	}
	broken := errors.New("connection lost")
	if _, err := c.Blob(t.Context(), digestOf("hello"), func(context.Context, io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("fetch failed: %v", err)
	}
	for _, digest := range []string{"", "sha256:abc", "md5:" + digestOf("x")[7:], "sha256:../../../../etc/passwd", digestOf("x") + "\n"} {
		if _, err := c.Blob(t.Context(), digest, liar.fetch); err == nil {
			t.Errorf("digest %q was taken", digest)
		}
		if _, err := c.Tree(t.Context(), Key{Digest: digest}, liar.expect, liar.build); err == nil {
			t.Errorf("tree digest %q was taken", digest)
		}
	}
	nothingLeft(t, dir)
}

func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left, err := paths(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	o := &origin{content: "hello"}
	c := Open(Options{Dir: dir})
	first := treeOf(t, c, o)
	if again := treeOf(t, c, o); again.Root != first.Root || string(again.Note) != "note" || o.asked.Load() != 1 {
		t.Errorf("again: %+v, built %d times", again, o.asked.Load())
	}
	at := filepath.Join(dir, "trees", "sha256", digestOf("hello")[7:])
	files, inventory := filepath.Join(at, filesDir), filepath.Join(at, inventoryFile)
	for name, damage := range map[string]func() error{
		"nothing":           func() error { return nil },
		"changed file":      func() error { return os.WriteFile(filepath.Join(files, "sub", "b"), []byte("hellO"), 0o644) },
		"missing file":      func() error { return os.Remove(filepath.Join(files, "a")) },
		"another file":      func() error { return os.WriteFile(filepath.Join(files, "c"), nil, 0o644) },
		"link":              func() error { return os.Symlink("a", filepath.Join(files, "link")) },
		"missing inventory": func() error { return os.Remove(inventory) },
		"damaged inventory": func() error { return os.WriteFile(inventory, []byte("{"), 0o644) },
		"changed inventory": func() error {
			data, err := os.ReadFile(inventory)
			return errors.Join(err, os.WriteFile(inventory, bytes.Replace(data, []byte("registry"), []byte("rEgistry"), 1), 0o644))
		},
		"poisoned": func() error { // a changed file with an inventory that fits
			inv, err := readInventory(at)
			if err != nil {
				return err
			}
			inv.Files[1] = entry{"sub/b", 4, digestOf("evil")[7:]}
			inv.Sum = inv.sum()
			data, err := json.Marshal(inv)
			return errors.Join(err, os.WriteFile(inventory, data, 0o644), os.WriteFile(filepath.Join(files, "sub", "b"), []byte("evil"), 0o644))
		},
	} {
		before := o.asked.Load()
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		tree := treeOf(t, Open(Options{Dir: dir}), o)
		if built := o.asked.Load() - before; built != 1 && name != "nothing" || built != 0 && name == "nothing" {
			t.Errorf("%s: built %d times", name, built)
		}
		if string(tree.Note) != "note" {
			t.Errorf("%s: note %q", name, tree.Note)
		}
	}
	other, err := c.Tree(t.Context(), Key{Digest: digestOf("hello"), Variant: "other"}, (&origin{content: "other"}).expect, (&origin{content: "other"}).build)
	if err != nil || other.Root == first.Root {
		t.Errorf("a variant: %v %v", other.Root, err)
	}
	broken := errors.New("no")
	if _, err := c.Tree(t.Context(), Key{Digest: digestOf("z")}, o.expect, func(context.Context, string) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("build failed: %v", err)
	}
	nothingLeft(t, dir)
}

// TestCacheThatIsWrittenMeanwhile: what others do to the cache while it is verified, and after it, changes nothing of what is
// used: not of a tree, not of a blob, whether it was there before or is put there now.
func TestCacheThatIsWrittenMeanwhile(t *testing.T) {
	dir := t.TempDir()
	o := &origin{content: "hello"}
	evil := func() {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == inventoryFile {
				return err
			}
			return os.WriteFile(p, []byte("evil!"), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		c := Open(Options{Dir: dir})
		expect := func(ctx context.Context, note []byte) ([]archive.File, error) {
			defer evil() // the names are compared already, or will be
			return o.expect(ctx, note)
		}
		build := func(ctx context.Context, to string) ([]byte, error) {
			note, err := o.build(ctx, to)
			evil()
			return note, err
		}
		f, err := c.Blob(t.Context(), digestOf("hello"), o.fetch)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := c.Tree(t.Context(), Key{Digest: digestOf("hello")}, expect, build)
		if err != nil {
			t.Fatal(err)
		}
		evil()
		again, err := c.Tree(t.Context(), Key{Digest: digestOf("hello")}, expect, build)
		if err != nil || again.Root != tree.Root {
			t.Errorf("%+v %v", again, err)
		}
		data, err := os.ReadFile(filepath.Join(tree.Root, "sub", "b"))
		if err != nil || string(data) != "hello" {
			t.Errorf("the tree has %q, %v", data, err)
		}
		data, err = io.ReadAll(f)
		if err != nil || string(data) != "hello" {
			t.Errorf("the blob has %q, %v", data, err)
		}
		if err := errors.Join(f.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if got := blob(t, Open(Options{Dir: dir}), o); got != "hello" {
			t.Errorf("got %q", got)
		}
		treeOf(t, Open(Options{Dir: dir}), o) // the next run has it again
	}
}

// Where nothing can be kept, everything works, says so once, and is gone after Close.
func TestUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"below a file": filepath.Join(file, "cache"), "none": ""} {
		var said []diag.Finding
		c := Open(Options{Dir: dir, Warn: func(f diag.Finding) { said = append(said, f) }})
		o := &origin{content: "hello"}
		for range 2 {
			if got := blob(t, c, o); got != "hello" {
				t.Errorf("%s: got %q", name, got)
			}
		}
		tree := treeOf(t, c, o)
		treeOf(t, c, o)
		if dir != "" && (len(said) != 1 || said[0].Code != "cache-unusable" || said[0].Fix == "") {
			t.Errorf("%s: said %v", name, said)
		}
		if dir == "" && said != nil {
			t.Errorf("%s: said %v", name, said)
		}
		if list, err := c.List(t.Context()); len(list) > 0 || dir == "" && err != nil {
			t.Errorf("%s: list %v %v", name, list, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(tree.Root); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the tree is still there: %v", name, err)
		}
	}
}

// A full disk is a finding that says what to do.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	c := Open(Options{Dir: dir})
	c.create = func() (*os.File, error) {
		return nil, &fs.PathError{Op: "write", Path: dir, Err: syscall.ENOSPC}
	}
	_, err := c.Blob(t.Context(), digestOf("x"), (&origin{content: "x"}).fetch)
	if found := diag.From(err, ""); len(found) != 1 || found[0].Code != "cache-full" || found[0].Fix == "" {
		t.Errorf("blob: %v", err)
	}
	_, err = c.Tree(t.Context(), Key{Digest: digestOf("x")}, nil, func(context.Context, string) ([]byte, error) {
		return nil, fmt.Errorf("extract: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	})
	if found := diag.From(err, ""); len(found) != 1 || found[0].Code != "temporary-full" {
		t.Errorf("tree: %v", err)
	}
	nothingLeft(t, dir)
}

// Goroutines build one tree once; a waiting one can be cancelled.
func TestTogether(t *testing.T) {
	c, o := Open(Options{Dir: t.TempDir()}), &origin{content: "hello"}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := c.Tree(t.Context(), Key{Digest: digestOf("hello")}, o.expect, o.build); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := o.asked.Load(); n != 1 {
		t.Errorf("built %d times", n)
	}
	begun, end := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		_, _ = c.Tree(t.Context(), Key{Digest: digestOf("slow")}, nil, func(context.Context, string) ([]byte, error) {
			close(begun)
			<-end
			return nil, errors.New("slow")
		})
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Tree(ctx, Key{Digest: digestOf("slow")}, o.expect, o.build); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting and cancelled: %v", err)
	}
	close(end)
	wg.Wait()
}

// Processes that make the same things at once all get what they asked for.
func TestProcesses(t *testing.T) {
	dir := os.Getenv("HAWSER_TEST_CACHE")
	if dir != "" {
		for range 20 {
			c, o := Open(Options{Dir: dir}), &origin{content: "hello"}
			blob(t, c, o)
			treeOf(t, c, o)
		}
		return
	}
	dir = t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
			cmd.Env = append(os.Environ(), "HAWSER_TEST_CACHE="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	nothingLeft(t, dir)
}

func TestListAndPrune(t *testing.T) {
	dir := t.TempDir()
	c := Open(Options{Dir: dir})
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	age := func(at string, by time.Duration) {
		if err := os.Chtimes(at, now.Add(-by), now.Add(-by)); err != nil {
			t.Fatal(err)
		}
	}
	blob(t, c, &origin{content: "blob"})
	treeOf(t, c, &origin{content: "tree-content"})
	age(filepath.Join(dir, "blobs", "sha256", digestOf("blob")[7:]), time.Hour)
	age(filepath.Join(dir, "trees", "sha256", digestOf("tree-content")[7:], inventoryFile), 48*time.Hour)
	for name, by := range map[string]time.Duration{"tree-given-up": 25 * time.Hour, "tree-under-way": time.Minute} {
		if err := os.MkdirAll(filepath.Join(dir, "tmp", name), 0o755); err != nil {
			t.Fatal(err)
		}
		age(filepath.Join(dir, "tmp", name), by)
	}
	list, err := c.List(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("list: %v %v", list, err)
	}
	if e := list[0]; e.Kind != Blob || e.Digest != digestOf("blob") || e.Bytes != 4 || !e.Used.Equal(now.Add(-time.Hour)) {
		t.Errorf("blob: %+v", e)
	}
	if e := list[1]; e.Kind != Files || e.Digest != digestOf("tree-content") || e.Bytes != 12 || e.Source != "oci://registry/x" {
		t.Errorf("tree: %+v", e)
	}
	if gone, err := c.Prune(t.Context(), Policy{}, now); err != nil || len(gone.Entries) != 0 {
		t.Errorf("nothing asked: %v %v", gone, err)
	}
	if left, _ := paths(filepath.Join(dir, "tmp")); len(left) != 1 || filepath.Base(left[0]) != "tree-under-way" {
		t.Errorf("in tmp: %v", left)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.Prune(t.Context(), Policy{OlderThan: 24 * time.Hour}, now); err != nil || len(gone.Entries) != 1 || gone.Entries[0].Kind != Files {
		t.Errorf("by age: %v %v", gone, err)
	}
	if gone, err := c.Prune(t.Context(), Policy{All: true}, now); err != nil || len(gone.Entries) != 1 {
		t.Errorf("all: %v %v", gone, err)
	}
	if list, err := c.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("after all: %v %v", list, err)
	}
}

func TestChoose(t *testing.T) {
	now := time.Unix(1e9, 0)
	entries := []Entry{{Digest: "new", Bytes: 10, Used: now}, {Digest: "mid", Bytes: 100, Used: now.Add(-time.Hour)}, {Digest: "old", Bytes: 1, Used: now.Add(-2 * time.Hour)}}
	for name, c := range map[string]struct {
		policy Policy
		want   []string
	}{
		"nothing":         {Policy{}, nil},
		"all":             {Policy{All: true}, []string{"new", "mid", "old"}},
		"age":             {Policy{OlderThan: 90 * time.Minute}, []string{"old"}},
		"size":            {Policy{MaxBytes: 110}, []string{"old"}},
		"size, in order":  {Policy{MaxBytes: 50}, []string{"mid", "old"}},
		"age and size":    {Policy{OlderThan: 90 * time.Minute, MaxBytes: 1}, []string{"new", "mid", "old"}},
		"nothing too big": {Policy{MaxBytes: 111}, nil},
	} {
		var got []string
		for _, e := range choose(entries, c.policy, now) {
			got = append(got, e.Digest)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestDir(t *testing.T) {
	if got := Dir(func(string) string { return "/somewhere" }); got != "/somewhere" {
		t.Errorf("by variable: %q", got)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if got := Dir(func(string) string { return "" }); got == "" || filepath.Base(got) != "hawser" {
		t.Errorf("by default: %q", got)
	}
}

// TestFilled: what a cache keeps is known in each of the directories that are named and in one that looks so elsewhere, by every link and
// spelling, and so are the temporary files of its processes.
func TestFilled(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	tree := "trees/sha256/" + strings.Repeat("a1", 32) + "/files/kc.yaml"
	for _, name := range []string{"cache/x.yaml", "old/" + tree, "old/" + strings.Replace(tree, "/files", "-chart/files", 1), "hawser-12/kc.yaml", "d/.hawser-1/new/kc.yaml", "own/hawser-1/kc.yaml", "own/trees/kc.yaml",
		"old/gomod/cache/download/x/@v/v1.info", "older/documents/sha512/00/kc", "older/sigstore/x", "home/.cache/hawser/tmp/tree-1/kc"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(at("cache"), at("link")), os.Symlink(at("old/"+tree), at("own/link.yaml"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", top)
	t.Setenv("HOME", at("home"))
	t.Setenv("XDG_CACHE_HOME", at("elsewhere"))
	for name, want := range map[string]bool{
		"cache/x.yaml": true, "link/x.yaml": true, "own/../cache/x.yaml": true, "cache/gone/x.yaml": true, "old/" + tree: true, "old/" + strings.Replace(tree, "/files", "-chart/files", 1): true,
		"own/link.yaml": true, "hawser-12/kc.yaml": true, "d/.hawser-1/new/kc.yaml": true, "own/hawser-1/kc.yaml": false, "own/trees/kc.yaml": false, "cache.yaml": false,
		"old/gomod/cache/download/x/@v/v1.info": true, "older/documents/sha512/00/kc": true, "older/sigstore/x": true, "home/.cache/hawser/tmp/tree-1/kc": true, "home/kc": false,
	} {
		if got := Filled(at(name), "", at("gone"), at("link")); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
