//go:build unix

package oci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// TestHangingHelper: a credential helper that hangs is ended with what it started, when its caller gives up and when it
// takes too long; one that left something behind that keeps its output holds nobody up.
func TestHangingHelper(t *testing.T) {
	const answer = `echo '{"ServerURL":"r","Username":"me","Secret":"s"}'`
	for name, c := range map[string]struct {
		script  string
		givesUp bool // its caller, when it has begun
		limit   time.Duration
		want    string // of the error
	}{
		"the caller gives up":        {"sleep 300 & echo $! > PID; wait", true, 10 * time.Minute, "cancel"},
		"it takes too long":          {"sleep 300 & echo $! > PID; wait", false, time.Second, "docker-credential-test gave no answer within 1s"},
		"it leaves something behind": {"sleep 300 & echo $! > PID; " + answer, false, 10 * time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			helper(t, strings.ReplaceAll(c.script, "PID", pid)+"\n")
			store, err := openDocker(c.limit)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.givesUp {
				go func() {
					for started(pid) == 0 && ctx.Err() == nil {
						time.Sleep(10 * time.Millisecond)
					}
					cancel()
				}()
			}
			began := time.Now()
			got, err := store.Get(ctx, "r")
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %s", took)
			}
			if c.want == "" && (err != nil || got.Password != "s") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v %v", got, err)
			}
			switch n := started(pid); {
			case n <= 0: // it was ended before it started anything
			case c.want == "":
				_ = syscall.Kill(n, syscall.SIGKILL)
			case leftOver(n):
				t.Error("what it started goes on")
			}
		})
	}
}

// TestHangingHelperInAFetch: Ctrl-C reaches a helper that is asked on the way to a registry.
func TestHangingHelperInAFetch(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{User: "me", Password: "s3cret"})
	helper(t, "sleep 300 & wait\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	_, err := client("").Resolve(ctx, module.Reference{URL: r.OCI("x"), Version: "1.x"})
	if took := time.Since(began); err == nil || took > 2*time.Minute {
		t.Errorf("%v after %s", err, took)
	}
}

// TestDockerConfig: which helper is asked, and what Docker's configuration may not be.
func TestDockerConfig(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(dir, "config.json")
	for text, want := range map[string]string{
		`{"credsStore":"all","credHelpers":{"r":"one"}}`: "docker-credential-one",
		`{"credsStore":"all"}`:                           "docker-credential-all",
		`{"credHelpers":{"other":"one"}}`:                "",
		`{}`:                                             "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openDocker(time.Second)
		if err != nil || s.helper("r") != want {
			t.Errorf("%s: %v %q", text, err, s.helper("r"))
		}
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := openDocker(time.Second); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
		t.Error(err)
	}
}

// started is the process that a helper has started and whose id it has written into a file; 0 is none.
func started(file string) int {
	text, _ := os.ReadFile(file)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.HasSuffix(string(text), "\n") {
		return pid
	}
	return 0
}

// leftOver reports whether the process goes on, and ends it.
func leftOver(pid int) bool {
	for range 1500 {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return true
}
