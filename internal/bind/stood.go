package bind

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// CodeMisfit is the code of the finding that an instance is checked no further, as references that are not read stand in for their values in it.
const CodeMisfit = "stand-in-misfit"

// CodeOwnStandsIn is the code of the warning that texts of the package stand in for values, and not their references.
const CodeOwnStandsIn = "stand-in-default"

// Stood are the references that are not read, so that each stands for itself.
func Stood(refs []From) []From {
	return slices.DeleteFunc(slices.Clone(refs), func(f From) bool { return !f.Stood })
}

// OwnTexts gives values in which the package's own text stands in for a reference that is not read, and those references: none where it has no such text.
func OwnTexts(v v1alpha1.Values, refs []From, own func(v1alpha1.Path) *v1alpha1.Value) (v1alpha1.Values, []From) {
	at := map[string]*v1alpha1.Value{}
	var out []From
	for _, f := range Stood(refs) {
		path, err := v1alpha1.ParsePath(f.At)
		if x := stepped(v.Struct, path); err != nil || x == nil || !f.unread(x) {
			continue
		}
		if x := own(path); x != nil {
			if s, ok := x.Str(); ok && s != "" {
				at[f.At], out = text(s, f.node.Pos), append(out, f)
			}
		}
	}
	return Replaced(v, at), out
}

// OwnStandsIn warns that the package's own texts stand in for references, as what they were written as does not fit.
func OwnStandsIn(refs []From) diag.Finding {
	n := diag.Warnf(CodeOwnStandsIn, "the package's own values stand in for %s", diag.Few(written(refs)))
	if len(refs) == 1 {
		n.What = "the package's own value stands in for " + refs[0].Ref
	}
	n.Pos, n.Path = refs[0].Pos, "values."+refs[0].At
	n.Why = "with references in their place it does not render"
	return n
}

// Doubtful are findings with one warning instead of the errors of an instance that may come of references which are not read, and stand for themselves.
// What is wrong with a value that is as it is written, or with the name of a field, stays an error. whole says what does not do, with %s for the
// instance, undone what is not checked then.
func Doubtful(fs diag.Findings, in v1alpha1.Instance, refs []From, whole, undone string) diag.Findings {
	stood := Stood(refs)
	var out, doubt diag.Findings
	for _, f := range fs {
		if f.Severity == diag.Error && f.Instance == in.Name && len(stood) > 0 && inDoubt(f, in.Values, stood) {
			doubt = append(doubt, f)
		} else {
			out = append(out, f)
		}
	}
	if len(doubt) == 0 {
		return fs
	}
	n := diag.Warnf(CodeMisfit, whole+" with what stands in for %s", in.Name, diag.Few(written(stood)))
	n.Instance, n.Pos, n.Why = in.Name, diag.Pos(in.Pos), firstOf(doubt)
	if one := slices.IndexFunc(doubt, func(f diag.Finding) bool { return touched(f.Path, stood) >= 0 }); one >= 0 {
		f := stood[touched(doubt[one].Path, stood)]
		n.Pos, n.Path = f.Pos, "values."+f.At
	}
	n.Fix = undone + ": do without --stand-ins where the references can be read"
	return append(out, n)
}

// inDoubt reports whether an error may come of what stands in.
func inDoubt(f diag.Finding, v v1alpha1.Values, stood []From) bool {
	if strings.HasPrefix(f.Code, "unknown-") || strings.HasSuffix(f.Code, "syntax") || f.Code == "missing-field" || strings.HasPrefix(f.What, "is not a field that ") || f.Code == "chart-schema" {
		return false
	}
	below, ok := strings.CutPrefix(f.Path, "values.")
	if !ok {
		return true
	}
	path, err := v1alpha1.ParsePath(below)
	return err != nil || stepped(v.Struct, path) == nil || touched(f.Path, stood) >= 0 // else it is at a value that is as it is written
}

// touched is which of the references a path leads to, or into, or around, -1 for none.
func touched(path string, refs []From) int {
	within := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+".") }
	return slices.IndexFunc(refs, func(f From) bool {
		a, b := dotted(path), dotted("values."+f.At)
		return within(a, b) || within(b, a)
	})
}

// written are references as they are written, each once.
func written(refs []From) (out []string) {
	for _, f := range refs {
		if !slices.Contains(out, f.Ref) {
			out = append(out, f.Ref)
		}
	}
	return out
}

// firstOf tells the first of errors, and how many more there are.
func firstOf(fs diag.Findings) string {
	const most = 3
	var out []string
	for _, f := range fs[:min(most, len(fs))] {
		say := diag.Finding{Path: f.Path, What: f.What}.String()
		if f.Object != "" {
			say = f.Object + ": " + say
		}
		out = append(out, say)
	}
	if more := len(fs) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}
