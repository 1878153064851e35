package recordkeeping

import (
	"context"

	"hawser.dev/hawser/internal/release"
)

// Took is by uid whom objects were taken over from, "" for what was made here, as the kept revisions tell; the newest one decides. That it was made
// here is the word of the revision alone whose record is gone (now): what that one lacks was let go since, and may be somebody else's by now. What
// cannot be read tells nothing.
func Took(ctx context.Context, store release.Store, owner string, now *release.Record) map[string]string {
	took := map[string]string{}
	if kept, ok := store.(release.History); ok {
		_ = kept.Revisions(ctx, owner, func(rec release.Record) error {
			for _, o := range rec.Inventory {
				if _, known := took[o.UID]; !known && o.UID != "" && (o.Taken != "" || now != nil && now.Revision == rec.Revision) {
					took[o.UID] = o.Taken
				}
			}
			return nil
		})
	}
	return took
}
