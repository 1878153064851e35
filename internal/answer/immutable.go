package answer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
)

// fixedTexts are how API servers say that a field cannot be changed: the ValidateUpdate functions of kubernetes/pkg/apis (v1.36).
// Rules of custom resources have a text of their own.
var fixedTexts = []string{
	"immutable", "may not change", "may not be changed", "cannot be changed", "can not be changed", "must not be changed", "cannot change",
	"may not be modified", "cannot be modified", "may not be updated", "cannot be updated", "may not update", "updates to", "once set",
	"not be less than previous value", "not be less than status.capacity",
}

// SaysImmutable reports that the API server refused an update for nothing but fields that cannot be changed, in words that mean
// nothing else.
func SaysImmutable(err error) bool {
	return MayBeImmutable(err) && !slices.ContainsFunc(Causes(err), func(c metav1.StatusCause) bool { return !saysFixed(c) })
}

// MayBeImmutable reports that a refusal can be for fields that cannot be changed: what is required, twice or too much is so in an
// object that is new, too. What it is then only trying tells, because a rule of a custom resource has a text of its own.
func MayBeImmutable(err error) bool {
	return OfFields(err) && !slices.ContainsFunc(Causes(err), func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeFieldValueRequired || Beside(c)
	})
}

func saysFixed(c metav1.StatusCause) bool {
	words := words(c.Message)
	return slices.ContainsFunc(fixedTexts, func(t string) bool { return strings.Contains(words, t) })
}

// words are what a cause says, without the value it is about, which may say anything, and without the listing below it.
func words(message string) string {
	first, rest, _ := strings.Cut(message, ": ")
	switch {
	case first == "Forbidden":
		message = rest
	case strings.HasSuffix(first, " value"):
		message = afterValue(rest)
	}
	line, _, _ := strings.Cut(message, "\n")
	return line
}

// afterValue is what follows a value and a colon: a quoted text, JSON, or a word.
func afterValue(text string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return text[len(quoted):]
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		var v json.RawMessage
		if dec := json.NewDecoder(strings.NewReader(text)); dec.Decode(&v) == nil {
			return text[dec.InputOffset():]
		}
	}
	_, after, _ := strings.Cut(text, ": ")
	return after
}

// Combined makes of a refusal's finding one of an object that would be accepted without what the live one has beside it. managers
// are those that have what the refusal names, none where nobody has set it.
func Combined(f *diag.Finding, managers []string) {
	f.What = "the API server refuses the object together with what the live one has beside our fields"
	if len(managers) > 0 {
		f.Fix = "take theirs out of the live object by hand, or declare it as they set it: what is named has been set by " + strings.Join(managers, ", ")
		return
	}
	f.Fix = "take what is named out of the live object by hand, or undo the change: it is a default, or entries of others stand beside ours (then take theirs out; " +
		"kubectl get --show-managed-fields tells whose they are)"
}

// Fields are those that a refusal names.
func Fields(err error) []string {
	var out []string
	for _, c := range Causes(err) {
		out = append(out, c.Field)
	}
	return out
}

// NotRecreated is why an object that would have to be made again is not: how the API server refuses to change it, what keeps it,
// and what would be lost.
func NotRecreated(says, kept, loss string) string {
	if loss != "" {
		loss = "lost by that: " + loss
	}
	return strings.Join(slices.DeleteFunc([]string{says, kept, loss}, func(s string) bool { return s == "" }), "; ")
}
