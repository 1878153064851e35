package values

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/secret"
)

// Text is a text that may be a reference, resolved: for what a run needs before it knows any cluster. A text that is none stays, and is
// known to the redactor.
func (r *Reader) Text(ctx context.Context, text string) (string, error) {
	if !secret.IsRef(text) {
		r.options.Redactor.AddFor(redact.Nobody, text)
		return text, nil
	}
	ref, err := secret.ParseRef(text)
	if err != nil {
		return "", err
	}
	value, _, f := r.Resolve(ctx, Target{Instance: redact.Nobody}, ref)
	switch {
	case f == nil:
		return value, nil
	case f.Code == CodeNotRead:
		*f = diag.Errorf("secret-not-found", "%s cannot be in the cluster that is delivered to: it is needed before any is reached", ref)
		f.Fix = "put it into a store of another kind: env, file or sops"
	}
	return "", diag.Findings{*f}.Err()
}
