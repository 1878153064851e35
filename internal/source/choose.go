package source

import (
	"fmt"
	"path"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
)

// Choose chooses the sources whose pins are to be forgotten: by instance (globs), or by the source as hawser.lock or
// the bundle writes it.
func Choose(names []string, instances []v1alpha1.Instance) (func(Source) bool, error) {
	chosen := map[Source]bool{}
	for _, name := range names {
		found := false
		for _, in := range instances {
			s, _ := Of(in)
			if ok, _ := path.Match(name, in.Name); ok || slices.Contains(s.Names(), name) {
				chosen[s], found = true, true
			}
		}
		if !found {
			f := diag.Errorf("unknown-source", "no instance and no source is called %q", name)
			var have []string
			for _, in := range instances {
				have = append(have, in.Name)
			}
			slices.Sort(have)
			f.Fix = fmt.Sprintf("name an instance (or a glob) or a source as %s writes it; instances: %v", lockfile.Name, slices.Compact(have))
			return nil, diag.Findings{f}.Err()
		}
	}
	return func(s Source) bool { return chosen[s] }, nil
}
