//go:build unix

package main

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bomb is what one process is given: files by name, "-" being its standard input, arguments, and more of an environment.
type bomb struct {
	files map[string]string
	args  string
	env   []string
	// want is a part of what the process has to say, which shows that it read the bomb; "" where it does not matter.
	want string
}

func bombIn(files map[string]string, args string) bomb { return bomb{files: files, args: args} }

func bombOf(name, text, args string) bomb { return bombIn(map[string]string{name: text}, args) }

// says gives what the process has to say.
func (b bomb) says(want string) bomb {
	b.want = want
	return b
}

// with gives more of an environment.
func (b bomb) with(env ...string) bomb {
	b.env = append(b.env, env...)
	return b
}

// What a process may take: memory, and a minute of every processor. It is given longer by the clock, as others work as well.
const (
	bombBytes = 1 << 30
	bombTime  = time.Minute
	bombClock = 10 * time.Minute
)

// explode runs the process, which has to end by itself, with an exit code of ours, within what it may take. A failure says again what
// again says.
func (b bomb) explode(t *testing.T, again string) {
	t.Helper()
	at := newBench(t)
	at.env = append(at.env, b.env...)
	at.write("b.yaml", bombBundle)
	at.write("m/ok.yaml", bombObject)
	at.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	for file, text := range b.files {
		if len(text) > 1<<20 {
			t.Fatalf("%s has %d bytes", file, len(text))
		}
		if file != "-" {
			at.write(file, text)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), bombClock)
	defer cancel()
	var said bytes.Buffer
	cmd := at.command(ctx, strings.Fields(b.args)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(b.files["-"]), &said, &said
	_ = cmd.Run() // most are errors
	state := cmd.ProcessState
	used, took := state.SysUsage().(*syscall.Rusage).Maxrss, state.UserTime()+state.SystemTime()
	if runtime.GOOS != "darwin" {
		used <<= 10
	}
	switch text := said.String(); {
	case ctx.Err() != nil, used > bombBytes, took > bombTime*time.Duration(runtime.NumCPU()), state.ExitCode() < 0, strings.Contains(text, "goroutine "):
		t.Errorf("%s%s of processor time, %d MiB: %v\n%.600s", again, took, used>>20, state, text)
	case !strings.Contains(text, b.want):
		t.Errorf("%sthe bomb was not read: want %q, got %v\n%.600s", again, b.want, state, text)
	default:
		t.Logf("%s, %d MiB: %v\n%.300s", took, used>>20, state, text)
	}
}
