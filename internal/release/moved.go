package release

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// together reports whether two records are of bundles of one place.
func (r Record) together(o Record) bool {
	return r.Owner != o.Owner && r.Source.Path != "" && r.Source == o.Source && r.Fleet == o.Fleet
}

// lasting are what an inventory has of an instance itself: without hooks and Namespaces that are merely used.
func lasting(o plan.InventoryEntry) bool { return o.Hook == nil && !o.OwnNamespace }

// MovedTo is the bundle that has an object of a record now, by object, where that is one of the same place whose record names it:
// it moved there, or the bundle was renamed. live is what was observed of the record's objects. A record that cannot be read
// proves nothing.
func MovedTo(ctx context.Context, store Store, rec Record, live map[object.Ref]plan.Live) map[object.Ref]string {
	return movedTo(ctx, store, rec, live, func(Record) bool { return true })
}

// Given are those of MovedTo that the other bundle has because the files say so: what it took back by going back to a release of its
// own is still this one's, as its record says.
func Given(ctx context.Context, store Store, rec Record, live map[object.Ref]plan.Live) map[object.Ref]string {
	return movedTo(ctx, store, rec, live, func(heir Record) bool { return heir.RollbackTo == nil })
}

func movedTo(ctx context.Context, store Store, rec Record, live map[object.Ref]plan.Live, counts func(heir Record) bool) map[object.Ref]string {
	out, heirs := map[object.Ref]string{}, map[string]*Record{}
	for _, o := range rec.Inventory {
		l := live[o.Ref]
		if !l.Found || !l.ForeignBundle || l.ApplyHash != "" || len(l.ForeignManagers) != 1 || !lasting(o) {
			continue
		}
		owner := object.OwnerOf(l.ForeignManagers[0])
		if _, asked := heirs[owner]; !asked {
			heirs[owner], _, _ = store.Current(ctx, owner)
		}
		heir := heirs[owner]
		if heir != nil && rec.together(*heir) && counts(*heir) && slices.ContainsFunc(heir.Inventory, func(h plan.InventoryEntry) bool { return h.Ref == o.Ref && h.UID == l.UID }) {
			out[o.Ref] = heir.Bundle
		}
	}
	return out
}

// Moves finds among records of one cluster those of which everything moved to bundles of the same place. The zero value is empty.
type Moves struct {
	records []Record // without what is not needed
}

// Add adds the current record of a bundle.
func (m *Moves) Add(rec Record) {
	slim := Record{Bundle: rec.Bundle, Owner: rec.Owner, Source: rec.Source, Fleet: rec.Fleet, Started: rec.Started}
	for _, o := range rec.Inventory {
		if lasting(o) && o.UID != "" {
			slim.Inventory = append(slim.Inventory, plan.InventoryEntry{Ref: o.Ref, UID: o.UID})
		}
	}
	m.records = append(m.records, slim)
}

// Mark tells the listings of the records' bundles where everything of theirs is now. Of two records that have an object the later
// one says whose it is.
func (m *Moves) Mark(bundles []BundleListing) {
	for i, b := range bundles {
		at := slices.IndexFunc(m.records, func(r Record) bool { return r.Bundle == b.Bundle })
		if at >= 0 {
			bundles[i].MovedTo = m.heirs(m.records[at])
		}
	}
}

// heirs are the bundles that have everything of a record now, sorted; nil where something is left of it, or was never there.
func (m *Moves) heirs(rec Record) []string {
	left := map[string]bool{}
	for _, o := range rec.Inventory {
		left[o.UID] = true
	}
	var out []string
	for _, heir := range m.records {
		if !rec.together(heir) || !heir.Started.After(rec.Started) {
			continue
		}
		for _, o := range heir.Inventory {
			if left[o.UID] {
				delete(left, o.UID)
				out = append(out, heir.Bundle)
			}
		}
	}
	if len(left) > 0 {
		return nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}
