package plan

import "hawser.dev/hawser/internal/object"

// Expired reports whether an object that may not be there counts as done: it goes by itself when it is, and nobody waited
// for that in vain.
func (o Owned) Expired(found bool) bool { return !found && o.Expires && !o.Awaited && o.UID != "" }

// Vanished are the entries of an inventory of which nothing is there any more, or is being deleted, though they should
// be: what was seen of them by object. One that is done and gone is not missed.
func Vanished(inventory []Owned, live map[object.Ref]Live) map[object.Ref]bool {
	out := map[object.Ref]bool{}
	for _, o := range inventory {
		l, looked := live[o.Ref]
		if looked && o.UID != "" && (!l.Found && !o.Expired(false) || l.Terminating) {
			out[o.Ref] = true
		}
	}
	return out
}

// expired reports whether a declared object is done and gone, as it was declared: there is nothing to do. In a namespace
// that is gone too it was not its time to live that removed it.
func (c *computation) expired(d Desired, own Owned) bool {
	there, known := c.NamespaceExists[d.Ref.Namespace]
	return own.Expired(false) && d.Expires && own.Hook == nil && own.Digest == d.Digest && own.Version == d.Version && (there || !known)
}

// missed says why an object of ours that is not there is made again.
func (c *computation) missed(d Desired, own Owned) string {
	switch {
	case c.Undone:
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
