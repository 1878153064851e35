package recordkeeping

import (
	"context"

	"hawser.dev/hawser/internal/release"
)

// Took is by uid whom the objects of the kept revisions were taken over from, "" for what was made here; the newest revision decides. What
// cannot be read tells nothing.
func Took(ctx context.Context, store release.Store, owner string) map[string]string {
	took := map[string]string{}
	if kept, ok := store.(release.History); ok {
		_ = kept.Revisions(ctx, owner, func(rec release.Record) error {
			for _, o := range rec.Inventory {
				if _, known := took[o.UID]; !known && o.UID != "" {
					took[o.UID] = o.Taken
				}
			}
			return nil
		})
	}
	return took
}
