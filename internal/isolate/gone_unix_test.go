//go:build unix

package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/health"
)

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// parent has a child that never ends, and says its id.
func parent() {
	self, _ := os.Executable()
	p := New(Options{Command: []string{self, asChild}, Build: "b", Environment: []string{"BUILD=b"}})
	k, err := p.start()
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(k.cmd.Process.Pid)
	_, _ = k.ask(neverDone{}, question{What: askVet, Rule: health.Check{Name: "loop"}}, nil)
}

// neverDone is a context.
type neverDone struct{}

func (neverDone) Deadline() (time.Time, bool) { return time.Time{}, false }
func (neverDone) Done() <-chan struct{}       { return nil }
func (neverDone) Err() error                  { return nil }
func (neverDone) Value(any) any               { return nil }

// TestParentKilled: a child ends with its parent, though it is in the middle of something that never does.
func TestParentKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), self(t), asParent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil || pid < 2 {
		t.Fatal(line, err, bad)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child is not there: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for range 3000 {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = kill(pid)
	t.Error("the child goes on without its parent")
}
