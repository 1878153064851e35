package release

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// WhoIsAt says who is at work on a record that is open, "" when nobody is.
func WhoIsAt(ctx context.Context, store Store, rec Record) string {
	watched, ok := store.(Watched)
	if !ok || !rec.Standing().Open() {
		return ""
	}
	held, err := watched.Holder(ctx, rec.Owner)
	if err != nil || held == nil {
		return "" // who may not look is told what the record says
	}
	return held.Holder + " since " + held.Since.UTC().Format(time.RFC3339)
}

// Busy finds that another run holds the lock of a bundle now, in words that Locked gives too. It is nil when none does, and
// where that cannot be seen: whoever takes the lock is told.
func Busy(ctx context.Context, store Store, owner string) diag.Findings {
	watched, ok := store.(Watched)
	if !ok {
		return nil
	}
	held, err := watched.Holder(ctx, owner)
	if err != nil || held == nil {
		return nil
	}
	return Locked(&LockedError{Held: *held})
}

// Since says of a record that another run wrote after a plan was made from an earlier one (was) who that was, and what it did; of a nil one that it is
// gone. Who corrects the release makes no revision, and is named in the note of that.
func (r *Record) Since(was *Record) string {
	if r == nil {
		return "another run has deleted or ejected the bundle since"
	}
	what, who := "has changed the record since", r.Author
	switch last := r.lastCorrection(); {
	case r.Revision == was.At() && last != nil && (was.lastCorrection() == nil || last.Rollout != was.lastCorrection().Rollout):
		what, who = "has corrected the release since", last.Author
	case r.RollbackTo != nil:
		what = "has gone back to release " + r.RollbackTo.String() + " since"
	case r.Shown() == Ejecting:
		what = "has begun to eject the bundle since"
	case r.Phase == Deleting:
		what = "has begun to delete the bundle since"
	}
	return cmp.Or(who, "another run") + " " + what
}

// Locked is what an error of Store.Lock says when the lock is another run's, nil for every other error.
func Locked(err error) diag.Findings {
	if !errors.Is(err, ErrLocked) {
		return nil
	}
	f := diag.Errorf("locked", "another run is at work on this bundle")
	if l, ok := errors.AsType[*LockedError](err); ok {
		f.What = "locked by " + l.Holder + ", another run that is at work on this bundle"
		f.Why = "since " + l.Since.UTC().Format(time.RFC3339) + ", until " + l.Expires.UTC().Format(time.RFC3339) + " unless renewed"
	}
	f.Fix = "wait until that run has ended; if it died, the next run after that time takes the lock over: there is nothing to unlock"
	return diag.Findings{f}
}
