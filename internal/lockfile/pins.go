package lockfile

import (
	"maps"
	"slices"
)

// Pin sets the pins of the sources that bundles use now, by the bundles' names, and returns the pins that go: those that
// only these bundles used. Pins of other bundles stay, and so do those of which nobody knows whose they are: who else
// wrote one has pinned a source of theirs. The file must come from Read or Parse.
func (f File) Pin(pins map[string]Pin, uses map[string][]string) (dropped map[string]Pin) {
	left := map[string]bool{}
	for bundle, keys := range uses {
		for _, key := range f.Bundles[bundle] {
			left[key] = true
		}
		if f.Bundles[bundle] = slices.Compact(slices.Sorted(slices.Values(keys))); len(keys) == 0 {
			delete(f.Bundles, bundle)
		}
	}
	maps.Copy(f.Sources, pins)
	for _, keys := range f.Bundles {
		for _, key := range keys {
			delete(left, key)
		}
	}
	dropped = map[string]Pin{}
	for key := range left {
		if pin, pinned := f.Sources[key]; pinned {
			dropped[key] = pin
			delete(f.Sources, key)
		}
	}
	return dropped
}

// Users are the bundles that use a source as far as the file says, sorted.
func (f File) Users(key string) (out []string) {
	for bundle, keys := range f.Bundles {
		if slices.Contains(keys, key) {
			out = append(out, bundle)
		}
	}
	slices.Sort(out)
	return out
}
