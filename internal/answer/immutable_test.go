package answer

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestImmutable: the API server's words for a field that cannot be changed are known, in no value; what is required, twice or too
// much is nothing of the kind, and what else is said has to be tried.
func TestImmutable(t *testing.T) {
	const says, may, never = "says", "may", "never"
	for _, c := range []struct{ typ, field, message, want string }{
		{"FieldValueInvalid", "spec.selector", `Invalid value: {"matchLabels":{"app":"other: {"}}: field is immutable`, says},
		{"FieldValueInvalid", "spec.template", `Invalid value: core.PodTemplateSpec{Name:""}: field is immutable`, says},
		{"FieldValueForbidden", "data", "Forbidden: field is immutable when `immutable` is set", says},
		{"FieldValueForbidden", "spec", "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden", says},
		{"FieldValueForbidden", "spec", "Forbidden: pod updates may not change fields other than `spec.containers[*].image`\n{}", says},
		{"FieldValueForbidden", "spec", "Forbidden: spec is immutable after creation except resources.requests", says},
		{"FieldValueInvalid", "spec.clusterIPs[0]", `Invalid value: ["10.0.0.1"]: may not change once set`, says},
		{"FieldValueInvalid", "roleRef", `Invalid value: {"name":"b"}: cannot change roleRef`, says},
		{"FieldValueForbidden", "spec.strategy.rollingUpdate", "Forbidden: may not be specified when strategy `type` is 'Recreate'", may},
		{"FieldValueForbidden", "spec", "Forbidden: no\nfield is immutable", may},
		{"FieldValueInvalid", "metadata.labels", `Invalid value: "immutable: is immutable": a label is otherwise`, may},
		{"FieldValueInvalid", "spec.env[0].valueFrom", "Invalid value: \"\": may not be specified when `value` is not empty", may},
		{"FieldValueInvalid", "spec", `Invalid value: {"immutable":true}: no way back`, may},
		{"FieldValueInvalid", "type", "", may}, // the words about a Secret are withheld
		{"FieldValueRequired", "spec.ports[0].name", "Required value", never},
		{"FieldValueRequired", "spec.mode", "Required value: is immutable", never},
		{"FieldValueDuplicate", "spec.ports[1].name", `Duplicate value: "http"`, never},
		{"FieldValueTooMany", "spec.hosts", "Too many: 3: must have at most 2 items", never},
		{"FieldValueInvalid", "", "field is immutable", never},
	} {
		cause := metav1.StatusCause{Type: metav1.CauseType(c.typ), Field: c.field, Message: c.message}
		err := refused(cause)
		got := map[bool]string{true: may, false: never}[MayBeImmutable(err)]
		if SaysImmutable(err) {
			got = says
		}
		if got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.field, c.message, got, c.want)
		}
	}
	fixed := metav1.StatusCause{Type: "FieldValueInvalid", Field: "spec.selector", Message: `Invalid value: "": field is immutable`}
	other := metav1.StatusCause{Type: "FieldValueInvalid", Field: "spec.x", Message: `Invalid value: "": must be even`}
	if err := refused(fixed, other); SaysImmutable(err) || !MayBeImmutable(err) {
		t.Error("one of two says nothing")
	}
	if SaysImmutable(errors.New("field is immutable")) || MayBeImmutable(refused()) {
		t.Error("no cause says nothing")
	}
}

func refused(causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Code: 422, Details: &metav1.StatusDetails{Causes: causes}}}
}
