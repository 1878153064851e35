package release

import (
	"errors"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// MissingError is wrapped by errors about a Secret that a record names and that is not there, though the record is the current one.
type MissingError struct {
	// Secret is "namespace/name".
	Secret string
	Err    error
}

// Error names the Secret.
func (e *MissingError) Error() string { return "the Secret " + e.Secret + " is missing" }

// Unwrap is the answer of the API server.
func (e *MissingError) Unwrap() error { return e.Err }

// CodeLostRelease is that of the finding that what a release declared is not there any more.
const CodeLostRelease = "lost-release"

// Unkept is the finding that the objects of a release cannot be read; none for no error.
func Unkept(r *Record, err error) diag.Findings {
	if lost, ok := errors.AsType[*MissingError](err); ok && !errors.Is(err, ErrDamaged) {
		f := diag.Errorf(CodeLostRelease, "the objects of release %s are no longer kept here: the Secret %s is missing", r.Called(), lost.Secret)
		f.Why = "what the release declared was in it and nowhere else: what it wrote cannot be written again, nor compared with what is there"
		f.Fix = "apply its files, which compares with them, and keeps the objects again with the first change; or choose another release with --to"
		return diag.Findings{f}
	}
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
// it hides of what it writes: of an object that is there already nothing is told where nothing that is hidden changes. bodies are the objects of
// that release, mask is what hides in a value of an instance.
func Believed(p *plan.Plan, bodies map[object.Ref]object.Object, mask func(instance, text string) string) diag.Findings {
	var gives, hides, runs []string
	for _, ch := range p.Changes {
		body, kept := bodies[ch.Ref]
		if !kept || !ch.Action.Writes() || ch.Action == plan.Delete {
			continue
		}
		if body.Grants() {
			gives = append(gives, fmt.Sprintf("%s (%s)", ch.Ref, ch.Action))
		}
		if ch.HidesNothing(mask) {
			continue
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(body.Sensitive)))); n > 0 && !ch.Ref.IsSecret() {
			hides = append(hides, fmt.Sprintf("%s (%d)", ch.Ref, n))
		}
		_, _, hidden := body.Open()
		for _, path := range hidden {
			runs = append(runs, fmt.Sprintf("%s: %s", ch.Ref, path))
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
		f := diag.Warnf("hidden-by-release", "values are hidden because the kept release says that they are secret: %s", diag.Few(hides))
		f.Why = "nobody else knows any more which values were"
		f.Fix = "hawser history diff shows where they are"
		out = append(out, f)
	}
	if len(runs) > 0 {
		f := diag.Warnf("hidden-by-release", "parts of what runs are hidden because the kept release says that they are secret: %s", diag.Few(runs))
		f.Why = "a secret in an image or a command is no longer known to anybody else; whoever may write Secrets in hawser-system there can hide one of their own so"
		f.Fix = "if no image, command or argument there held a secret, do not go on: apply the files of the former release instead"
		out = append(out, f)
	}
	return out
}
