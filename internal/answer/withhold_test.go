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
		{metav1.StatusReasonInvalid, `Secret "a" is invalid: data[x]: Invalid value: "canary"`, `Invalid: data[x]: Invalid value`, "data[x]", "validation quotes the value, not the field"},
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

// TestWayOn: what is wrong about fields of a Secret is told in the API's own words, and where the rest can be read.
func TestWayOn(t *testing.T) {
	required := &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueRequired, Field: "data[tls.crt]", Message: "Required value"},
		{Type: metav1.CauseTypeFieldValueRequired, Field: "data[tls.key]", Message: "Required value"}, {Type: "canary", Field: "data[x]", Message: "canary"}, {Type: "canary", Field: "canary"}}}
	const whole = "kubectl apply --server-side --dry-run=server -f, of the object as hawser build prints it, shows the whole text, with what it quotes"
	for _, c := range []struct {
		code             int32
		reason           metav1.StatusReason
		message          string
		details          *metav1.StatusDetails
		want, finds, way string
	}{
		{422, metav1.StatusReasonInvalid, `Secret "a" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value, canary]`, required,
			"Invalid: data[tls.crt]: Required value, data[tls.key]: Required value, data[x] " + Withheld, CodeInvalidObject, whole},
		{422, metav1.StatusReasonInvalid, `secrets "a" is forbidden: ValidatingAdmissionPolicy 'owner' with binding 'all' denied request: every Secret needs the label canary`, nil,
			"Invalid: ValidatingAdmissionPolicy 'owner' with binding 'all' denied request " + Withheld, CodeInvalidObject, "kubectl get validatingadmissionpolicy owner -o yaml has its rules; " + whole},
		{403, metav1.StatusReasonForbidden, `admission webhook "w.example" denied the request: canary`, nil, `Forbidden: admission webhook "w.example" denied the request ` + Withheld, "webhook-refused",
			"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml has whose w.example is; " + whole},
		{403, metav1.StatusReasonForbidden, `secrets "a" is forbidden: User "jane" cannot patch resource "secrets" in API group "" in the namespace "shop"`, nil,
			`secrets "a" is forbidden: User "jane" cannot patch resource "secrets" in API group "" in the namespace "shop"`, CodeForbidden, ""},
	} {
		st := metav1.Status{Code: c.code, Reason: c.reason, Message: c.message, Details: c.details}
		Withhold(&st)
		err := error(&apierrors.StatusError{ErrStatus: st})
		if f, _ := Refusal(err, Tried{New: true, Namespaced: true}); st.Message != c.want || f.Code != c.finds || f.Fix != c.way {
			t.Errorf("%s\n got %s: %s, %s\nwant %s: %s, %s", c.message, st.Message, f.Code, f.Fix, c.want, c.finds, c.way)
		}
		if got := strings.Join(Details(err, "create"), "\n"); got != c.way {
			t.Errorf("%s: %s", c.message, got)
		}
		if got := WayOn(err, "delete"); strings.Contains(got, "apply") || (got == "") != (c.way == "") {
			t.Errorf("%s: %s", c.message, got)
		}
	}
	many := metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "canary", Details: &metav1.StatusDetails{}}
	for i := range 30 {
		many.Details.Causes = append(many.Details.Causes, metav1.StatusCause{Field: fmt.Sprintf("data[%d]", i)})
	}
	if Withhold(&many); !strings.HasSuffix(many.Message, "data[19], and 10 more "+Withheld) {
		t.Error(many.Message)
	}
}
