package source

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
)

// Choose chooses the sources whose pins are to be forgotten: by instance (globs), or by the source as hawser.lock or
// the bundle writes it. Sources that one pin would stand for are always among them.
func Choose(names []string, instances []v1alpha1.Instance) (func(Source) bool, error) {
	chosen := alike(instances)
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

// Instances are those of all bundles.
func Instances(specs []v1alpha1.BundleSpec) []v1alpha1.Instance {
	var out []v1alpha1.Instance
	for _, s := range specs {
		out = append(out, s.Instances...)
	}
	return out
}

// Declared is a source with the instances that have it.
type Declared struct {
	Source
	Instances []v1alpha1.Instance
}

// Names are the names of the instances, each once, sorted.
func (d Declared) Names() []string {
	var out []string
	for _, in := range d.Instances {
		out = append(out, in.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Distinct are the sources of bundles, each once, in the order of their keys.
func Distinct(specs []v1alpha1.BundleSpec) []Declared {
	var out []Declared
	for _, in := range Instances(specs) {
		s, ok := Of(in)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(d Declared) bool { return d.Source == s })
		if i < 0 {
			i, out = len(out), append(out, Declared{Source: s})
		}
		out[i].Instances = append(out[i].Instances, in)
	}
	slices.SortFunc(out, func(a, b Declared) int { return cmp.Compare(a.Key(), b.Key()) })
	return out
}

// KeysOf are the sources of bundles as hawser.lock names them, by the bundles' names.
func KeysOf(specs []v1alpha1.BundleSpec) map[string][]string {
	out := map[string][]string{}
	for _, spec := range specs {
		keys := out[spec.Name]
		for _, in := range spec.Instances {
			if s, ok := Of(in); ok {
				keys = append(keys, s.Key())
			}
		}
		out[spec.Name] = keys // also of a bundle without any
	}
	return out
}
