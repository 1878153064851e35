package engine

import "hawser.dev/hawser/internal/fleetplan"

// Operation is what is done to a bundle: every verb is the same pipeline with another one of these.
type Operation = fleetplan.Operation

// The operations there are.
var Apply, Delete, Eject, Rollback, Correct = fleetplan.Apply, fleetplan.Delete, fleetplan.Eject, fleetplan.Rollback, fleetplan.Correct

// For is the request for another operation.
func (r Request) For(o Operation) Request {
	r.Operation = o
	return r
}

// op is the plan's operation.
func (p *Prepared) op() Operation { return fleetplan.Named(p.Verb) }
