package plan

// Unmarked reports whether an object carries no entry of ours in its managed fields, though it may have our label: nobody can tell what of it we wrote.
func Unmarked(live Live) bool { return live.ApplyHash == "" }

// Moved reports whether what we declared of an object is not as it was when we wrote it (o): our entry in its managed fields is another one, or is gone.
// Fields that are left to others may go their way, and whatever else others write does not count.
func Moved(o InventoryEntry, live Live) bool { return rewritten(o, live) && !live.LeftToOthers }

// rewritten is Moved with what is left to others.
func rewritten(o InventoryEntry, live Live) bool {
	return live.ResourceVersion != o.ResourceVersion && (live.ApplyHash != o.ApplyHash || Unmarked(live))
}

// MovedSince is Moved for a change of a plan file and the one that is computed now; same compares digests of the file with those of now.
func (ch Change) MovedSince(now Change, same func(saved, now string) bool) bool {
	return ch.ResourceVersion != now.ResourceVersion && (!same(ch.ApplyHash, now.ApplyHash) || ch.Action == Adopt && !same(ch.FormerEntries, now.FormerEntries))
}

// Moved reports whether an object is not as the change saw it, by its resourceVersion now, the hash of our managed fields entry and, where it is to be
// adopted, the hash of what its owner has in it: what we declared of it was changed, or what its owner has.
func (ch Change) Moved(resourceVersion, applyHash, formerEntries string) bool {
	return ch.ResourceVersion != resourceVersion && (ch.ApplyHash != applyHash || ch.Action == Adopt && ch.FormerEntries != formerEntries)
}
