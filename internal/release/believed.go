package release

import (
	"errors"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Unkept is the finding that the objects of a release cannot be read; none for no error.
func Unkept(r *Record, err error) diag.Findings {
	if !errors.Is(err, ErrDamaged) {
		return diag.From(err, "record")
	}
	f := diag.Errorf("damaged-release", "what is kept of release %s cannot be read", r.Called())
	f.Why = err.Error()
	f.Fix = "apply the files, or choose another release with --to; see who may write Secrets in hawser-system there"
	return diag.Findings{f}
}

// Copy names what is kept of a release with all that is said about its objects: clusters that keep the same share it.
func Copy(r Record, objects []object.Object) string {
	said := []any{r.SetDigest}
	for _, o := range objects {
		said = append(said, []any{o.Sensitive, o.Hook})
	}
	return object.DigestJSON(said)
}

// Believed says what a plan does because a kept release says so, and nobody else: what it makes or changes that gives rights, and what
// it hides. bodies are the objects of that release.
func Believed(p *plan.Plan, bodies map[object.Ref]object.Object) diag.Findings {
	var gives, hides []string
	for _, ch := range p.Changes {
		body, kept := bodies[ch.Ref]
		if !kept || !ch.Action.Writes() || ch.Action == plan.Delete {
			continue
		}
		if ch.Ref.Grants() {
			gives = append(gives, fmt.Sprintf("%s (%s)", ch.Ref, ch.Action))
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(body.Sensitive)))); n > 0 && !ch.Ref.IsSecret() {
			hides = append(hides, fmt.Sprintf("%s (%d)", ch.Ref, n))
		}
	}
	var out diag.Findings
	if len(gives) > 0 {
		f := diag.Warnf("gives-rights", "what gives rights, or decides about what others write, is made or changed: %s", diag.Few(gives))
		f.Why = "the release that the cluster keeps says so: whoever may write Secrets in hawser-system there can have written it"
		f.Fix = "look at it with --dry-run --diff before you go on"
		out = append(out, f)
	}
	if len(hides) > 0 {
		out = append(out, diag.Finding{Severity: diag.Info, Code: "hidden-by-release", What: "values are hidden because the kept release says that they are secret: " + diag.Few(hides),
			Why: "nobody else knows any more which values were", Fix: "hawser history diff shows where they are"})
	}
	return out
}
