//go:build unix

package main

import (
	"errors"
	"net"
	"os/exec"
	"syscall"
	"testing"
)

// TestCrashIsNoExitCode: what Go's runtime ends ends by a signal, not with 2, which is one of our answers.
func TestCrashIsNoExitCode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers there: it waits
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	cmd := b.command(t.Context(), "list", "--kube-context", "staging", "--kubeconfig", b.kubeconfig("staging", "https://"+silent.Addr().String(), nil))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
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
