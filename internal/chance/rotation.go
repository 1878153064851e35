package chance

import (
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

// Vet finds entries that name no instance of the bundle, or nothing that is kept, or what is suspended: nothing of it is
// written. What has no place on the cluster (elsewhere) is left alone there.
func (r Rotation) Vet(instances []string, elsewhere map[string]string, suspended map[string]bool, kept map[string]Answers) diag.Findings {
	var findings diag.Findings
	for _, x := range r {
		instance, name, _ := strings.Cut(x, "/")
		a := kept[instance]
		_, gone := a.Without(name)
		var f diag.Finding
		switch {
		case !slices.Contains(instances, instance):
			f = diag.Errorf("unknown-instance", "--rotate %s: there is no instance %q", x, instance)
			f.Fix = diag.OneOf(instance, instances)
		case elsewhere[instance] != "":
			continue
		case suspended[instance]:
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
