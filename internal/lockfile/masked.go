package lockfile

import (
	"slices"

	"hawser.dev/hawser/internal/redact"
)

// masked is the file without credentials in the addresses of its sources, which earlier versions wrote there. The pin of a source that is
// there masked already counts; where two that are masked alike have different pins, a pin without digest says that nobody knows which of them
// is meant: also of those of promotions, in whose place the source's would count.
func (f File) masked() File {
	f.Sources, _ = maskedPins(f.Sources)
	for bundle, keys := range f.Bundles {
		out := make([]string, len(keys))
		for i, key := range keys {
			out[i] = redact.Credentials(key)
		}
		f.Bundles[bundle] = slices.Compact(slices.Sorted(slices.Values(out)))
	}
	for _, bundles := range f.Promoted {
		for _, places := range bundles {
			for place, pins := range places {
				var unclear []string
				places[place], unclear = maskedPins(pins)
				for _, key := range unclear {
					delete(places[place], key)
					f.Sources[key] = Pin{}
				}
			}
		}
	}
	return f
}

func maskedPins(pins map[string]Pin) (out map[string]Pin, unclear []string) {
	out = map[string]Pin{}
	for key, pin := range pins {
		name := redact.Credentials(key)
		if name == key {
			continue
		}
		if was, twice := out[name]; twice && was != pin {
			unclear = append(unclear, name)
		}
		out[name] = pin
	}
	for _, name := range unclear {
		out[name] = Pin{}
	}
	for key, pin := range pins {
		if redact.Credentials(key) == key {
			out[key] = pin
		}
	}
	return out, slices.DeleteFunc(unclear, func(key string) bool { return out[key] != Pin{} })
}
