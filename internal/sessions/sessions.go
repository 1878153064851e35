// Package sessions keeps connections to clusters from run to run: one for each cluster and credential, whatever the number of bundles
// and of runs that go on at once.
//
// sessions must not know what is done on a cluster, nor for whom.
package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/once"
)

// Pool gives out sessions, and has them back when they are closed. The zero value is ready: it suits a process of one run. A Pool must
// not be copied, and may be used concurrently.
type Pool struct {
	// Most connections are kept that nobody uses, those that were used last; 0 is 128.
	Most int
	// Idle is how long one of them is kept; 0 is an hour.
	Idle time.Duration
	// Fresh is how long the version, the UID and the kinds of a cluster are taken for what they were, as long as nothing is written by the
	// connection; 0 is 10 s. Whoever writes looks at them again under the lock.
	Fresh time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	kubeconfigs kubeapi.Kubeconfigs
	mu          sync.Mutex
	known       map[string]*connection
	unused      map[*connection]bool // those of known without users
}

// connection is one cluster's, with one credential.
type connection struct {
	key   string
	asked *once.Value[*cluster.Session]
	last  *cluster.Session // what was answered before, nil for nothing
	at    time.Time        // of the last answer
	users int
	given time.Time // back by the last user
}

// Get is a session of a cluster for one run, which closes it: on the connection that there is, or on a new one. Facts that are old are
// asked for again; a cluster that is another one then, or of another version, gets a connection of its own. The error is that of
// cluster.Connect; whoever waits for the same connection has the same.
func (p *Pool) Get(ctx context.Context, c cluster.Config) (*cluster.Session, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err // before many that wait for their turn
	}
	c.Kubeconfigs = &p.kubeconfigs
	key, err := c.Key()
	if err != nil {
		return nil, err
	}
	e, asked, last := p.enter(key)
	s, err := asked.Get(ctx, func() (*cluster.Session, error) {
		s, err := renewed(ctx, last, c)
		if err != nil {
			return nil, err
		}
		return p.answered(e, s.For(nil, s.Close)), nil // what its first run's secrets are it forgets
	})
	if err != nil {
		p.failed(e, asked)
		return nil, err
	}
	return s.For(c.Redact, sync.OnceFunc(func() { p.leave(e) })), nil
}

// renewed is a session with the facts of now: the one that there was, nil for none, or another.
func renewed(ctx context.Context, last *cluster.Session, c cluster.Config) (*cluster.Session, error) {
	if last != nil {
		now := last.For(c.Redact, last.Close)
		err := now.LearnFacts(ctx, c)
		if err == nil && same(last.Facts(), now.Facts()) {
			return now, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		last.Close()
	}
	return cluster.Connect(ctx, c)
}

// same reports whether facts are of one cluster at one version. A UID of which nothing was known may come to be known.
func same(was, is fleet.Facts) bool {
	return was.Version == is.Version && (was.UID == is.UID || was.WeakUID && was.UID == "")
}

// enter is the connection of a key with one user more, what to ask of it, and what was answered before.
func (p *Pool) enter(key string) (*connection, *once.Value[*cluster.Session], *cluster.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim(p.most())
	if p.known == nil {
		p.known, p.unused = map[string]*connection{}, map[*connection]bool{}
	}
	e := p.known[key]
	if e == nil {
		e = &connection{asked: new(once.Value[*cluster.Session]), key: key}
		p.known[key] = e
	}
	e.users++
	delete(p.unused, e)
	if s, ok := e.asked.Known(); ok && (s.Wrote() || p.now().Sub(e.at) >= cmp.Or(max(p.Fresh, 0), 10*time.Second)) {
		e.asked, e.last = new(once.Value[*cluster.Session]), s
	}
	return e, e.asked, e.last
}

// answered notes when a connection answered.
func (p *Pool) answered(e *connection, s *cluster.Session) *cluster.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.at = p.now()
	return s
}

// failed gives a connection back and lets the next one ask anew.
func (p *Pool) failed(e *connection, asked *once.Value[*cluster.Session]) {
	p.leave(e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := asked.Known(); ok || e.asked != asked {
		return // somebody else has asked since
	}
	if asked.Failed() { // else another user may be asking it still
		e.asked = new(once.Value[*cluster.Session])
	}
	if e.users == 0 && p.known[e.key] == e {
		p.forget(e)
	}
}

// leave gives a connection back.
func (p *Pool) leave(e *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users--; e.users == 0 && p.known[e.key] == e {
		p.unused[e] = true
	}
	e.given = p.now()
	p.trim(p.most())
}

// Close ends the connections that nobody uses.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim(0)
}

// Kept is the number of connections that are kept or used.
func (p *Pool) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.known)
}

// Users is the number of runs that have a connection, or wait for one.
func (p *Pool) Users() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.known {
		n += e.users
	}
	return n
}

// trim drops of the connections that nobody uses those that were not for long, and the oldest but for so many. It is called with mu held.
func (p *Pool) trim(most int) {
	unused := slices.SortedFunc(maps.Keys(p.unused), func(a, b *connection) int { return b.given.Compare(a.given) })
	for i, e := range unused {
		if i < most && p.now().Sub(e.given) < cmp.Or(max(p.Idle, 0), time.Hour) {
			continue
		}
		p.forget(e)
		if s, ok := e.asked.Known(); ok {
			s.Close()
		}
	}
}

// forget drops a connection. It is called with mu held.
func (p *Pool) forget(e *connection) {
	delete(p.known, e.key)
	delete(p.unused, e)
}

func (p *Pool) most() int { return cmp.Or(max(p.Most, 0), 128) }

func (p *Pool) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}
