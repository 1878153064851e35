package valuerefs

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Before is a bundle that comes before another one on a cluster: what it does to an object, "" for nothing, and its own references. Settled: it has
// nothing to do there; nil is that it has. Of one that is not planned (Fate and References are nil) only that is known.
type Before struct {
	Bundle     string
	Settled    func() bool
	Fate       func(object.Ref) plan.Action
	References func() References
}

func (b Before) settled() bool { return b.Settled != nil && b.Settled() }

// Unplanned are the bundles that come before one in a run of which nothing is planned: among are all of it in order, and settled tells whether one
// of them has nothing to do.
func Unplanned(among []string, bundle string, settled func(bundle string) bool) (before []Before) {
	for _, name := range among[:max(0, slices.Index(among, bundle))] {
		before = append(before, Before{Bundle: name, Settled: func() bool { return settled(name) }})
	}
	return before
}

// Later is the last of the needed bundles among those before, "" for none: what is not there yet may come with it.
func Later(before []Before, needs []string) (bundle string) {
	for _, b := range before {
		if slices.Contains(needs, b.Bundle) && !b.settled() {
			bundle = b.Bundle
		}
	}
	return bundle
}

// Writes is the last of the bundles before that writes a Secret, else one that deletes it, "" for none; lost is why it has no such key then, "" where
// it may.
func Writes(ctx context.Context, before []Before, at object.Ref, key string) (bundle, lost string) {
	for _, b := range before {
		if b.Fate == nil {
			continue
		}
		if fate := b.Fate(at); fate != "" && !b.settled() && (bundle == "" || fate != plan.Delete) {
			bundle, lost = b.Bundle, b.References().Loses(ctx, fate, at, key)
		}
	}
	return bundle, lost
}
