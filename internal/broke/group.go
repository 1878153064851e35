package broke

import "sync"

// Go begins a goroutine that panics without what was said.
func Go(do func()) { go Quiet(do)() }

// Group is a sync.WaitGroup whose goroutines panic without what was said. Its zero value is an empty one.
type Group struct{ all sync.WaitGroup }

// Go begins a goroutine that Wait waits for.
func (g *Group) Go(do func()) { g.all.Go(Quiet(do)) }

// Wait returns when all have ended.
func (g *Group) Wait() { g.all.Wait() }
