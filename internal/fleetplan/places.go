package fleetplan

import (
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lockfile"
)

// Learned is what an apply found out about a cluster.
type Learned struct {
	// Identity is the cluster's; Known says that it is one of the fleet's by name, so that it is kept.
	Identity fleet.Identity
	Known    bool
	// Signed is the lineage that the run wrote there, also where it failed then; Found the one that was there, "" for another's.
	Signed, Found string
}

// News are what hawser.lock learns from the run: the bundle's lineage, and the identities of the clusters of a fleet that it reached. of is asked for
// each cluster, false for one that the run did not go to.
func (o *Outcome) News(fleetName string, of func(cluster string) (Learned, bool)) lockfile.News {
	news := lockfile.News{Fleet: fleetName, UIDs: map[string]string{}, Servers: map[string]string{}}
	for _, row := range o.Clusters {
		l, ok := of(row.Cluster)
		if !ok {
			continue
		}
		switch {
		case l.Signed != "":
			news.Lineages = map[string]string{o.Bundle: l.Signed}
		case l.Found != "" && news.Lineages == nil:
			news.Lineages = map[string]string{o.Bundle: l.Found}
		}
		switch {
		case !l.Known || row.Result != Succeeded && row.Result != UpToDate:
		case l.Identity.Strong():
			news.UIDs[row.Cluster] = l.Identity.UID
		default:
			news.Servers[row.Cluster] = l.Identity.Server
		}
	}
	return news
}

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
