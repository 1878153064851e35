package waitlist

import (
	"cmp"
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
