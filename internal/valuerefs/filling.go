package valuerefs

import (
	"context"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
)

// Filling puts values of others into one instance.
type Filling struct {
	By string
	// StandIn leaves everything open, whatever is known. Lenient goes on with a warning where a source cannot be asked.
	StandIn, Lenient bool
	// Open are the values that something stands in for, in order.
	Open []bind.From
}

// InPart reports that of all that an instance takes of others something is not known, and something is. Its values are known together: a plan that is
// made while some of them have come is the same as before.
func InPart(takes, open []bind.From) bool { return len(open) > 0 && len(open) < len(takes) }

// From is what a value becomes: what is known of it, else what stands in for it, and then it is open.
func (g *Filling) From(ctx context.Context, r References, f bind.From) (*v1alpha1.Value, *diag.Finding) {
	var x *v1alpha1.Value
	var n *diag.Finding
	if !g.StandIn {
		x, n = r.Known(ctx, g.By, f)
	}
	if g.Lenient && bind.Unasked(n) {
		n.Severity = diag.Warning
	} else if x != nil || n != nil {
		return x, n
	}
	g.Open = append(g.Open, f)
	return bind.StandIn(f), n
}
