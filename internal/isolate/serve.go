package isolate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/wire"
)

// Host is what a child has of its parent.
type Host struct {
	Redact   func(string) string
	Learn    func(instance, value string)
	Watchdog *cuelang.Watchdog
	// Beyond judges elsewhere by what must not be evaluated here; nil in a child, which ends instead.
	Beyond func() health.Checker
	// CheckTime is how long one health check may take; 0 is the ordinary time.
	CheckTime time.Duration
}

// Sockets are what does the work in a child. GoesOn reports whether something of it goes on that nobody waits for.
type Sockets struct {
	Renderers map[string]render.Renderer
	Checker   health.Checker
	GoesOn    func() bool
}

// Child is what Serve works with.
type Child struct {
	In    io.Reader
	Out   io.Writer
	Build string
	// Sockets makes what does the work.
	Sockets func(Host) Sockets
}

// grown is how much memory in use makes a child leave after an answer.
const grown = 512 << 20

// maxStack is how deep an evaluation may go: Go's own limit is four times that.
const maxStack = 256 << 20

// maxPrograms is how many loaded documents a child keeps.
const maxPrograms = 2

// Serve answers a parent's questions until the parent ends, which ends the process, or the child has to leave. It returns the
// exit code.
func Serve(c Child) int {
	s := &server{out: c.Out, frames: make(chan frame)}
	in := bufio.NewReaderSize(c.In, 64<<10)
	what, body, err := receive(in)
	var h hello
	if err != nil || what != kindHello || wire.Unmarshal(body, &h) != nil {
		_, _ = fmt.Fprintln(os.Stderr, "this command is run by hawser itself, see --isolate")
		return 1
	}
	if s.send(kindHello, hello{Protocol: protocol, Build: c.Build}) != nil || h.Protocol != protocol || h.Build != c.Build {
		return 1
	}
	broke.Go(func() { s.read(in) })
	s.limits = h.Limits
	debug.SetMaxStack(maxStack)
	s.watchdog = cuelang.Watch(h.Limits, s.ends)
	bound(h.Limits, s.ends)
	s.sockets = c.Sockets(Host{Watchdog: s.watchdog, CheckTime: h.CheckTime,
		Redact: func(text string) string { return s.call(call{What: "redact", Text: text}).Text },
		Learn:  func(instance, value string) { s.call(call{What: "learn", Instance: instance, Text: value}) }})
	for f := range s.frames {
		var q question
		if f.kind != kindAsk || wire.Unmarshal(f.body, &q) != nil {
			return 1
		}
		a := s.answer(q)
		a.Leaving = s.sockets.GoesOn != nil && s.sockets.GoesOn() || inUse() > grown
		err := s.send(kindAnswer, a)
		if err != nil {
			f := diag.Errorf("not-carried", "%s: %s", q.title(), err)
			f.Fix = "this is a mistake in hawser; run without --isolate, and report it"
			err = s.send(kindAnswer, answer{Findings: diag.Findings{f}})
		}
		if err != nil || a.Leaving {
			return 0
		}
	}
	return 0
}

type frame struct {
	kind kind
	body []byte
}

// server is the child's side.
type server struct {
	mu  sync.Mutex // of out
	out io.Writer
	// frames are the parent's messages; calling has one of its calls at a time.
	frames   chan frame
	calling  sync.Mutex
	limits   cuelang.WatchLimits
	watchdog *cuelang.Watchdog
	sockets  Sockets
	programs []loaded
}

type loaded struct {
	source  string
	program *document.Program
}

func (s *server) send(k kind, v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return send(s.out, k, v)
}

// read reads until the parent is gone, which ends the process in the middle of whatever it does.
func (s *server) read(in io.Reader) {
	for {
		what, body, err := receive(in)
		if err != nil {
			os.Exit(0)
		}
		s.frames <- frame{what, body}
	}
}

