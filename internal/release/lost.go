package release

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Remnants is what a Store can do besides that finds what is left of bundles whose current record is gone.
type Remnants interface {
	// Remnants gives the bundles of which closed revisions are kept and no current record, sorted: of one owner, or with "" of all but
	// those that are known by their current records.
	Remnants(ctx context.Context, owner string, known []string) ([]string, error)
}

// LostError says of bundles that their current records are gone, while earlier releases of theirs are kept.
type LostError struct{ Bundles []string }

// Error names the bundles and says what to do.
func (e *LostError) Error() string {
	what, its := "the record of bundle "+e.Bundles[0]+" is", "its"
	if len(e.Bundles) > 1 {
		what, its = "the records of bundles "+strings.Join(e.Bundles, ", ")+" are", "their"
	}
	return fmt.Sprintf("%s lost, and what is kept of %s releases has no order without it; hawser status NAME tells whether %s objects are there, and hawser apply makes the record again", what, its, its)
}

// LostOf is a *LostError where the record of a bundle (by owner id) is gone and earlier revisions are kept, else nil. Who may not look
// learns nothing.
func LostOf(ctx context.Context, store Store, owner string) error {
	if s, ok := store.(Remnants); ok {
		if bundles, err := s.Remnants(ctx, owner, nil); err == nil && len(bundles) > 0 {
			return &LostError{bundles}
		}
	}
	return nil
}

// lost is LostOf of all bundles but those with a record; the error is also for what could not be looked at.
func lost(ctx context.Context, store Store, known []string) error {
	s, ok := store.(Remnants)
	if !ok {
		return nil
	}
	slices.Sort(known)
	bundles, err := s.Remnants(ctx, "", known)
	if err == nil && len(bundles) > 0 {
		err = &LostError{bundles}
	}
	return err
}
