package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFailedUpLeavesNothing(t *testing.T) {
	b := newBox(t)
	b.fails(t, "unknown api groups", "up", "--clusters", "2", "--workloads=false", "--runtime-config", "no.such.group/v1=true")
	b.nothingLeft(t)
}

func TestFailedGrowLeavesTheRest(t *testing.T) {
	b := newBox(t)
	b.ok(t, "up", "--clusters", "1", "--workloads=false")
	b.fails(t, "unknown api groups", "up", "--clusters", "2", "--runtime-config", "no.such.group/v1=true")
	if got := b.status(t); len(got.Clusters) != 1 || got.Clusters[0].Phase != "running" {
		t.Errorf("status is %+v", got)
	}
	if _, err := os.Stat(b.dir("clusters", "c2")); !os.IsNotExist(err) {
		t.Errorf("the files of c2 are there: %v", err)
	}
	if _, err := namespaces(t, b.client(t, "c1")); err != nil {
		t.Error(err)
	}
	b.ok(t, "down")
	b.nothingLeft(t)
}

func TestInterruptedUpLeavesNothing(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			b := newBox(t)
			cmd := b.command("up", "--clusters", "2", "--workloads=false")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, 20*time.Second, "a control plane begun", func() bool { return len(processes(t, b.dir("clusters"))) > 0 })
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("up succeeded; it was interrupted")
			}
			if sig == syscall.SIGKILL {
				// Nobody is left who could tell the supervisor to go, but it takes back what was not finished.
				eventually(t, 15*time.Second, "the clusters gone", func() bool { return len(processes(t, b.dir("clusters"))) == 0 })
				b.ok(t, "down")
			}
			b.nothingLeft(t)
		})
	}
}

func TestDeadSupervisor(t *testing.T) {
	b := newBox(t)
	b.ok(t, "up", "--clusters", "2", "--workloads=false")
	b.ok(t, "pause", "c1") // a suspended process must die too
	s := b.status(t)
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "all processes gone", func() bool { return len(processes(t, b.root)) == 0 })
	b.fails(t, "is not running", "stop", "c2")
	b.ok(t, "down")
	b.nothingLeft(t)
}

// TestAttachedAfterItsSupervisorDied starts again what could not tidy up.
func TestAttachedAfterItsSupervisorDied(t *testing.T) {
	b := newBox(t)
	for range 2 {
		cmd := b.command("up", "--attached", "--clusters", "1", "--workloads=false")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitReady(t, b)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		eventually(t, 15*time.Second, "the cluster gone", func() bool { return len(processes(t, b.root)) == 0 })
	}
	b.ok(t, "down")
	b.nothingLeft(t)
}

func TestAttachedEndsWithItsPipe(t *testing.T) {
	b := newBox(t)
	cmd := b.command("up", "--attached", "--clusters", "1", "--workloads=false")
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitReady(t, b)
	b.fails(t, "runs already", "up", "--attached")
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("up --attached: %v", err)
	}
	b.nothingLeft(t)
}

// TestAttachedEndsWithItsParent kills a parent that gives a pipe, and one that gives none.
func TestAttachedEndsWithItsParent(t *testing.T) {
	for _, stdin := range []string{"pipe", "null"} {
		t.Run(stdin, func(t *testing.T) {
			b := newBox(t)
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), parentEnv+"="+stdin, "SANDBOX_E2E_ARGS="+strings.Join(
				append([]string{binary}, "up", "--attached", "--clusters", "1", "--workloads=false", "--state-dir", b.root, "--name", b.name), "\n"))
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			waitReady(t, b)
			b.ok(t, "pause", "c1")
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed
			b.nothingLeft(t)
		})
	}
}

func waitReady(t *testing.T, b box) {
	t.Helper()
	eventually(t, time.Minute, "the attached sandbox ready", func() bool {
		out, err := b.run("status")
		return err == nil && strings.Contains(out, "running")
	})
}

// playParent starts an attached sandbox and waits to be killed.
func playParent() {
	args := strings.Split(os.Getenv("SANDBOX_E2E_ARGS"), "\n")
	cmd := exec.Command(args[0], args[1:]...)
	if os.Getenv(parentEnv) == "pipe" {
		if _, err := cmd.StdinPipe(); err != nil {
			os.Exit(1)
		}
	}
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}
