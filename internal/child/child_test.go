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

// alive waits until the process whose id stands in a file is gone, or tells that it is still there.
func alive(t *testing.T, file string) bool {
	t.Helper()
	var pid int
	for range 100 {
		data, _ := os.ReadFile(file)
		if n, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			pid = n
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid == 0 {
		t.Fatal("nothing was started")
	}
	for range 200 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return true
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
		{"a child that hangs", "echo $$ > PID; exec sleep 60", false},
		{"a grandchild that keeps the output", "sleep 60 & echo $! > PID; wait", false},
		{"a grandchild that keeps the output, of a child that ended", "sleep 60 & echo $! > PID; echo done", true},
		{"a grandchild of a child that failed", "sleep 60 & echo $! > PID; exit 3", false},
		{"one that takes no signal", "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT HUP; sleep 60' & echo $! > PID; wait", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if c.ends {
				ctx = t.Context()
			}
			out := &child.Output{Limit: 100}
			cmd := child.New(ctx, "/bin/sh", "-c", strings.ReplaceAll(c.script, "PID", pid))
			cmd.Stdout = out
			start := time.Now()
			err := cmd.Run()
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if c.ends {
				if err != nil || string(out.Bytes()) != "done\n" || !alive(t, pid) { // alive also ends it
					t.Errorf("%v %q", err, out.Bytes())
				}
				return
			}
			if err == nil || alive(t, pid) {
				t.Errorf("%v, and it goes on", err)
			}
		})
	}
}

func TestOutputIsBounded(t *testing.T) {
	cmd := child.New(t.Context(), "/bin/sh", "-c", "exec yes")
	cmd.Stdout = &child.Output{Limit: 1000}
	start := time.Now()
	if err := cmd.Run(); err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestNoSuchProgram(t *testing.T) {
	if err := child.New(t.Context(), "no-such-program-anywhere").Run(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
