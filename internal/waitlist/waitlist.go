// Package waitlist tells of all bundles of a fleet which releases are kept from which clusters: what waits for an approval or a window, is
// paused, or was aborted.
//
// The package must not know how a cluster is reached; it is given stores of records.
package waitlist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/release"
)

// Lister is what a release.Holder can do besides that finds all that it keeps without knowing their owners.
type Lister interface {
	// Holds gives every hold with its owner to each, one after the other; those that cannot be read are passed over.
	Holds(ctx context.Context, each func(owner string, h release.Hold)) error
}

// List is what clusters have of all bundles, as far as it tells what is kept from them. The zero value has none; its methods may be called
// concurrently.
type List struct {
	mu       sync.Mutex
	clusters map[string]*cluster
}

type cluster struct {
	records map[string]*release.Record // by owner, without what does not matter here
	holds   map[string]release.Hold
}

// Each is release.Each, and keeps of a cluster's records what tells where its releases stand, with all that its store keeps back. A store
// that lists no holds has none, and neither has one that cannot be read now: who says something of a release is told so.
func (l *List) Each(ctx context.Context, name string, store release.Store, use func(release.Record)) error {
	c := &cluster{records: map[string]*release.Record{}, holds: map[string]release.Hold{}}
	err := release.Each(ctx, store, func(rec release.Record) {
		c.records[rec.Owner] = &release.Record{Bundle: rec.Bundle, Owner: rec.Owner, Revision: rec.Revision, Release: rec.Release, Rollout: rec.Rollout,
			SourceDigest: rec.SourceDigest, Author: rec.Author, Message: rec.Message, Started: rec.Started, Phase: rec.Phase, Unjudged: rec.Unjudged}
		use(rec)
	})
	if lister, ok := store.(Lister); ok {
		_ = lister.Holds(ctx, func(owner string, h release.Hold) { c.holds[owner] = h })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clusters == nil {
		l.clusters = map[string]*cluster{}
	}
	l.clusters[name] = c
	return err
}

// Await is release.Await of the bundle of that name, which on tells of, or with "" of every one that has a hold on any cluster of the list,
// in the order of their names.
func (l *List) Await(name string, on func() []release.OnCluster) []*release.Waiting {
	if name != "" {
		return release.Await(name, on())
	}
	names := map[string]string{} // by owner
	for _, c := range l.clusters {
		for owner, h := range c.holds {
			names[owner] = h.Bundle
		}
	}
	var out []*release.Waiting
	for _, owner := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(strings.Compare(names[a], names[b]), strings.Compare(a, b)) }) {
		out = append(out, release.Await(names[owner], l.on(owner))...)
	}
	return out
}

// on is where the clusters stand with a bundle.
func (l *List) on(owner string) (out []release.OnCluster) {
	for _, name := range slices.Sorted(maps.Keys(l.clusters)) {
		c := l.clusters[name]
		one := release.OnCluster{Cluster: name, Record: c.records[owner]}
		if h, held := c.holds[owner]; held {
			one.Hold = &h
		}
		out = append(out, one)
	}
	return out
}

// Held are what a cluster keeps back of the bundle of that name, or with "" of every one, with what was decided of their releases before. owner
// is the id of a bundle's owner. What cannot be read is none.
func (l *List) Held(ctx context.Context, cluster string, store release.Store, name string, owner func(bundle string) string) (out []release.Hold) {
	if name != "" {
		if h, _, err := release.HeldOn(ctx, store, owner(name)); err == nil && h != nil {
			h.Owner = owner(name)
			out = append(out, *h)
		}
		return out
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.clusters[cluster]; c != nil {
		for _, id := range slices.Sorted(maps.Keys(c.holds)) {
			h := c.holds[id]
			h.Owner = id
			out = append(out, h)
		}
	}
	return out
}
