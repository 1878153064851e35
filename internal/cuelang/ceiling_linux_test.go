package cuelang_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

const envAllocates = "HAWSER_TEST_ALLOCATES"

// TestCeiling: one allocation that is over before the Watchdog looks does not take the machine's memory: the kernel refuses
// it, and what comes before and after an evaluation is not bounded.
func TestCeiling(t *testing.T) {
	if os.Getenv(envAllocates) != "" {
		w := cuelang.Watch(cuelang.WatchLimits{OwnBytes: 128 << 20}, func(diag.Finding) { os.Exit(3) })
		w.Enter("small")()
		before := make([]byte, 400<<20)
		leave := w.Enter("outer")
		w.Enter("inner")()
		large := strings.Repeat(strings.Repeat("a", 16<<20), 256)
		leave()
		t.Fatal(len(large), len(before))
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCeiling$")
	cmd.Env = append(os.Environ(), envAllocates+"=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	err := cmd.Run()
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if err == nil || used > 900 || time.Since(began) > time.Minute || !strings.Contains(said.String(), "out of memory") {
		t.Errorf("%s, %d MiB: %v\n%.400s", time.Since(began), used, err, said.String())
	}
}

// TestCeilingIsLifted: the limit is that of before when nothing is evaluated any more.
func TestCeilingIsLifted(t *testing.T) {
	limit := func() (l syscall.Rlimit) {
		if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	was := limit()
	w := cuelang.Watch(cuelang.WatchLimits{OwnBytes: 1 << 30}, func(f diag.Finding) { t.Error(f) })
	first, second := w.Enter("a"), w.Enter("b")
	if limit() == was {
		t.Error("there is no ceiling")
	}
	first()
	if limit() == was {
		t.Error("the first one that is over lifts it")
	}
	if second(); limit() != was {
		t.Errorf("%+v is left of %+v", limit(), was)
	}
}
