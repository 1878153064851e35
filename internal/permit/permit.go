// Package permit is a context's word on whether something may still be written under it, and for how long. Whoever holds a
// lock gives the word, and whoever sends asks for it right before each write: the end of a context is seen only by who is
// awake, and a process that was suspended finds what it had begun to do before anything has looked at the time.
//
// The package must not know locks, requests or clocks.
package permit

import (
	"context"
	"time"
)

// Func says how long a write that begins now may take, or why nothing may be written any more.
type Func func() (time.Duration, error)

type key struct{}

// With is a context under which ask is asked before each write, also in contexts that go on when it ends.
func With(ctx context.Context, ask Func) context.Context { return context.WithValue(ctx, key{}, ask) }

// Of is who has to be asked before each write under a context; nil for nobody.
func Of(ctx context.Context) Func {
	ask, _ := ctx.Value(key{}).(Func)
	return ask
}
