//go:build unix

package child_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/child"
)

// TestSaid: what a program says is passed on by whole lines, each made harmless, and does not go on without end.
func TestSaid(t *testing.T) {
	for want, pieces := range map[string][]string{
		"<one>\n<two>\n": {"o", "ne\ntw", "o"},
		"<0123456789>\n(it said more, which is left out)\n": {"01234", "56789", "more\n", "and more\n"},
		"<a>\n<b>\n": {"a\nb\n"},
		"":           {""},
	} {
		var got strings.Builder
		s := &child.Said{To: &got, Limit: 10, Clean: func(line string) string { return "<" + strings.TrimSuffix(line, "\n") + ">\n" }}
		for _, p := range pieces {
			if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
				t.Error(n, err)
			}
		}
		if s.End(); got.String() != want {
			t.Errorf("%q gives %q", pieces, &got)
		}
	}
}

// begun waits until a process has written its id into a file, and returns it; 0 is one that never began.
func begun(file string) int {
	for range 3000 {
		data, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && strings.HasSuffix(string(data), "\n") {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0
}

// gone waits until a process is gone, and reports whether it is; one that is not is ended.
func gone(pid int) bool {
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return false
}

// zombie: it has ended and nobody has asked for it yet.
func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(data), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}

// TestGrandchildren: what a program started ends with it when the context ends, though it keeps the output open; the
// outputs of one that has succeeded are not waited for without end.
func TestGrandchildren(t *testing.T) {
	for _, c := range []struct {
		name, script string
		ends         bool // by itself
	}{
		{"a child that hangs", "echo $$ > PID; exec sleep 300", false},
		{"a grandchild that keeps the output", "sleep 300 & echo $! > PID; wait", false},
		{"a grandchild that keeps the output, of a child that ended", "sleep 300 & echo $! > PID; echo done", true},
		{"a grandchild of a child that failed", "sleep 300 & echo $! > PID; exit 3", false},
		{"one that takes no signal", "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT HUP; sleep 300' & echo $! > PID; wait", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if !c.ends {
				go func() {
					begun(pid)
					cancel()
				}()
			}
			out := &child.Output{Limit: 100}
			cmd := child.New(ctx, "/bin/sh", "-c", strings.ReplaceAll(c.script, "PID", pid))
			cmd.Stdout = out
			start := time.Now()
			err := cmd.Run()
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("it took %s", took)
			}
			if c.ends {
				if n := begun(pid); err != nil || string(out.Bytes()) != "done\n" || n <= 0 || syscall.Kill(n, syscall.SIGKILL) != nil { // it lives on
					t.Errorf("%v %q", err, out.Bytes())
				}
				return
			}
			if n := begun(pid); err == nil || n == 0 || !gone(n) {
				t.Errorf("%v, and %d goes on", err, n)
			}
		})
	}
}

func TestOutputIsBounded(t *testing.T) {
	cmd := child.New(t.Context(), "/bin/sh", "-c", "exec yes")
	cmd.Stdout = &child.Output{Limit: 1000}
	start := time.Now()
	if err := cmd.Run(); err == nil || time.Since(start) > 2*time.Minute {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestNoSuchProgram(t *testing.T) {
	if err := child.New(t.Context(), "no-such-program-anywhere").Run(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
