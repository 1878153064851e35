package fleetplan

import "hawser.dev/hawser/internal/plan"

// Desired is where what an operation wants on a cluster comes from.
type Desired byte

// What is desired: what the input declares, rendered; nothing; or what a release declared, as the clusters' records keep it.
const (
	Rendered Desired = iota
	Empty
	Stored
)

// Operation is what is done to a bundle: every verb is the same pipeline with another one of these. The zero value is Apply.
type Operation struct {
	// Desired is what the clusters are to have.
	Desired Desired
	// Current, of what is Stored: each cluster's own last release; else the one of Selection.To, or the one before the newest.
	Current bool
	// Leave, of Empty: the objects stay, without our marks.
	Leave bool

	// Undoes is the rollout that failed and that this one goes back from by itself, Undone the digest of its files.
	Undoes, Undone string
}

// The operations there are. What only looks (plan, vet) is one that is not carried out, a saved plan the one that it is of.
var (
	Apply    = Operation{}
	Delete   = Operation{Desired: Empty}
	Eject    = Operation{Desired: Empty, Leave: true}
	Rollback = Operation{Desired: Stored}
	Correct  = Operation{Desired: Stored, Current: true}
)

// Named is the operation of a plan's verb.
func Named(verb string) Operation {
	for _, o := range []Operation{Delete, Eject, Rollback, Correct} {
		if o.Verb() == verb {
			return o
		}
	}
	return Apply
}

// Verb names the operation in plans, outcomes and messages.
func (o Operation) Verb() string {
	switch {
	case o.Desired == Rendered:
		return "apply"
	case o.Leave:
		return "eject"
	case o.Desired == Empty:
		return "delete"
	case o.Current:
		return "drift"
	}
	return "rollback"
}

// Renders reports whether the input decides: then its waves' approvals count, its sources are checked, and what the run learns is kept.
func (o Operation) Renders() bool { return o.Desired == Rendered }

// Ends reports whether the bundle is to be gone: the waves are reversed, and no gate keeps it.
func (o Operation) Ends() bool { return o.Desired == Empty }

// Brings reports whether clusters get another release by it, so that a pause keeps it back.
func (o Operation) Brings() bool { return !o.Ends() && !o.Current }

// Options are those of the plan that a request wants of the operation.
func (o Operation) Options(p PlanOptions) plan.Options {
	if o.Ends() {
		return plan.Options{Deleting: true, Ejecting: o.Leave, NoHooks: p.NoHooks || o.Leave, LetUnserved: p.LetUnserved}
	}
	back := o.Desired == Stored && !o.Current
	return plan.Options{RollingBack: back, Adopt: p.Adopt, Recreate: p.Recreate, LetUnserved: p.LetUnserved, Diff: p.ShowDiff || o.Current,
		ServerCheck: o.Renders() && p.ServerCheck || back, Tests: o.Renders() && p.Tests, NoHooks: p.NoHooks || o.Current, NoPrune: o.Current}
}
