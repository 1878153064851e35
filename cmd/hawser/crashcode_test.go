//go:build unix

package main

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestCrashIsNoExitCode: what Go's runtime ends ends by a signal, not with 2, which is one of our answers.
func TestCrashIsNoExitCode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := b.command(t.Context(), "registry", "login", "registry.example", "-u", "me", "--password-stdin")
	in, err := cmd.StdinPipe() // it waits for the password
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.CoreDump() {
		t.Errorf("ended with %v (exit %d)", status, exit.ExitCode())
	}
}
