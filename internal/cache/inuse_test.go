package cache

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

const envUse = "TEST_USES_CACHE"

// TestUser is no test but the other process: it takes a blob and a tree from a cache, and says so; then it waits.
func TestUser(t *testing.T) {
	dir := os.Getenv(envUse)
	if dir == "" {
		return
	}
	c := Open(Options{Dir: dir})
	never := func(context.Context, io.Writer) error { return errors.New("it is not in the cache") }
	f, err := c.Blob(t.Context(), digestOf("blob"), never)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	key := Key{Digest: digestOf("tree-content"), Source: "oci://registry/x"}
	tree, err := c.Tree(t.Context(), key, (&origin{content: "tree-content"}).expect, func(context.Context, string) ([]byte, error) { return nil, errors.New("it is not in the cache") })
	if err != nil || len(tree.Files) == 0 {
		t.Fatal(tree, err)
	}
	_, _ = os.Stdout.WriteString("uses\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = c.Close()
}

// user starts another process that uses a cache, and waits until it does. end ends it, as it should end or killed.
func user(t *testing.T, dir string) (end func(kill bool)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUser$", "-test.count=1")
	cmd.Env, cmd.Stderr = append(os.Environ(), envUse+"="+dir), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "uses\n" {
		rest, _ := io.ReadAll(out)
		t.Fatalf("%q %v %s", line, err, rest)
	}
	return func(kill bool) {
		if kill {
			_ = cmd.Process.Kill()
		}
		_ = in.Close()
		if err := cmd.Wait(); (err != nil) != kill {
			t.Errorf("the other process: %v", err)
		}
	}
}

// What another process uses is left and counted, for as long as it uses it: one that was killed uses nothing, and leaves nothing.
func TestPruneLeavesWhatIsUsed(t *testing.T) {
	for _, kill := range []bool{false, true} {
		dir := t.TempDir()
		first := Open(Options{Dir: dir})
		blob(t, first, &origin{content: "blob"})
		blob(t, first, &origin{content: "unused"})
		treeOf(t, first, &origin{content: "tree-content"})
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		end := user(t, dir)
		c := Open(Options{Dir: dir})
		got, err := c.Prune(t.Context(), Policy{All: true}, time.Now())
		if err != nil || len(got.Entries) != 1 || got.Entries[0].Digest != digestOf("unused") || got.InUse != 2 || got.Unlocked != 0 {
			t.Errorf("while it is used: %+v %v", got, err)
		}
		if text := got.Left(); text != "; 2 entries in use left" {
			t.Error(text)
		}
		second := user(t, dir) // it needs them yet, and finds them
		end(kill)
		if got, err := c.Prune(t.Context(), Policy{All: true}, time.Now()); err != nil || len(got.Entries) != 0 || got.InUse != 2 {
			t.Errorf("while another one uses it: %+v %v", got, err)
		}
		second(kill)
		if got, err := c.Prune(t.Context(), Policy{All: true}, time.Now()); err != nil || len(got.Entries) != 2 || got.InUse != 0 || got.Left() != "" {
			t.Errorf("killed %t: afterwards: %+v %v", kill, got, err)
		}
		if left, err := paths(filepath.Join(dir, "locks")); err != nil || len(left) > 0 {
			t.Errorf("locks: %q %v", left, err)
		}
	}
}

// Where there are no locks, what is younger than a day is left, and that is said.
func TestPruneWithoutLocks(t *testing.T) {
	c := Open(Options{Dir: t.TempDir()})
	c.try = func(*flock.Flock, func(*flock.Flock) (bool, error)) (bool, error) {
		return false, errors.ErrUnsupported
	}
	blob(t, c, &origin{content: "young"})
	blob(t, c, &origin{content: "old"})
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Join(c.dir, "blobs", "sha256", digestOf("old")[7:]), old, old); err != nil {
		t.Fatal(err)
	}
	got, err := c.Prune(t.Context(), Policy{All: true}, time.Now())
	if err != nil || len(got.Entries) != 1 || got.Entries[0].Digest != digestOf("old") || got.Unlocked != 1 || got.InUse != 0 {
		t.Errorf("%+v %v", got, err)
	}
	if text := got.Left(); !strings.Contains(text, "1 entry younger than a day") || !strings.Contains(text, "no locks") {
		t.Error(text)
	}
}

// A lock file is a file: what else stands there is not waited for, and locks nothing.
func TestLockThatIsNone(t *testing.T) {
	c := Open(Options{Dir: t.TempDir()})
	at := filepath.Join(c.dir, "blobs", "sha256", digestOf("blob")[7:])
	if err := os.MkdirAll(c.lockOf(at), 0o755); err != nil {
		t.Fatal(err)
	}
	blob(t, c, &origin{content: "blob"})
	if got, err := c.Prune(t.Context(), Policy{All: true}, time.Now().Add(25*time.Hour)); err != nil || len(got.Entries) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}
