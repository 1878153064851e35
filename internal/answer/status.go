package answer

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Causes are those of a status error, nil when there are none.
func Causes(err error) []metav1.StatusCause {
	if st, ok := StatusOf(err); ok && st.Details != nil {
		return st.Details.Causes
	}
	return nil
}

// StatusOf is the API server's answer inside an error.
func StatusOf(err error) (metav1.Status, bool) {
	if se, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return se.ErrStatus, true
	}
	return metav1.Status{}, false
}

// terminalTexts are parts of 500 answers that never heal by sending again, as tried on
// kube-apiserver v1.36.3, and etcd's limit of a request.
var terminalTexts = []string{
	"field not declared in schema", "request to convert CR", "duplicate entries", "request is too large",
	"etcdserver: request is too large", "unable to convert to", "failed to convert", "failed to create typed patch object",
	"failed to create manager for existing fields", "failed to create typed live object",
}

// IsTerminal reports a 500 that must not be sent again.
func IsTerminal(err error) bool {
	st, ok := StatusOf(err)
	if !ok {
		return false
	}
	for _, t := range terminalTexts {
		if strings.Contains(st.Message, t) {
			return true
		}
	}
	return false
}

// IsSchema reports a refusal that another schema of the kind would perhaps not make.
func IsSchema(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || IsTerminal(err)
}

// IsConversion reports a 500 answer: a managed fields entry names a version the kind no longer has.
func IsConversion(err error) bool {
	st, ok := StatusOf(err)
	return ok && strings.Contains(st.Message, "request to convert CR")
}

// IsUIDMismatch reports how the API server refuses a server-side apply with the wrong uid: 422 on metadata.uid
// (existing object) or 409 (absent object, or a race).
func IsUIDMismatch(err error) bool {
	if !apierrors.IsInvalid(err) {
		return false
	}
	for _, c := range Causes(err) {
		if c.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// IsFieldConflict reports a 409 that names managers (not a moved resourceVersion).
func IsFieldConflict(err error) bool {
	if !apierrors.IsConflict(err) {
		return false
	}
	for _, c := range Causes(err) {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			return true
		}
	}
	return false
}

// Webhook reports a failed call of an admission webhook (not its refusal) and names the webhook.
func Webhook(err error) (name string, ok bool) {
	st, isStatus := StatusOf(err)
	if !isStatus {
		return "", false
	}
	msg := st.Message
	_, rest, found := strings.Cut(msg, `failed calling webhook "`)
	if !found {
		if _, rest, found = strings.Cut(msg, `admission webhook "`); !found {
			return "", false
		}
	}
	name, _, _ = strings.Cut(rest, `"`)
	return name, true
}

// ConflictManager reads `conflict with "kubectl-scale" with subresource "scale" using apps/v1`.
func ConflictManager(message string) (manager, subresource string) {
	parts := strings.Split(message, `"`)
	if len(parts) > 1 {
		manager = parts[1]
	}
	if i := slices.IndexFunc(parts, func(s string) bool { return strings.HasSuffix(s, "subresource ") }); i >= 0 && i+1 < len(parts) {
		subresource = parts[i+1]
	}
	return manager, subresource
}

// Beside reports that a refusal is about what stands beside another entry of a list: where others have entries of their own
// in it, an object without them would be accepted, and nothing of it is immutable.
func Beside(c metav1.StatusCause) bool {
	return c.Type == metav1.CauseTypeFieldValueDuplicate || c.Type == metav1.CauseType("FieldValueTooMany")
}

// OfFields reports that the API server's own validation refused an object for fields of it: no policy and no webhook, which name
// no field.
func OfFields(err error) bool {
	causes := Causes(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == "" })
}

// Rather is the second of two refusals, unless the first one is about fields, too: that of what is left when others have nothing.
func Rather(alone, beside error) error {
	if OfFields(alone) {
		return alone
	}
	return beside
}
