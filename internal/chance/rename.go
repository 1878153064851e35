package chance

import (
	"maps"
	"slices"
)

// Renamed tells which instance was given another name: the one whose answers are kept and that the bundle no longer has,
// where the bundle has one instance that was not delivered before. Both are "" where that is not the whole story; then
// nobody knows whose answers are whose.
func Renamed(kept map[string]Answers, declared []string, delivered func(instance string) bool) (from, to string) {
	var gone, new []string
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if !kept[name].IsZero() && !slices.Contains(declared, name) {
			gone = append(gone, name)
		}
	}
	for _, name := range declared {
		if !delivered(name) && kept[name].IsZero() {
			new = append(new, name)
		}
	}
	if len(gone) != 1 || len(new) != 1 {
		return "", ""
	}
	return gone[0], new[0]
}
