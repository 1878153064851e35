package answer

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
)

// The codes of findings about objects that a server may take when something else is there.
const (
	CodeMissingNamespace = "missing-namespace"
	CodeInvalidObject    = "invalid-object"
	// CodeForbidden is a refusal with 403 that no webhook made: by admission, or for a right that is missing.
	CodeForbidden = "forbidden"
)

// Tried says of a dry run what was tried: an object that is New, or an Update of one, Namespaced or not. Without says what it
// needs and is not there before the plan is carried out, "" for nothing.
type Tried struct {
	New, Update, Namespaced bool
	Without                 string
}

// Refusal says what the error of a dry run means: why the server cannot be asked (later), or a finding, to which its text
// is added.
func Refusal(err error, t Tried) (f diag.Finding, later string) {
	webhook, isHook := Webhook(err)
	switch {
	case isHook && strings.Contains(err.Error(), "does not support dry run"):
		return f, "preview refused by webhook " + webhook
	case IsConversion(err) && t.Update:
		return f, "managed fields name a removed version, which the update repairs"
	case isHook && strings.Contains(err.Error(), "failed calling webhook"):
		f = diag.Errorf("webhook-unreachable", "webhook %s does not answer", webhook)
		f.Fix = "repair the webhook's service, or remove its configuration"
	case isHook:
		f = diag.Errorf("webhook-refused", "webhook %s refuses the object", webhook)
	case apierrors.IsForbidden(err):
		f = diag.Errorf(CodeForbidden, "the change is forbidden")
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || IsTerminal(err):
		f = diag.Errorf(CodeInvalidObject, "the API server refuses the object")
		if slices.ContainsFunc(Causes(err), Beside) && !t.New {
			f.Fix = "where others have added entries beside ours, take theirs out: kubectl get --show-managed-fields tells whose they are"
		}
	case apierrors.IsNotFound(err) && t.Without != "":
		return f, t.Without
	case apierrors.IsNotFound(err) && t.Namespaced:
		f = diag.Errorf(CodeMissingNamespace, "the namespace or the kind does not exist")
	case errors.Is(err, context.Canceled):
		f = diag.Errorf("interrupted", "interrupted")
	default:
		f = diag.Errorf("preview", "the API server cannot check the object")
	}
	if IsConversion(err) {
		f.Fix = "an older apply names a version the kind no longer has; apply without --server-check repairs it"
	}
	if f.Fix == "" {
		f.Fix = WayOn(err, "apply")
	}
	return f, ""
}

// OnlyTaken reports that a new object is refused only because the old one still holds its address or port.
func OnlyTaken(err error) bool {
	list := Causes(err)
	return len(list) > 0 && !slices.ContainsFunc(list, func(c metav1.StatusCause) bool {
		return !strings.Contains(c.Message, "already allocated")
	})
}
