package cli

import (
	"fmt"
	"io"
	"sync"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/report"
)

// progress shows a run's events: live on a terminal, one line each elsewhere, NDJSON on stdout with -o json.
type progress struct {
	s    *session
	mode string // "live", "plain", "json"
	verb string // of a summary without a plan

	mu      sync.Mutex
	live    *report.Live
	plain   func(fleetplan.Event)
	json    func(fleetplan.Event)
	rolling bool
	running map[string]bool
}

// newProgress chooses by --progress, then by what stderr is.
func (s *session) newProgress() *progress {
	p := &progress{s: s, mode: s.opts.progress, plain: report.NewPlain(s.Err), running: map[string]bool{}}
	if p.mode == "auto" || p.mode == "" {
		p.mode = "plain"
		if s.IsTerminal(s.Err) && s.getenv("TERM") != "dumb" {
			p.mode = "live"
		}
	}
	return p
}

// ndjson makes every event a line of JSON on w instead; verb is what is done, for the summary of a run without a plan.
func (p *progress) ndjson(w io.Writer, verb string) {
	p.mode, p.json, p.verb = "json", report.NewNDJSON(w), verb
}

// begin opens the view of one phase (planning, the rollout); end closes it, so that something else can be printed.
func (p *progress) begin(plan *fleetplan.FleetPlan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rolling = plan != nil
	if p.mode != "live" {
		return
	}
	p.live = report.NewLive(p.s.Err, p.s.style(p.s.Err), p.s.liveSize)
	if plan != nil {
		p.live.Expect(plan)
	}
}

// liveSize is the terminal's size, with sane values where it does not say.
func (s *session) liveSize() (cols, rows int) {
	if cols, rows = s.TerminalSize(); cols <= 0 {
		cols, rows = 80, 24
	}
	return cols, rows
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live != nil {
		p.live.Close()
		p.live = nil
	}
}

// event takes one event of the engine.
func (p *progress) event(e fleetplan.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case fleetplan.EventClusterStart:
		p.running[e.Cluster] = true
	case fleetplan.EventClusterEnd:
		delete(p.running, e.Cluster)
	}
	switch {
	case p.json != nil:
		p.json(e)
	case p.live != nil:
		p.live.Event(e)
	case p.rolling || p.s.opts.verbose > 0 || e.Type == fleetplan.EventNotice:
		p.plain(e)
	}
}

// stopping says what a gentle stop means now.
func (p *progress) stopping() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("finishing %d in flight; again to quit now", len(p.running))
	if p.live != nil {
		p.live.Say(text)
		return
	}
	fmt.Fprintln(p.s.Err, text)
}
