package waitlist

import (
	"cmp"
	"context"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// foreign are records that are not those of the cluster in which they lie: its contexts are swapped, or they came with a copy of Secrets.
type foreign struct {
	owners  map[string]bool
	reasons []diag.Finding // each once
	bundles [][]string     // that were refused for it, by reason
}

// add takes in a record that was refused for these reasons; it reports whether there are any.
func (f *foreign) add(rec release.Record, refused diag.Findings) bool {
	if len(refused) == 0 {
		return false
	}
	if f.owners == nil {
		f.owners = map[string]bool{}
	}
	f.owners[rec.Owner] = true
	why := refused[0] // of another cluster, whatever else it says
	i := slices.Index(f.reasons, why)
	if i < 0 {
		i, f.reasons, f.bundles = len(f.reasons), append(f.reasons, why), append(f.bundles, nil)
	}
	f.bundles[i] = append(f.bundles[i], cmp.Or(rec.Bundle, "of owner "+rec.Owner))
	return true
}

// Refused says that the record of one bundle is not that of the cluster in which it lies, for these reasons; nothing without any.
func (l *List) Refused(cluster string, rec *release.Record, reasons diag.Findings) diag.Findings {
	var strange foreign
	if rec == nil || !strange.add(*rec, reasons) {
		return nil
	}
	return strange.findings(cluster).OnCluster(cluster)
}

// One is Each of one bundle, whose record was read, or is unread. What was found with it is found; strange (Refused) takes the place of its reasons.
func (l *List) One(ctx context.Context, store release.Store, owner string, rec *release.Record, unread string, found *diag.Findings, strange diag.Findings, use func(release.Record)) (unknown string) {
	switch {
	case len(strange) > 0:
		*found = append(slices.DeleteFunc(*found, func(f diag.Finding) bool { return f.Code == strange[0].Code }), strange...)
		return strange[0].What
	case rec != nil:
		use(*rec)
	case unread == "":
		if err := release.LostOf(ctx, store, owner); err != nil {
			return err.Error()
		}
	}
	return unread
}

// Own are the clusters as they stand with a bundle, of those whose record is another cluster's nothing: what is kept back there came with it.
func Own(on []release.OnCluster, strange func(i int) bool) []release.OnCluster {
	for i := range on {
		if strange(i) {
			on[i] = release.OnCluster{Cluster: on[i].Cluster}
		}
	}
	return on
}

// findings say of each reason which bundles' records are refused for it on the cluster of that name.
func (f *foreign) findings(cluster string) (out diag.Findings) {
	for i, why := range f.reasons {
		names := slices.Sorted(slices.Values(f.bundles[i]))
		found := diag.Errorf(why.Code, "what is recorded here of %s is of another cluster, and is not shown", diag.Few(names))
		found.Why = why.Why
		found.Fix = "correct the context; if this cluster was made anew or renamed: first apply with --accept-cluster " + cluster +
			"; if the records came with a copy of the other's Secrets: delete those in the namespace hawser-system"
		out = append(out, found)
	}
	return out
}
