package history

import (
	"context"

	"hawser.dev/hawser/internal/release"
)

// Read is what a store keeps besides a bundle's current record, as far as the budget of its cluster goes. Where earlier ones
// cannot be read the current one, and those that could, are told all the same, beside the error.
func Read(ctx context.Context, store release.Store, current release.Record, budget *release.Budget) (Kept, error) {
	out := Kept{InProgress: release.WhoIsAt(ctx, store, current), Records: []release.Record{current}}
	keeper, ok := store.(release.History)
	if !ok {
		return out, nil
	}
	err := budget.KeepRecord(current)
	if err == nil {
		var kept []release.Record
		err = keeper.Revisions(ctx, current.Owner, func(r release.Record) error {
			if err := budget.KeepRecord(r); err != nil {
				return err
			}
			kept = append(kept, r)
			return nil
		})
		out.Records = Merge(current, kept)
	}
	return out, err
}
