//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asRunner makes the test binary a runner: it starts one process, waits for it, and writes what it cost to file 3. A
// process's greatest memory, as the kernel counts it, is never below that of the process that started it: the runner
// is small, the test is not.
const asRunner = "HAWSER_BENCH_RUNNER"

// cost of one process.
type cost struct {
	Wall time.Duration
	CPU  time.Duration
	RSS  int64 // bytes, at most
	Code int
}

// runner is the runner's main.
func runner(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := time.Now()
	err := cmd.Run()
	c := cost{Wall: time.Since(start)}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c.Code = cmd.ProcessState.ExitCode()
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.RSS = usage.Maxrss << 10
	}
	if err := json.NewEncoder(os.NewFile(3, "cost")).Encode(c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// user is somebody with a directory and a shell.
type user struct {
	t   *testing.T
	dir string
	env []string
}

func newUser(t *testing.T, kubeconfig string) *user {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "USER=bench", "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "KUBECONFIG=" + kubeconfig}
	return &user{t: t, dir: dir, env: env}
}

// write puts a file into the directory.
func (u *user) write(name, text string) {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
}

// ran is one finished run of the product.
type ran struct {
	cost
	Stdout, Stderr string
}

// hawser runs the product and fails the test unless it exits with 0.
func (u *user) hawser(args ...string) ran {
	u.t.Helper()
	r := u.watched(nil, args...)
	if r.Code != 0 {
		u.t.Fatalf("hawser %s: exit %d after %s\n%s\n%s", strings.Join(args, " "), r.Code, r.Wall, tail(r.Stdout), tail(r.Stderr))
	}
	return r
}

// watched runs the product and hands over stdout line by line as it comes; watch may be nil.
func (u *user) watched(watch func(line []byte), args ...string) ran {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 5*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	costs, w, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	defer func() { _ = costs.Close() }()
	cmd := exec.CommandContext(ctx, self, append([]string{binary}, args...)...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = u.dir, append(u.env, asRunner+"=1"), []*os.File{w}
	var out lineWriter
	var errs bytes.Buffer
	out.each = watch
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	_ = w.Close()
	r := ran{Stdout: out.all.String(), Stderr: errs.String()}
	if err != nil {
		u.t.Fatalf("hawser %s: %v\n%s\n%s", strings.Join(args, " "), err, tail(r.Stdout), tail(r.Stderr))
	}
	if err := json.NewDecoder(costs).Decode(&r.cost); err != nil && !errors.Is(err, io.EOF) {
		u.t.Fatal(err)
	}
	return r
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// lineWriter keeps what is written, and hands over whole lines.
type lineWriter struct {
	all  bytes.Buffer
	rest []byte
	each func([]byte)
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	if l.each != nil {
		l.rest = append(l.rest, p...)
		for {
			i := bytes.IndexByte(l.rest, '\n')
			if i < 0 {
				break
			}
			l.each(l.rest[:i])
			l.rest = l.rest[i+1:]
		}
	}
	return l.all.Write(p)
}

// event is what the bench reads of `-o json`.
type event struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Cluster string    `json:"cluster"`
	Status  string    `json:"status"`
	Done    int       `json:"done"`
}

// events of a run with -o json.
func (r ran) events(t *testing.T) []event {
	t.Helper()
	var out []event
	for dec := json.NewDecoder(strings.NewReader(r.Stdout)); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%v\n%s", err, tail(r.Stdout))
		}
		out = append(out, e)
	}
}

// renders of a run with -o json.
func (r ran) renders(t *testing.T) int {
	t.Helper()
	for _, e := range r.events(t) {
		if e.Type == "rendered" {
			return e.Done
		}
	}
	t.Fatalf("no rendered event\n%s", tail(r.Stdout))
	return 0
}
