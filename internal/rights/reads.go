package rights

import (
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
)

// Queried are the objects that a fleet's queries read on every cluster, nil without a fleet.
func Queried(f *v1alpha1.FleetSpec) []object.Ref {
	if f == nil {
		return nil
	}
	var out []object.Ref
	for _, q := range f.Values {
		if parsed, err := fleet.ParseQuery(q.Query); err == nil {
			ref := object.Ref{Kind: parsed.Kind, Namespace: parsed.Namespace, Name: parsed.Name}
			if group, _, named := strings.Cut(parsed.APIVersion, "/"); named {
				ref.Group = group
			}
			out = append(out, ref)
		}
	}
	return out
}

// Partly lets the rights of a bundle be told where some of what decides about it could not be read (unread): that is a warning, and
// where the bundle cannot be evaluated for it (fs), nothing but its name is known, chosen or the only one of names.
func Partly(spec v1alpha1.BundleSpec, fs, unread diag.Findings, chosen string, names []string) (v1alpha1.BundleSpec, diag.Findings) {
	if chosen == "" && len(names) == 1 {
		chosen = names[0]
	}
	no := unread.Errors()
	if len(no) == 0 || fs.HasErrors() && chosen == "" {
		return spec, fs
	}
	var out diag.Findings
	for _, f := range no {
		f.Severity = diag.Warning
		out = append(out, f)
	}
	if !fs.HasErrors() {
		return spec, append(out, fs...)
	}
	f := diag.Warnf("unknown-rights", "what bundle %s declares is not known without what could not be read: rights for it are not among these", chosen)
	f.Why, f.Fix = fs.Errors()[0].What, "grant these, and run the same again"
	return v1alpha1.BundleSpec{Name: chosen}, append(out, f)
}
