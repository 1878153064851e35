package release

import (
	"context"
	"fmt"
	"strings"
)

// Remnants is what a Store can do besides that finds what is left of bundles whose current record is not in it.
type Remnants interface {
	// Remnants gives what is left of one owner's, or with "" of all but those that are known by their current records. What was found stands
	// beside an error.
	Remnants(ctx context.Context, owner string, known []string) (Left, error)
}

// Left is what is left of bundles.
type Left struct {
	// Lost are those that had a current record, as what is kept of them tells, sorted.
	Lost []string
	// Away are those, of all, whose records the cluster says are at another place than here.
	Away []Pointer
	Here Place
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
		if left, err := s.Remnants(ctx, owner, nil); err == nil && len(left.Lost) > 0 {
			return &LostError{left.Lost}
		}
	}
	return nil
}
