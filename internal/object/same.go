package object

import "maps"

// SameContent compares two versions of an object without bookkeeping.
func SameContent(live, after map[string]any) bool {
	a, b := maps.Clone(live), maps.Clone(after)
	for _, m := range []map[string]any{a, b} {
		meta, _ := m["metadata"].(map[string]any)
		meta = maps.Clone(meta)
		for _, k := range []string{"managedFields", "resourceVersion", "generation"} {
			delete(meta, k)
		}
		m["metadata"] = meta
	}
	return DigestJSON(a) == DigestJSON(b)
}
