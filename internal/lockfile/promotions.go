package lockfile

import (
	"maps"
	"slices"
)

// Promotions are pins of some clusters, over those of all: by fleet, by bundle, by the clusters that they are for (InGroup or
// OnCluster), and by source.
type Promotions map[string]map[string]map[string]map[string]Pin

// InGroup names the clusters of a group, OnCluster one cluster, in Promotions.
func InGroup(group string) string { return "group " + group }

// OnCluster names one cluster.
func OnCluster(name string) string { return "cluster " + name }

// At are the pins that count for a bundle on a cluster: its own go before those of its group.
func (p Promotions) At(fleet, bundle, group, cluster string) map[string]Pin {
	out := maps.Clone(p[fleet][bundle][InGroup(group)])
	if own := p[fleet][bundle][OnCluster(cluster)]; out == nil {
		out = own
	} else {
		maps.Copy(out, own)
	}
	return out
}

// Clone is a copy that shares nothing.
func (p Promotions) Clone() Promotions {
	out := Promotions{}
	for fleet, bundles := range p {
		for bundle, places := range bundles {
			for place, pins := range places {
				for key, pin := range pins {
					out.Set(fleet, bundle, place, key, pin)
				}
			}
		}
	}
	return out
}

// Set pins a source of a bundle at a place.
func (p Promotions) Set(fleet, bundle, place, key string, pin Pin) {
	if p[fleet] == nil {
		p[fleet] = map[string]map[string]map[string]Pin{}
	}
	if p[fleet][bundle] == nil {
		p[fleet][bundle] = map[string]map[string]Pin{}
	}
	if p[fleet][bundle][place] == nil {
		p[fleet][bundle][place] = map[string]Pin{}
	}
	p[fleet][bundle][place][key] = pin
}

// Keep lets go of what is pinned at a place for sources that are not among the keys, and of what is empty then.
func (p Promotions) Keep(fleet, bundle, place string, keys ...string) {
	maps.DeleteFunc(p[fleet][bundle][place], func(key string, _ Pin) bool { return !slices.Contains(keys, key) })
	if len(p[fleet][bundle][place]) == 0 {
		delete(p[fleet][bundle], place)
	}
	if len(p[fleet][bundle]) == 0 {
		delete(p[fleet], bundle)
	}
	if len(p[fleet]) == 0 {
		delete(p, fleet)
	}
}
