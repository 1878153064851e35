package answer

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWithhold: of answers about Secrets only the API server's own words are told, whatever the reason.
func TestWithhold(t *testing.T) {
	const conflict = "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.password"
	for _, c := range []struct {
		reason         metav1.StatusReason
		message, want  string
		field, because string
	}{
		{metav1.StatusReasonForbidden, `secrets "a" is forbidden: ValidatingAdmissionPolicy 'p.example' with binding 'b' denied request: bad canary`,
			`Forbidden: ValidatingAdmissionPolicy 'p.example' with binding 'b' denied request`, "", "a messageExpression may quote the object"},
		{metav1.StatusReasonUnauthorized, `secrets "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: canary`, `Unauthorized: ValidatingAdmissionPolicy 'p' denied request`, "", "the reason is the policy's"},
		{metav1.StatusReasonConflict, `admission webhook "w.example" denied the request: canary`, `Conflict: admission webhook "w.example" denied the request`, "", "a webhook gives any reason"},
		{metav1.StatusReasonNotFound, `admission webhook "w" denied the request: secrets "canary" not found`, `NotFound: admission webhook "w" denied the request`, "", "and any text"},
		{metav1.StatusReasonRequestEntityTooLarge, `canary`, `RequestEntityTooLarge`, "", "any other text"},
		{metav1.StatusReasonForbidden, "secrets \"a\" not found\ncanary", `Forbidden`, "", "our words are the whole text"},
		{metav1.StatusReasonInvalid, `Secret "a" is invalid: data[x]: Invalid value: "canary"`, `Invalid: data[x]`, "data[x]", "validation quotes the value, not the field"},
		{"", `failed to create typed patch object (canary)`, `answer 500: failed to create typed patch object`, "", "what tells errors apart stays"},
		{"InternalError", `Internal error occurred: failed calling webhook "w.example": canary`, `InternalError: Internal error occurred: failed calling webhook "w.example"`, "", "a webhook that does not answer is named"},
	} {
		st := metav1.Status{Reason: c.reason, Message: c.message, Code: 500}
		if c.field != "" {
			st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: c.field, Message: `Invalid value: "canary"`}}}
		}
		Withhold(&st)
		if want := c.want + " (text withheld: it may carry the secret)"; st.Message != want {
			t.Errorf("%s:\n got %s\nwant %s", c.because, st.Message, want)
		}
		if st.Details != nil && strings.Contains(st.Details.Causes[0].Message, "canary") {
			t.Errorf("%s: %+v", c.because, st.Details)
		}
	}
	for _, message := range []string{`admission webhook "w.example" denied the request: canary`, `canary`} {
		st := metav1.Status{Reason: "Reason-canary", Message: message, Code: 403, Details: &metav1.StatusDetails{Name: "canary", Kind: "canary", UID: "canary", RetryAfterSeconds: 3,
			Causes: []metav1.StatusCause{{Type: "canary", Field: "spec.canary", Message: "canary"}, {Type: metav1.CauseTypeFieldManagerConflict, Field: "canary", Message: `conflict with "canary"`}}}}
		Withhold(&st)
		if said := apierrors.FromObject(&st).Error() + string(st.Reason); strings.Contains(said, "canary") {
			t.Error(said)
		}
		if admitted := strings.HasPrefix(message, "admission"); admitted && strings.Contains(fmt.Sprintf("%+v", st), "canary") || st.Details.RetryAfterSeconds != 3 {
			t.Errorf("%+v", st)
		}
	}
	for _, own := range []string{
		`secrets "a" not found`, `secrets "a" already exists`, conflict,
		`secrets "a" is forbidden: User "system:serviceaccount:x:y" cannot patch resource "secrets" in API group "" in the namespace "shop"`,
		`secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope`,
		`secrets "a" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=10, limited: secrets=10`,
		`secrets "a" is forbidden: unable to create new content in namespace shop because it is being terminated`,
		`Operation cannot be fulfilled on secrets "a": the object has been modified; please apply your changes to the latest version and try again`,
	} {
		st := metav1.Status{Message: own}
		if Withhold(&st); st.Message != own {
			t.Errorf("%s\nbecame %s", own, st.Message)
		}
	}
	for path, want := range map[string]bool{"/api/v1/secrets": true, "/api/v1/namespaces/a/secrets": true, "/api/v1/namespaces/a/secrets/b": true, "/api/v1/namespaces/secrets": false,
		"/api/v1/namespaces/a/configmaps/secrets": false, "/apis/x.example/v1/namespaces/a/secrets/b": false} {
		if AboutSecrets(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}