// ends says why the process ends, and ends it.
func (s *server) ends(f diag.Finding) {
	f.Fix = multiplies
	_ = s.send(kindEnds, f)
	os.Exit(1)
}

// call asks the parent back.
func (s *server) call(c call) (r reply) {
	s.calling.Lock()
	defer s.calling.Unlock()
	if s.send(kindCall, c) != nil {
		os.Exit(1)
	}
	f := <-s.frames
	if f.kind != kindReply || wire.Unmarshal(f.body, &r) != nil {
		os.Exit(1)
	}
	return r
}

// answer does what is asked. A panic is a finding; its text, which may be a value, is not told.
func (s *server) answer(q question) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			f := diag.Errorf(CodeBroke, "%s: evaluation broke, which is a mistake in hawser", q.title())
			f.Why = fmt.Sprintf("it panicked with a %T", p)
			f.Fix = "report it with this message and the kind of source; other instances can be delivered without this one"
			a = answer{Findings: diag.Findings{q.at(f)}}
		}
	}()
	ctx := context.Background()
	more(s.limits)
	if q.Chance != nil {
		q.Request.Chance = &chance.Source{ID: *q.Chance,
			Read: func(p []byte) {
				for b := range slices.Chunk(p, maxRandom) {
					copy(b, s.call(call{What: "random", N: len(b)}).Bytes)
				}
			},
			Now: func() time.Time { return time.Unix(0, s.call(call{What: "now"}).Now) }}
	}
	r := s.sockets.Renderers[q.Renderer]
	var err error
	switch q.What {
	case askDocument:
		a.Document = s.document(q)
	case askKey:
		a.Key, err = render.KeyOf(ctx, r, q.Request)
	case askRender:
		a.Result, err = render.Rendered(ctx, r, q.Request)
	case askMakes:
		m, ok := r.(render.Maker)
		a.Makes = ok && m.Makes(ctx, q.Request)
	case askDefault:
		if d, ok := r.(render.Defaulter); ok {
			a.Default, a.Pos = d.Default(ctx, q.Request, q.Path)
		}
	case askKinds:
		if t, ok := r.(render.Typer); ok {
			a.Kinds = t.Kinds(ctx, q.Request, q.Paths)
		}
	case askVet:
		defer s.watchdog.Enter(q.title())()
		err = s.sockets.Checker.Vet(q.Rule)
	case askCheck:
		if q.Rule.CEL != nil { // one in CUE is bounded where it is evaluated
			defer s.watchdog.Enter(q.title())()
		}
		begun := time.Now()
		a.Status, a.Applies, err = s.sockets.Checker.Check(q.Rule, q.Object)
		a.Took = time.Since(begun)
	}
	a.failed(err)
	return a
}

// document answers a question about documents, which are loaded once.
func (s *server) document(q question) document.Answer {
	of, err := wire.Marshal(q.Source)
	if err != nil {
		return document.Answer{Findings: diag.From(err, "evaluation")}
	}
	key := string(of)
	at := slices.IndexFunc(s.programs, func(l loaded) bool { return l.source == key })
	if at < 0 {
		opts := q.Source.Options
		opts.Watchdog, opts.Stdin = s.watchdog, bytes.NewReader(q.Source.Stdin)
		p, findings := document.Load(context.Background(), opts)
		if p == nil {
			return document.Answer{Findings: findings}
		}
		if p.Source().Digest != q.Source.Digest {
			f := diag.Errorf("files-changed", "a file changed while it was read")
			f.Fix = "run it again"
			return document.Answer{Findings: diag.Findings{q.at(f)}}
		}
		if s.programs = append(s.programs, loaded{key, p}); len(s.programs) > maxPrograms {
			s.programs = s.programs[1:]
		}
		at = len(s.programs) - 1
	}
	return s.programs[at].program.Answer(q.Document)
}

// inUse is the memory that is alive, as the last collection saw it.
func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return live[0].Value.Uint64()
}
