package valuerefs

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Before is a bundle that comes before another one on a cluster: what it does to an object, "" for nothing, and its own references. Settled: it has
// nothing to do there.
type Before struct {
	Bundle     string
	Settled    bool
	Fate       func(object.Ref) plan.Action
	References func() References
}

// Later is the last of the needed bundles among those before, "" for none: what is not there yet may come with it.
func Later(before []Before, needs []string) (bundle string) {
	for _, b := range before {
		if !b.Settled && slices.Contains(needs, b.Bundle) {
			bundle = b.Bundle
		}
	}
	return bundle
}

// Writes is the last of the bundles before that writes a Secret, else one that deletes it, "" for none; lost is why it has no such key then, "" where
// it may.
func Writes(ctx context.Context, before []Before, at object.Ref, key string) (bundle, lost string) {
	for _, b := range before {
		if fate := b.Fate(at); !b.Settled && fate != "" && (bundle == "" || fate != plan.Delete) {
			bundle, lost = b.Bundle, b.References().Loses(ctx, fate, at, key)
		}
	}
	return bundle, lost
}
