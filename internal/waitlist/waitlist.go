// Package waitlist tells of all bundles of a fleet which releases are kept from which clusters: what waits for an approval or a window, is
// paused, or was aborted.
//
// The package must not know how a cluster is reached; it is given stores of records.
package waitlist

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/diag"
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

// Each is release.Each of a run with a fleet, of whose bundles those that are lost or elsewhere are unknown, as what cannot be read, and
// those of others in findings; and it keeps of a cluster's records what tells where its releases stand, with all that its store keeps back. A store
// that lists no holds has none, and neither has one that cannot be read now: who says something of a release is told so. refuse says why a record
// is not the cluster's own; it is in the findings then, and neither used nor kept.
func (l *List) Each(ctx context.Context, name string, store release.Store, fleet string, refuse func(*release.Record) diag.Findings, use func(release.Record)) (others diag.Findings, unknown string) {
	c := &cluster{records: map[string]*release.Record{}, holds: map[string]release.Hold{}}
	var strange foreign
	left, err := release.Each(ctx, store, func(rec release.Record) {
		if strange.add(rec, refuse(&rec)) {
			return
		}
		c.records[rec.Owner] = &release.Record{Bundle: rec.Bundle, Owner: rec.Owner, Revision: rec.Revision, Release: rec.Release, Rollout: rec.Rollout,
			SourceDigest: rec.SourceDigest, Author: rec.Author, Message: rec.Message, Started: rec.Started, Phase: rec.Phase, Unjudged: rec.Unjudged}
		use(rec)
	})
	if lister, ok := store.(Lister); ok {
		_ = lister.Holds(ctx, func(owner string, h release.Hold) {
			if !strange.owners[owner] { // it came with the record
				c.holds[owner] = h
			}
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clusters == nil {
		l.clusters = map[string]*cluster{}
	}
	l.clusters[name] = c
	theirs, away := split(left, fleet)
	if err = errors.Join(away, err); err != nil {
		unknown = err.Error()
	}
	refused := strange.findings(name)
	if len(refused) > 0 && unknown == "" { // nobody knows what is there of those bundles: it is not nothing
		unknown = refused[0].What
	}
	return append(refused, notListed(theirs)...), unknown
}

// split says of what is left that is a fleet's, or may be, that it is lost (*release.LostError) or elsewhere (release.ErrElsewhere), each
// place once; others are those of other fleets, which keep their records in stores of theirs.
func split(left release.Left, fleet string) (others []release.Pointer, err error) {
	if len(left.Lost) > 0 {
		err = &release.LostError{Bundles: left.Lost}
	}
	var places []release.Place
	at := map[release.Place][]release.Pointer{}
	for _, p := range left.Away {
		if p.At.Fleet != "" && p.At.Fleet != fleet {
			others = append(others, p)
			continue
		}
		if at[p.At] == nil {
			places = append(places, p.At)
		}
		at[p.At] = append(at[p.At], p)
	}
	for _, place := range places {
		var more []string
		for _, p := range at[place][1:] {
			more = append(more, cmp.Or(p.Bundle, "of owner "+p.Owner))
		}
		err = errors.Join(err, release.Elsewhere(at[place][0], left.Here, more...))
	}
	return others, err
}

// notListed warns of bundles whose records other fleets keep in stores of theirs.
func notListed(others []release.Pointer) diag.Findings {
	if len(others) == 0 {
		return nil
	}
	var names []string
	for _, p := range others {
		names = append(names, cmp.Or(p.Bundle, "of owner "+p.Owner)+" (fleet "+p.At.Fleet+")")
	}
	f := diag.Warnf("records-of-others", "bundles whose records other fleets keep in stores of theirs are not shown: %s", diag.Few(names))
	f.Fix = "look at them with their fleet's file (--fleet)"
	return diag.Findings{f}
}

// Await is release.Await of the bundle of that name, which on tells of, or with "" of every one that has a hold on any cluster of the list,
// in the order of their names. strange says of which clusters the bundle's record is another one's.
func (l *List) Await(name string, on func() []release.OnCluster, strange func(i int) bool) []*release.Waiting {
	if name != "" {
		return release.Await(name, Own(on(), strange))
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
