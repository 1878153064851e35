package release

import (
	"context"
	"time"
)

// WhoIsAt says who is at work on a record that is open, "" when nobody is.
func WhoIsAt(ctx context.Context, store Store, rec Record) string {
	watched, ok := store.(Watched)
	if !ok || !rec.Phase.Open() {
		return ""
	}
	held, err := watched.Holder(ctx, rec.Owner)
	if err != nil || held == nil {
		return "" // who may not look is told what the record says
	}
	return held.Holder + " since " + held.Since.UTC().Format(time.RFC3339)
}
