// Package child runs programs that end with everything they started: each in a process group of its own, which is ended
// as a whole when its context ends and when this process does. A grandchild that keeps an output open holds nobody up.
//
// It must not know which programs are run, nor for what.
package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"hawser.dev/hawser/internal/ceiling"
)

// linger is how long outputs are read on when the program itself has ended: what it started may keep them open.
const linger = 2 * time.Second

// Command is a program to run.
type Command struct {
	*exec.Cmd
	// Terminal: the program talks with the user, so it stays in this process's group, as a terminal demands. What it
	// started in turn is left to the terminal.
	Terminal bool

	ctx context.Context
}

// New makes a command; when ctx ends it is ended, with everything it started.
func New(ctx context.Context, name string, args ...string) *Command {
	return &Command{Cmd: exec.CommandContext(ctx, name, args...), ctx: ctx}
}

var (
	mu      sync.Mutex
	running = map[*Command]bool{}
	over    bool
)

// errOver: this process is ending.
var errOver = errors.New("the process is ending")

// Run runs the program. The error of one that was ended wraps its context's cause. A program that succeeded and left
// something behind that keeps its outputs open has succeeded.
func (c *Command) Run() error {
	if err := c.Begin(); err != nil {
		return err
	}
	return c.Finish()
}

// Begin starts the program; Finish must follow.
func (c *Command) Begin() error {
	c.WaitDelay = linger
	if !c.Terminal {
		apart(c.Cmd)
		c.Cancel = func() error { return end(c.Process) }
	}
	return c.start()
}

// Finish waits until a program that Begin started has ended; its error is Run's.
func (c *Command) Finish() error {
	err := c.Wait()
	mu.Lock()
	delete(running, c)
	mu.Unlock()
	if err != nil && !c.ProcessState.Success() && !c.Terminal {
		_ = end(c.Process) // what it started goes with it, though it ended first
	}
	if cause := context.Cause(c.ctx); cause != nil && err != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	if errors.Is(err, exec.ErrWaitDelay) && c.ProcessState.Success() {
		return nil
	}
	return err
}

func (c *Command) start() error {
	mu.Lock()
	defer mu.Unlock()
	if over {
		return errOver
	}
	if err := ceiling.Without(c.Start); err != nil {
		return err
	}
	running[c] = true
	return nil
}

// EndAll ends whatever still runs and lets nothing more begin: for the end of this process.
func EndAll() {
	mu.Lock()
	defer mu.Unlock()
	over = true
	for c := range running {
		if !c.Terminal {
			_ = end(c.Process)
		}
	}
}

// Said passes on what a program says to people, line by line and up to a limit; what goes beyond is left out, and that is said.
type Said struct {
	To    io.Writer
	Limit int
	// Clean makes a line harmless.
	Clean func(string) string

	line []byte
	said int
}

// longest is how much of one line is waited for.
const longest = 4 << 10

// Write takes all of p; nobody's log ends a program.
func (s *Said) Write(p []byte) (int, error) {
	for _, b := range p {
		if s.said++; s.said > s.Limit {
			if s.said == s.Limit+1 {
				s.End()
				_, _ = io.WriteString(s.To, "(it said more, which is left out)\n")
			}
			continue
		}
		if s.line = append(s.line, b); b == '\n' || len(s.line) >= longest {
			s.pass()
		}
	}
	return len(p), nil
}

// End passes on a last line that was not ended.
func (s *Said) End() {
	if len(s.line) > 0 {
		s.line = append(s.line, '\n')
		s.pass()
	}
}

func (s *Said) pass() {
	_, _ = io.WriteString(s.To, s.Clean(string(s.line)))
	s.line = s.line[:0]
}

// Output is a program's output up to a limit; what goes beyond ends the program.
type Output struct {
	Limit int
	buf   bytes.Buffer
}

// Write keeps p, or is an error.
func (o *Output) Write(p []byte) (int, error) {
	if o.buf.Len()+len(p) > o.Limit {
		return 0, fmt.Errorf("the output has more than %d bytes", o.Limit)
	}
	return o.buf.Write(p)
}

// Bytes are what was written.
func (o *Output) Bytes() []byte { return o.buf.Bytes() }
