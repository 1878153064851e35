//go:build linux || darwin

package blob

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

const envFullDisk = "HAWSER_TEST_FULL_DISK"

// TestFullDisk: a disk takes a part of what is written and no more. What was there stays whole, nothing is left half-written, and when
// there is room the next run goes on.
func TestFullDisk(t *testing.T) {
	if os.Getenv(envFullDisk) == "" { // in a process of its own: it cannot write anything meanwhile
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.count=1")
		cmd.Env = append(os.Environ(), envFullDisk+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := openDir(t, t.TempDir())
	s := open(t, dir)
	first, second := storetest.Record(t, 1), storetest.Record(t, 2)
	if err := revise(t.Context(), s, first); err != nil {
		t.Fatal(err)
	}
	_, h, err := s.Current(t.Context(), first.Owner)
	if err != nil {
		t.Fatal(err)
	}
	before, err := dir.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []uint64{0, 1, 100, 600} {
		_, err := limited(t, room, func() (release.RecordVersion, error) {
			return s.Put(t.Context(), second, storetest.Objects(50, "big"), h)
		})
		if err == nil {
			t.Fatalf("written in %d bytes", room)
		}
		if now := whole(t, s, first.Owner); now.Revision != 1 {
			t.Fatalf("room of %d: revision %d", room, now.Revision)
		}
		after, err := dir.List(t.Context(), "")
		if err != nil || len(after) > len(before)+1 { // a Set for a head that never came may be there
			t.Fatalf("room of %d: %d blobs after %d, %v", room, len(after), len(before), err)
		}
		before = after
	}
	for n := 2; n <= 4; n++ {
		if err := revise(t.Context(), s, storetest.Record(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	whole(t, s, first.Owner)
	orphans(t, s, first.Owner)
}

// limited does something while no file can have more bytes than room.
func limited[T any](t *testing.T, room uint64, do func() (T, error)) (T, error) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	small := old
	small.Cur = room
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}()
	return do()
}
