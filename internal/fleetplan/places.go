package fleetplan

import "hawser.dev/hawser/internal/lockfile"

// Places notes in hawser.lock on which clusters of a fleet the bundle runs after the run, and reports whether anything is new.
// place says how a cluster is reached, false for one that the file does not know by name. A rollback changes nothing there.
func (o *Outcome) Places(file lockfile.File, fleet string, place func(cluster string) (lockfile.Place, bool)) bool {
	changed := false
	for _, row := range o.Clusters {
		p, ok := place(row.Cluster)
		switch {
		case !ok:
		case Ends(o.Verb) && (row.Result == Succeeded || row.Result == UpToDate):
			changed = file.Withdraw(fleet, row.Cluster, o.Bundle) || changed
		case o.Verb == "apply" && row.Revision > 0:
			changed = file.Deliver(fleet, row.Cluster, o.Bundle, p) || changed
		}
	}
	return changed
}
