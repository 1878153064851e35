package answer

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/lazyregexp"
)

// AboutSecrets reports whether a request is about core Secrets, those that keep records included.
func AboutSecrets(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v1/")
	if !ok {
		return false
	}
	if in, ok := strings.CutPrefix(rest, "namespaces/"); ok {
		_, rest, _ = strings.Cut(in, "/")
	}
	return rest == "secrets" || strings.HasPrefix(rest, "secrets/")
}

// ownWords are the answers about Secrets whose words are the API server's own, from beginning to end: in them stand names,
// verbs and figures only. Policies and webhooks may answer with any reason, but not with these words.
var ownWords = lazyregexp.New(`^(?:` + strings.Join([]string{
	`secrets(?: "[a-zA-Z0-9.*-]*")? not found`,
	`secrets "[a-zA-Z0-9.-]+" already exists`,
	`secrets(?: "[a-zA-Z0-9.-]*")? is forbidden: User "[^"\n]{0,300}" cannot [a-z]+ resource "secrets" in API group "" (?:in the namespace "[a-z0-9-]+"|at the cluster scope)`,
	`secrets "[a-zA-Z0-9.-]*" is forbidden: exceeded quota: [a-z0-9.-]+, requested: [a-z0-9./=,-]+, used: [a-z0-9./=,-]+, limited: [a-z0-9./=,-]+`,
	`secrets "[a-zA-Z0-9.-]*" is forbidden: unable to create new content in namespace [a-z0-9-]+ because it is being terminated`,
	`namespaces "[a-z0-9-]+" not found`,
	`Operation cannot be fulfilled on secrets "[a-zA-Z0-9.-]+": (?:the object has been modified; please apply your changes to the latest version and try again|StorageError: invalid object, Code: \d+, Key: [a-zA-Z0-9./-]+, ResourceVersion: \d+, AdditionalErrorMsg: Precondition failed: UID in precondition: [a-f0-9-]*, UID in object meta: ?[a-f0-9-]*)`,
	`Apply failed with \d+ conflicts?: (?s:.*)`, // managers and paths
	`Unauthorized`, `the server could not find the requested resource`, `(?:too old resource version|The provided continue parameter is too old)[ a-z0-9().,:-]*`,
}, "|") + `)$`)

// admission finds who refused, and never why.
var admission = lazyregexp.New(`^(?:[a-z]+ "[a-zA-Z0-9.-]*" is forbidden: )?((?:ValidatingAdmissionPolicy '[a-zA-Z0-9.-]+'(?: with binding '[a-zA-Z0-9.-]+')?|admission webhook "[a-zA-Z0-9.-]+") denied (?:the )?request|(?:Internal error occurred: )?failed calling webhook "[a-zA-Z0-9.-]+")`)

// toldParts are parts of texts by which errors are told apart; they say nothing of an object.
var toldParts = append([]string{"does not support dry run"}, terminalTexts...)

// known are the reasons that are words of the API itself: a webhook may answer with any text for one.
var known = map[metav1.StatusReason]bool{
	metav1.StatusReasonUnauthorized: true, metav1.StatusReasonForbidden: true, metav1.StatusReasonNotFound: true, metav1.StatusReasonAlreadyExists: true,
	metav1.StatusReasonConflict: true, metav1.StatusReasonGone: true, metav1.StatusReasonInvalid: true, metav1.StatusReasonServerTimeout: true,
	metav1.StatusReasonStoreReadError: true, metav1.StatusReasonTimeout: true, metav1.StatusReasonTooManyRequests: true, metav1.StatusReasonBadRequest: true,
	metav1.StatusReasonMethodNotAllowed: true, metav1.StatusReasonNotAcceptable: true, metav1.StatusReasonRequestEntityTooLarge: true,
	metav1.StatusReasonUnsupportedMediaType: true, metav1.StatusReasonInternalError: true, metav1.StatusReasonExpired: true, metav1.StatusReasonServiceUnavailable: true,
}

// secretField is a field that a Secret has.
var secretField = lazyregexp.New(`^\.?(?:apiVersion|kind|metadata|data|stringData|type|immutable)(?:\.[A-Za-z0-9_/-]+|\[[^\]\n]*\])*$`)

// Withhold takes from an answer about Secrets every text that is not the API server's own: policies, webhooks and
// validation quote what they refuse, in any encoding and with any reason. Of what admission says nothing but who it was stays:
// the API server hands on a webhook's reason, details and causes as they are.
func Withhold(st *metav1.Status) {
	refused := admission.FindStringSubmatch(st.Message)
	if refused != nil && st.Details != nil {
		st.Details = &metav1.StatusDetails{RetryAfterSeconds: st.Details.RetryAfterSeconds}
	}
	if !known[st.Reason] {
		st.Reason = metav1.StatusReasonUnknown
	}
	if st.Details != nil {
		for i, c := range st.Details.Causes {
			if c.Type != metav1.CauseTypeFieldManagerConflict || !strings.HasPrefix(c.Message, `conflict with "`) {
				st.Details.Causes[i].Message = ""
			}
		}
	}
	if ownWords.MatchString(st.Message) {
		return
	}
	text := string(st.Reason)
	if st.Reason == metav1.StatusReasonUnknown {
		text = fmt.Sprintf("answer %d", st.Code)
	}
	if refused != nil {
		text += ": " + refused[1]
	}
	for _, part := range toldParts {
		if strings.Contains(st.Message, part) {
			text += ": " + part
		}
	}
	if st.Details != nil {
		var fields []string
		for _, c := range st.Details.Causes {
			if secretField.MatchString(c.Field) && len(c.Field) < 300 {
				fields = append(fields, c.Field)
			}
		}
		if len(fields) > 0 {
			text += ": " + strings.Join(fields, ", ")
		}
	}
	st.Message = text + " (text withheld: it may carry the secret)"
}
