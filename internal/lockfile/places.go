package lockfile

import (
	"maps"
	"slices"
)

// Place is what was delivered to a cluster of a fleet, and how it was reached then.
type Place struct {
	// Bundles run there, sorted.
	Bundles []string `json:"bundles,omitempty"`
	// Context is the kubeconfig context, Kubeconfig the file that the fleet names for the cluster, as it is written there.
	Context    string `json:"context,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// Left is a cluster that the file knows and the fleet no longer has.
type Left struct {
	Name, UID string
	Place     Place
	// Known is whether the file tells which bundles run there; files of earlier versions do not.
	Known bool
}

// Deliver notes that a bundle runs on a cluster, and how the cluster is reached, and reports whether that is new.
func (f File) Deliver(fleet, cluster, bundle string, access Place) bool {
	now := Place{Bundles: slices.Clone(f.Places[fleet][cluster].Bundles), Context: access.Context, Kubeconfig: access.Kubeconfig}
	if i, found := slices.BinarySearch(now.Bundles, bundle); !found {
		now.Bundles = slices.Insert(now.Bundles, i, bundle)
	}
	return f.place(fleet, cluster, now)
}

// Delivered reports whether the file says that a bundle runs on a cluster; without a fleet, that it was applied at all.
func (f File) Delivered(fleet, cluster, bundle string) bool {
	if fleet == "" {
		return f.Lineages[bundle] != ""
	}
	return slices.Contains(f.Places[fleet][cluster].Bundles, bundle)
}

// Withdraw notes that a bundle does not run on a cluster any more, and reports whether that is new. The cluster stays
// known.
func (f File) Withdraw(fleet, cluster, bundle string) bool {
	now, known := f.Places[fleet][cluster]
	if !known {
		return false
	}
	now.Bundles = slices.DeleteFunc(slices.Clone(now.Bundles), func(b string) bool { return b == bundle })
	return f.place(fleet, cluster, now)
}

func (f File) place(fleet, cluster string, now Place) bool {
	if was, known := f.Places[fleet][cluster]; known && was.equal(now) {
		return false
	}
	if f.Places[fleet] == nil {
		f.Places[fleet] = map[string]Place{}
	}
	f.Places[fleet][cluster] = now
	return true
}

func (p Place) equal(o Place) bool {
	return slices.Equal(p.Bundles, o.Bundles) && p.Context == o.Context && p.Kubeconfig == o.Kubeconfig
}

// Forget drops everything that is known of a cluster, and reports whether anything was.
func (f File) Forget(fleet, cluster string) bool {
	_, placed := f.Places[fleet][cluster]
	_, pinned := f.Clusters[fleet][cluster]
	delete(f.Places[fleet], cluster)
	for _, m := range []map[string]map[string]string{f.Clusters, f.Servers} {
		delete(m[fleet], cluster)
		if len(m[fleet]) == 0 {
			delete(m, fleet)
		}
	}
	if len(f.Places[fleet]) == 0 {
		delete(f.Places, fleet)
	}
	return placed || pinned
}

// LeftOf are the clusters of a fleet that the file knows, that are not declared any more, and on which bundles run, or may
// run, by name. declared are the names the fleet has; uids those of its clusters where they are known: one of them under
// another name was renamed, and has not left.
func (f File) LeftOf(fleet string, declared []string, uids []string) []Left {
	names := map[string]bool{}
	for name := range f.Places[fleet] {
		names[name] = true
	}
	for name := range f.Clusters[fleet] {
		names[name] = true
	}
	here := map[string]bool{}
	for _, uid := range uids {
		here[uid] = uid != ""
	}
	for _, name := range declared {
		if uid := f.Clusters[fleet][name]; uid != "" {
			here[uid] = true
		}
	}
	var out []Left
	for _, name := range slices.Sorted(maps.Keys(names)) {
		place, known := f.Places[fleet][name]
		uid := f.Clusters[fleet][name]
		if slices.Contains(declared, name) || here[uid] || known && len(place.Bundles) == 0 {
			continue
		}
		out = append(out, Left{Name: name, UID: uid, Place: place, Known: known})
	}
	return out
}

// Former is the bundle of an owner id (id makes them of names) that was applied to a cluster of a fleet and deleted there, ""
// for none that is known. What it left may go to another bundle of the files. Without a fleet nothing tells a bundle that was
// deleted from one whose record is lost.
func (f File) Former(fleet, cluster, owner string, id func(bundle string) string) string {
	if _, known := f.Places[fleet][cluster]; !known || fleet == "" {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(f.Lineages)) {
		if id(name) == owner && !f.Delivered(fleet, cluster, name) {
			return name
		}
	}
	return ""
}
