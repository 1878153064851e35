package operation

import (
	"context"
	"errors"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
)

// Lister tells what was delivered: the engine.
type Lister interface {
	// List tells what was delivered, as the records say; the listing is there also beside an error.
	List(ctx context.Context, req engine.Request) (*release.Listing, error)
}

// Meant adds to what says that the bundle which a request names is nowhere the nearest name of those that are delivered, which
// are asked for only then.
func (bs Bundles) Meant(ctx context.Context, l Lister, req engine.Request) Bundles {
	for _, b := range bs {
		if b.Plan != nil {
			meant(ctx, l, req, b.Err, b.Plan.Findings)
		} else {
			meant(ctx, l, req, b.Err)
		}
	}
	return bs
}

// Named is an error with that name added to what it says of the request's bundle.
func Named(ctx context.Context, l Lister, req engine.Request, err error) error {
	meant(ctx, l, req, err)
	return err
}

// meant does that to the findings of an error, and to others, in place. A name that files are read beside is theirs.
func meant(ctx context.Context, l Lister, req engine.Request, err error, others ...diag.Findings) {
	if fe, ok := errors.AsType[*diag.FindingsError](err); ok {
		others = append(others, fe.Findings)
	}
	name, names := req.Bundle, []string(nil)
	for _, findings := range others {
		for i, f := range findings {
			if f.Code != fleetplan.CodeNotInstalled || name == "" || req.HasBundles() {
				continue
			}
			if names == nil {
				req.Bundle = ""
				names = []string{}
				if listed, _ := l.List(ctx, req); listed != nil { // what there is beside an error is near enough
					names = append(names, listed.Bundles()...)
				}
			}
			findings[i] = f.Meant(name, names)
		}
	}
}
