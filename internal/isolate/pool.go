package isolate

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/redact"
)

// Options of a Pool.
type Options struct {
	// Command is what starts a child: a program and its arguments, for which Serve is called.
	Command []string
	// Environment is added to a child's.
	Environment []string
	// Build is this program's version: a child of another is not asked.
	Build string
	// Limits bound every question.
	Limits cuelang.WatchLimits
	// CheckTime is how long one health check may take for one object; 0 is health.CheckTime.
	CheckTime time.Duration
	// Redact masks what is secret in texts of findings; Learn is told what a source holds that is. nil does nothing.
	Redact func(string) string
	Learn  func(instance, value string)
	// Most is how many children there are at once; 0 is one for each processor, at least two and at most eight.
	Most int
	// Grace is how much longer than the limit a child has to say itself that it is over; 0 is 5 s.
	Grace time.Duration
}

func (o Options) grace() time.Duration {
	if o.Grace > 0 {
		return o.Grace
	}
	return 5 * time.Second
}

// patience is how long a question waits for a child that is busy before another one is started: about as long as a start takes.
const patience = 25 * time.Millisecond

// Pool keeps children. It is safe for concurrent use.
type Pool struct {
	opts Options

	mu     sync.Mutex
	idle   []*kid
	live   int
	closed bool
	freed  chan struct{} // closed when a child has become idle, or gone
}

// New makes a Pool; no child is started.
func New(o Options) *Pool {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Learn == nil {
		o.Learn = func(string, string) {}
	}
	if o.Most <= 0 {
		o.Most = min(max(runtime.GOMAXPROCS(0), 2), 8)
	}
	o.CheckTime = cmp.Or(max(o.CheckTime, 0), health.CheckTime)
	return &Pool{opts: o, freed: make(chan struct{})}
}

// Warm starts a first child, so that it is there when it is needed; it waits for nothing.
func (p *Pool) Warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live > 0 || p.closed {
		return
	}
	if k, err := p.start(); err == nil { // else the first question says why
		p.live++
		p.idle = append(p.idle, k)
		p.wake()
	}
}

// Close ends all children that are idle, and each other one after its question.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, k := range p.idle {
		k.close()
		p.live--
	}
	p.idle = nil
}

// wake is called with mu held.
func (p *Pool) wake() {
	close(p.freed)
	p.freed = make(chan struct{})
}

// take is a child that is idle, best one that has what the question needs, or a new one.
func (p *Pool) take(ctx context.Context, has string) (*kid, error) {
	waited := false
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		p.mu.Lock()
		if k := p.pick(has); k != nil {
			p.mu.Unlock()
			return k, nil
		}
		if p.live == 0 || waited && p.live < p.opts.Most {
			p.live++
			p.mu.Unlock()
			k, err := p.start()
			if err != nil {
				p.lost()
			}
			return k, err
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-enough.C:
			waited = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// pick is called with mu held.
func (p *Pool) pick(has string) *kid {
	p.idle = slices.DeleteFunc(p.idle, func(k *kid) bool {
		if !k.alive() {
			k.close()
			p.live--
			return true
		}
		return false
	})
	if len(p.idle) == 0 {
		return nil
	}
	at := slices.IndexFunc(p.idle, func(k *kid) bool { return has != "" && k.has[has] })
	at = max(at, 0)
	k := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return k
}

// lost: a child is gone.
func (p *Pool) lost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live--
	p.wake()
}

// release gives a child back.
func (p *Pool) release(k *kid) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !k.alive() {
		k.close()
		p.live--
	} else {
		p.idle = append(p.idle, k)
	}
	p.wake()
}

// ask has a child answer a question. made is where new answers of chance come from.
func (p *Pool) ask(ctx context.Context, q question, made *chance.Source) (answer, error) {
	if err := context.Cause(ctx); err != nil {
		return answer{}, err
	}
	k, err := p.take(ctx, q.has())
	if err != nil {
		return answer{}, err
	}
	a, err := k.ask(ctx, q, made)
	if err != nil && !k.alive() || a.Leaving {
		k.close()
		p.lost()
		return a, err
	}
	if err == nil && q.has() != "" {
		k.has[q.has()] = true
	}
	p.release(k)
	return a, err
}

// maxRandom is how much randomness is asked for at once.
const maxRandom = 1 << 20

// reply answers what a child asks back.
func (p *Pool) reply(ctx context.Context, c call, made *chance.Source) (reply, error) {
	run := redact.Of(ctx)
	switch {
	case c.What == "redact" && run != nil:
		return reply{Text: run.Redact(c.Text)}, nil
	case c.What == "redact":
		return reply{Text: p.opts.Redact(c.Text)}, nil
	case c.What == "learn" && run != nil:
		run.AddFor(c.Instance, c.Text)
		return reply{}, nil
	case c.What == "learn":
		p.opts.Learn(c.Instance, c.Text)
		return reply{}, nil
	case c.What == "random" && made != nil && c.N >= 0 && c.N <= maxRandom:
		b := make([]byte, c.N)
		made.Read(b)
		return reply{Bytes: b}, nil
	case c.What == "now" && made != nil:
		return reply{Now: made.Now().UnixNano()}, nil
	}
	return reply{}, errors.Join(errGarbage, errors.New(c.What))
}
