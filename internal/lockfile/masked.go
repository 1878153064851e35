package lockfile

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/redact"
)

// masked is the file without what authenticates in the addresses of its sources, which earlier versions wrote there. The pin of a
// source that is there masked already counts; where two that are masked alike have different pins, neither does: they are pinned anew.
func (f File) masked() File {
	f.Sources = maskedPins(f.Sources)
	for bundle, keys := range f.Bundles {
		out := make([]string, len(keys))
		for i, key := range keys {
			out[i] = redact.Addresses(key)
		}
		f.Bundles[bundle] = slices.Compact(slices.Sorted(slices.Values(out)))
	}
	for _, bundles := range f.Promoted {
		for _, places := range bundles {
			for place, pins := range places {
				places[place] = maskedPins(pins)
			}
		}
	}
	return f
}

func maskedPins(pins map[string]Pin) map[string]Pin {
	out := map[string]Pin{}
	unclear := map[string]bool{}
	for key, pin := range pins {
		name := redact.Addresses(key)
		if name == key {
			continue
		}
		if was, twice := out[name]; twice && was != pin {
			unclear[name] = true
		}
		out[name] = pin
	}
	maps.DeleteFunc(out, func(key string, _ Pin) bool { return unclear[key] })
	for key, pin := range pins {
		if redact.Addresses(key) == key {
			out[key] = pin
		}
	}
	return out
}
