package isolate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/wire"
)

// kid is one child. It is asked by one goroutine at a time.
type kid struct {
	pool    *Pool
	cmd     *child.Command
	end     context.CancelFunc // ends the process, whatever it does
	to      *os.File
	from    *os.File
	in      *bufio.Reader
	said    head
	done    chan struct{} // closed when the process has ended, with
	err     error
	greeted bool
	has     map[string]bool
	// ends is the child's own word on why it ends; garbage that it said what is no message; late that it was ended for its time.
	ends    *diag.Finding
	garbage bool
	late    bool
	mu      sync.Mutex
}

// head keeps the beginning of what is written.
type head struct {
	mu   sync.Mutex
	text []byte
}

const maxSaid = 16 << 10

// Write takes everything.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), maxSaid-len(h.text))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

// start starts a child. It lives until it is ended, or its standard input is.
func (p *Pool) start() (*kid, error) {
	childIn, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), to.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	k := &kid{pool: p, cmd: child.New(ctx, p.opts.Command[0], p.opts.Command[1:]...), end: end, to: to, from: from,
		in: bufio.NewReaderSize(from, 64<<10), done: make(chan struct{}), has: map[string]bool{}}
	k.cmd.Env, k.cmd.Stdin, k.cmd.Stdout, k.cmd.Stderr = p.environment(), childIn, childOut, &k.said
	k.cmd.Args[0] = os.Args[0] // for who lists processes
	withParent(k.cmd.Cmd)
	err = k.cmd.Begin()
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		end()
		return nil, errors.Join(err, to.Close(), from.Close())
	}
	broke.Go(func() {
		k.err = k.cmd.Finish()
		close(k.done)
	})
	return k, nil
}

// environment is a child's: what paths and times of day depend on.
func (p *Pool) environment() []string {
	var env []string
	for _, name := range []string{"TZ", "ZONEINFO", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if dir, err := os.Getwd(); err == nil { // the same name for it, where it has several
		env = append(env, "PWD="+dir)
	}
	return append(env, p.opts.Environment...)
}

// alive reports whether the process goes on.
func (k *kid) alive() bool {
	select {
	case <-k.done:
		return false
	default:
		return true
	}
}

// close lets the process end, and waits for nothing.
func (k *kid) close() {
	_ = k.to.Close()
	k.end()
	broke.Go(func() {
		<-k.done
		_ = k.from.Close()
	})
}

// ask asks one question. Unless the error is about the question alone, the child has ended.
func (k *kid) ask(ctx context.Context, q question, made *chance.Source) (a answer, err error) {
	defer context.AfterFunc(ctx, k.end)()
	if d := k.pool.opts.Limits.Deadline; d > 0 {
		late := time.AfterFunc(d+k.pool.opts.grace(), func() {
			k.mu.Lock()
			k.late = true
			k.mu.Unlock()
			k.end()
		})
		defer late.Stop()
	}
	if !k.greeted {
		err = send(k.to, kindHello, hello{Protocol: protocol, Build: k.pool.opts.Build, Limits: k.pool.opts.Limits, CheckTime: k.pool.opts.CheckTime})
	}
	if err == nil {
		err = send(k.to, kindAsk, q)
	}
	for err == nil {
		var done bool
		if a, done, err = k.hear(ctx, made); done {
			return a, nil
		}
	}
	if errors.Is(err, errCarry) {
		f := diag.Errorf("not-carried", "%s: %s", q.title(), err)
		f.Fix = "this is a mistake in hawser; run without --isolate, and report it"
		return a, diag.Findings{f}.Err()
	}
	k.end()
	<-k.done
	if cause := context.Cause(ctx); cause != nil {
		return a, cause
	}
	return a, k.gone(q, err)
}

// hear takes one message of the child; done is true of an answer.
func (k *kid) hear(ctx context.Context, made *chance.Source) (a answer, done bool, err error) {
	what, body, err := receive(k.in)
	if err != nil {
		k.garbage = k.garbage || errors.Is(err, errGarbage)
		return a, false, err
	}
	defer func() { k.garbage = k.garbage || err != nil }()
	if !k.greeted && what != kindHello && what != kindEnds {
		return a, false, errGarbage
	}
	switch what {
	case kindHello:
		var h hello
		if err := wire.Unmarshal(body, &h); err != nil {
			return a, false, err
		}
		if k.greeted = h.Protocol == protocol && h.Build == k.pool.opts.Build; !k.greeted {
			return a, false, errOther
		}
		return a, false, nil
	case kindEnds:
		k.ends = new(diag.Finding)
		return a, false, wire.Unmarshal(body, k.ends)
	case kindCall:
		var c call
		if err := wire.Unmarshal(body, &c); err != nil {
			return a, false, err
		}
		r, err := k.pool.reply(ctx, c, made)
		if err == nil {
			err = send(k.to, kindReply, r)
		}
		return a, false, err
	case kindAnswer:
		err = wire.Unmarshal(body, &a)
		return a, err == nil, err
	}
	return a, false, errGarbage
}

// errOther: the child is another program, or another build of it.
var errOther = fmt.Errorf("%w: it is of another hawser than this one", errGarbage)
