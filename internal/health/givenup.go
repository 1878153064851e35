package health

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// GivenUp are the checks that took too long, by the cluster whose objects they judged. A check may come from a record, and an object
// always comes from its cluster: what an administrator of one writes may be endless, and must not keep others from being judged. So
// what is given up counts for its cluster alone: the check is not begun there again, and after a few checks none is. A check is
// everybody's matter where it was given up on several clusters, and on more than it was done with in time: then it is the check that
// is endless, as one of the bundle's own module is. Rules that belong to no cluster count by themselves. The zero value is ready
// to use; it may be used by many at once.
type GivenUp struct {
	mu    sync.Mutex
	on    map[string]*slowOn
	rules map[rule]*slowRule
}

// rule is the digest of what tells one rule from others.
type rule [sha256.Size]byte

type slowOn struct {
	why   map[rule]error
	spent map[rule]time.Duration
}

// slowRule has the clusters where a rule was given up, and where it was not.
type slowRule struct{ given, done map[string]bool }

// CheckTime is how long one check that is not built in may take for one object, where nothing else is said.
const CheckTime = 10 * time.Second

// Limits of what is given up: checks of a cluster, clusters of a check, and for how many objects' time together a check may be slow.
const (
	mostOfCluster = 2
	mostClusters  = 3
	slowObjects   = 3
)

func ruleOf(c Check) rule {
	text := c.Source
	if c.CEL != nil {
		text = c.CEL.Failed + "\x00" + c.CEL.Progressing + "\x00" + c.CEL.Ready + "\x00" + c.CEL.Message
	}
	return sha256.Sum256([]byte(text))
}

func (g *GivenUp) of(c Check) (rule, *slowOn, *slowRule) {
	if g.on == nil {
		g.on, g.rules = map[string]*slowOn{}, map[rule]*slowRule{}
	}
	id := ruleOf(c)
	if g.on[c.Cluster] == nil {
		g.on[c.Cluster] = &slowOn{map[rule]error{}, map[rule]time.Duration{}}
	}
	if g.rules[id] == nil {
		g.rules[id] = &slowRule{map[string]bool{}, map[string]bool{}}
	}
	return id, g.on[c.Cluster], g.rules[id]
}

// Why is why a check is not to be evaluated for another object of its cluster, nil when it is. limit is how long it may take for one.
func (g *GivenUp) Why(c Check, limit time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, on, all := g.of(c)
	switch {
	case on.why[id] != nil:
		return on.why[id]
	case limit > 0 && on.spent[id] > slowObjects*limit:
		return fmt.Errorf("%s is not evaluated: it took longer than %s for some objects together", c.Title(), slowObjects*limit)
	case c.Cluster == "":
		return nil
	case len(on.why) >= mostOfCluster:
		return fmt.Errorf("%s is not evaluated: %d others were given up on this cluster", c.Title(), len(on.why))
	case len(all.given) >= mostClusters && len(all.given) > len(all.done):
		return fmt.Errorf("%s is not evaluated: it was given up on %d clusters", c.Title(), len(all.given))
	}
	return nil
}

// Done counts an evaluation that ended in time. One that was slow is counted with its time: a tenth of the limit is a hundred times
// what a check takes.
func (g *GivenUp) Done(c Check, took, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, on, all := g.of(c)
	if limit > 0 && took > limit/10 {
		on.spent[id] += took
	}
	if !all.given[c.Cluster] {
		all.done[c.Cluster] = true
	}
}

// Add says that an evaluation was given up; why is the answer from then on.
func (g *GivenUp) Add(c Check, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, on, all := g.of(c)
	on.why[id], all.given[c.Cluster] = why, true
	delete(all.done, c.Cluster)
}
