package answer

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// refuser finds the policy or webhook in what is left of a text.
var refuser = lazyregexp.New(`(?:ValidatingAdmissionPolicy '([a-zA-Z0-9.-]+)'|webhook "([a-zA-Z0-9.-]+)")`)

// Withheld stands in for the text of an answer that may quote a Secret.
const Withheld = "(text withheld: it may carry the secret)"

// wrongs are what the API says is wrong about a field, in its own words.
var wrongs = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueNotFound: "Not found", metav1.CauseTypeFieldValueRequired: "Required value", metav1.CauseTypeFieldValueDuplicate: "Duplicate value",
	metav1.CauseTypeFieldValueInvalid: "Invalid value", metav1.CauseTypeFieldValueNotSupported: "Unsupported value", metav1.CauseTypeForbidden: "Forbidden",
	metav1.CauseTypeTooLong: "Too long", metav1.CauseTypeTooMany: "Too many", metav1.CauseTypeInternal: "Internal error", metav1.CauseTypeTypeInvalid: "Invalid value",
}

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
		text += wrongFields(st.Details.Causes)
	}
	st.Message = text + " " + Withheld
}

// mostFields are named of those that are wrong.
const mostFields = 20

// wrongFields are those of a Secret that the API server names, each with what is wrong about it in the API's own words.
func wrongFields(causes []metav1.StatusCause) string {
	var fields []string
	for _, c := range causes {
		if !secretField.MatchString(c.Field) || len(c.Field) >= 300 {
			continue
		}
		if wrong := wrongs[c.Type]; wrong != "" {
			c.Field += ": " + wrong
		}
		fields = append(fields, c.Field)
	}
	if more := len(fields) - mostFields; more > 0 {
		fields = append(fields[:mostFields], fmt.Sprintf("and %d more", more))
	}
	if len(fields) == 0 {
		return ""
	}
	return ": " + strings.Join(fields, ", ")
}

// WayOn says of a refusal whose text is withheld where it can be read, "" for others. verb is what was tried.
func WayOn(err error, verb string) string {
	st, ok := StatusOf(err)
	if !ok || !strings.Contains(st.Message, Withheld) {
		return ""
	}
	where := ""
	if named := refuser.FindStringSubmatch(st.Message); named != nil {
		where = "kubectl get validatingadmissionpolicy " + named[1] + " -o yaml has its rules; "
		if named[1] == "" {
			where = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml has whose " + named[2] + " is; "
		}
	}
	if verb == "delete" {
		return where + "kubectl delete --dry-run=server shows the whole text, with what it quotes"
	}
	return where + "kubectl apply --server-side --dry-run=server -f, of the object as hawser build prints it, shows the whole text, with what it quotes"
}

// Details are what is told beside the refusal of a request, by what was tried.
func Details(err error, verb string) []string {
	if verb == "update" && apierrors.IsInvalid(err) && SaysImmutable(err) {
		return []string{"the field cannot be changed: undo the change, or let the object be deleted and created again with --recreate"}
	}
	if way := WayOn(err, verb); way != "" {
		return []string{way}
	}
	return nil
}
