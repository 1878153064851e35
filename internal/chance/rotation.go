package chance

import (
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Rotation is what is to be made anew: INSTANCE or INSTANCE/NAME each, where NAME is one of Answers.Without.
type Rotation []string

// Has reports whether anything of an instance is to be made anew.
func (r Rotation) Has(instance string) bool {
	return slices.ContainsFunc(r, func(x string) bool { return x == instance || strings.HasPrefix(x, instance+"/") })
}

// Of are the answers of an instance that stay.
func (r Rotation) Of(instance string, a Answers) Answers {
	for _, x := range r {
		if at, name, _ := strings.Cut(x, "/"); at == instance {
			a, _ = a.Without(name)
		}
	}
	return a
}

// All reports whether everything of an instance is to be made anew.
func (r Rotation) All(instance string) bool {
	return slices.ContainsFunc(r, func(x string) bool { return strings.TrimSuffix(x, "/") == instance })
}

// Rotated is a bundle on a cluster, as far as what is made anew there depends on it.
type Rotated struct {
	Bundle    string
	Instances []string
	// Beside are the instances of the other bundles of the same run, by bundle: their entries are vetted with those.
	Beside map[string][]string
	// Elsewhere are the instances that have no place on the cluster, with the reason.
	Elsewhere map[string]string
	Suspended map[string]bool
	Kept      map[string]Answers
}

// Vet finds entries that name no instance of the bundle, nor of another one of the run, or one of several bundles, or nothing that is
// kept, or what is suspended: nothing of it is written. What has no place on the cluster is left alone there.
func (r Rotation) Vet(of Rotated) diag.Findings {
	var findings diag.Findings
	for _, x := range r {
		instance, name, _ := strings.Cut(x, "/")
		a := of.Kept[instance]
		_, gone := a.Without(name)
		var f diag.Finding
		switch have := of.have(instance); {
		case len(have) == 0:
			f = diag.Errorf("unknown-instance", "--rotate %s: there is no instance %q", x, instance)
			f.Fix = diag.OneOf(instance, of.all())
		case !slices.Contains(have, of.Bundle):
			continue
		case len(have) > 1:
			f = diag.Errorf("unclear-instance", "--rotate %s: %s have an instance %q each, with values of their own", x, strings.Join(have, " and "), instance)
			f.Fix = "choose one bundle with --bundle"
		case of.Elsewhere[instance] != "":
			continue
		case of.Suspended[instance]:
			f = diag.Errorf("rotate-suspended", "--rotate %s: %s is suspended: nothing of it is written, and it would keep what was made up", x, instance)
			f.Fix = "end the suspension, or leave the cluster out"
		case gone > 0 || len(a.Calls) == 0 && name == "":
			continue
		default:
			f = diag.Errorf("nothing-to-rotate", "--rotate %s: nothing of that name was made up for %s", x, instance)
			if f.Fix = "nothing was"; len(a.Calls) > 0 {
				f.Fix = "there is: " + strings.Join(a.Names(), ", ")
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// have are the bundles of the run that have an instance, in the order of their names.
func (r Rotated) have(instance string) (bundles []string) {
	if slices.Contains(r.Instances, instance) {
		bundles = append(bundles, r.Bundle)
	}
	for bundle, instances := range r.Beside {
		if slices.Contains(instances, instance) {
			bundles = append(bundles, bundle)
		}
	}
	slices.Sort(bundles)
	return bundles
}

// all are the instances of the run: the bundle's own as they are declared, or with those of others the same for each bundle.
func (r Rotated) all() []string {
	if len(r.Beside) == 0 {
		return r.Instances
	}
	out := slices.Concat(append(slices.Collect(maps.Values(r.Beside)), r.Instances)...)
	slices.Sort(out)
	return slices.Compact(out)
}
