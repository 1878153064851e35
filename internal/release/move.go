package release

import (
	"context"

	"hawser.dev/hawser/internal/object"
)

// Archive is everything that a store keeps of a bundle.
type Archive struct {
	// Record is the current one, nil where there is none.
	Record *Record
	// Kept are the revisions with a Set, newest first.
	Kept []KeptRevision
	// Hold is what keeps a release back, nil for nothing.
	Hold *Hold
	// Leaving is where the records are being moved to, nil where nobody has begun to.
	Leaving *Place
}

// KeptRevision is one that is kept with its Set. Phase is what is known of it now.
type KeptRevision struct {
	Record  Record
	Phase   Phase
	Objects []object.Object
}

// Mover is what a Store can do besides whose records can go to another one.
type Mover interface {
	// Place is where it keeps records. write: it is about to be written, and gets an id where it has none.
	Place(ctx context.Context, write bool) (Place, error)
	// Archive reads all that is kept of a bundle, also after Leave; a zero one when nothing is.
	Archive(ctx context.Context, owner string) (Archive, error)
	// Leave closes the records of a bundle to everything but Archive and Drop: they are being moved to another place.
	Leave(ctx context.Context, owner string, to Place) error
	// Restore makes an archive what is kept of a bundle that has no record there: all of it is there, or no record is.
	Restore(ctx context.Context, owner string, a Archive) error
	// Drop removes what Leave closed, and what an earlier Drop has left of it, and says in the cluster where it is now.
	Drop(ctx context.Context, owner string, to Place) error
}
