package passes

import (
	"maps"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// parts are the clusters' parts that have begun and not ended. The zero value has none. Whoever makes passes calls its methods, but for
// wake, which anybody may.
type parts struct {
	mu      sync.Mutex
	open    map[string]*part
	changed chan struct{}
}

// part is the part of one cluster.
type part struct {
	Part
	visited bool // it is being visited
	waits   rollout.Part
	woken   bool
}

// begin adds the part of a cluster.
func (p *parts) begin(name string, x Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]*part{}
	}
	p.open[name] = &part{Part: x}
}

// visit notes that a part, which it returns, is being visited.
func (p *parts) visit(name string) Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.open[name]
	x.visited, x.woken = true, false
	return x.Part
}

// wait notes what a part waits for that was visited.
func (p *parts) wait(name string, waits rollout.Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[name].visited, p.open[name].waits = false, waits
}

// end forgets a part that has ended; one that is only checked is none.
func (p *parts) end(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, name)
}

// due are the parts that wait no more: something has happened that they may wait for, or it is time to look.
func (p *parts) due(now time.Time) (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, x := range p.open {
		if !x.visited && (x.woken || !now.Before(x.waits.Wake)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// waits are what the parts wait for.
func (p *parts) waits() map[string]rollout.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]rollout.Part{}
	for name, x := range p.open {
		out[name] = x.waits
	}
	return out
}

// wake says that something has happened that a part may wait for.
func (p *parts) wake(name string) {
	p.mu.Lock()
	if x := p.open[name]; x != nil {
		x.woken = true
	}
	p.mu.Unlock()
	select {
	case p.bell() <- struct{}{}:
	default:
	}
}

// wakeAll lets all of them be visited.
func (p *parts) wakeAll() {
	p.mu.Lock()
	names := slices.Collect(maps.Keys(p.open))
	p.mu.Unlock()
	for _, name := range names {
		p.wake(name)
	}
}

// waiting is how many of them wait, and are not being visited.
func (p *parts) waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.open {
		if !x.visited {
			n++
		}
	}
	return n
}

// still takes back what was told of parts that have ended: there are no others.
func (p *parts) still() {
	select {
	case <-p.bell():
	default:
	}
}

// Changed is told when a part was woken.
func (p *parts) Changed() <-chan struct{} { return p.bell() }

func (p *parts) bell() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{}, 1)
	}
	return p.changed
}

// leave takes away the parts that wait and gives them up, in the order of their names, and returns their rows.
func (p *parts) leave() (rows []*fleetplan.ClusterOutcome) {
	p.mu.Lock()
	open := p.open
	p.open = nil
	p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(open)) {
		rows = append(rows, open[name].Leave(open[name].waits))
	}
	return rows
}
