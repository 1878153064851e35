package plan

// Expired reports whether an object that may not be there counts as done: it goes by itself when it is, and nobody waited
// for that in vain.
func (o InventoryEntry) Expired(found bool) bool {
	return !found && o.Expires && !o.Awaited && o.UID != ""
}

// expired reports whether a declared object is done and gone, as it was declared: there is nothing to do. In a namespace
// that is gone too it was not its time to live that removed it, and of what was begun to be deleted everything is made again.
func (c *computation) expired(d Desired, own InventoryEntry) bool {
	there, known := c.NamespaceExists[d.Ref.Namespace]
	return own.Expired(false) && d.Expires && !c.deleted() && own.Hook == nil && own.Digest == d.Digest && own.Version == d.Version && (there || !known)
}

// missed says why an object of ours that is not there is made again.
func (c *computation) missed(d Desired, own InventoryEntry) string {
	switch {
	case c.deleted():
		return "was deleted by the run that ended while deleting"
	case !own.Expires:
		return "was deleted by somebody"
	case own.Awaited:
		return "is gone, and nobody saw it end well"
	case own.Digest != d.Digest:
		return "was done and removed, and is declared otherwise now"
	}
	return "was deleted by somebody"
}

// deleted reports whether the last run was to delete everything; one that was to eject it deleted nothing.
func (c *computation) deleted() bool { return c.Undone && !c.Freeing }
