package kube

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// accessError is an error that already names cluster and object.
type accessError struct {
	text string
	err  error
	// found says of a right that is missing which one, and how it is had; nil for every other error.
	found *diag.FindingsError
}

// Error is one line. What the server says of a right that is missing says the same once more.
func (e *accessError) Error() string {
	if e.found != nil {
		return e.text + "; " + e.found.Findings[0].Fix
	}
	return e.text + ": " + e.err.Error()
}

// Unwrap returns the cause, and what is found.
func (e *accessError) Unwrap() []error {
	if e.found == nil {
		return []error{e.err}
	}
	return []error{e.err, e.found}
}

// wrap names cluster and object, and for a refusal the right that is missing. An error that says so stays as it is.
func (s *Store) wrap(verb, resource, name string, err error) error {
	if _, ok := errors.AsType[*accessError](err); ok || errors.Is(err, release.ErrElsewhere) {
		return err
	}
	what := resource + " in namespace " + object.SystemNamespace
	switch {
	case resource == "namespaces":
		what = "namespace " + object.SystemNamespace
	case name != "":
		what = resource + " " + object.SystemNamespace + "/" + name
	}
	text := fmt.Sprintf("cluster %s: %s %s", s.cluster, verb, what)
	if apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		text = fmt.Sprintf("cluster %s: the right to %s %s is missing", s.cluster, right(verb), what)
		f := diag.Errorf("missing-rights", "you may not %s %s in namespace %s, where records and locks are kept", right(verb), resource, object.SystemNamespace)
		f.Cluster, f.Why = s.cluster, err.Error()
		f.Fix = "all roles a bundle needs: hawser fleet check -f BUNDLE --print-rbac"
		return &accessError{text: text, err: err, found: &diag.FindingsError{Findings: diag.Findings{f}}}
	}
	return &accessError{text: text, err: err}
}

// right is the RBAC verb behind what was tried.
func right(verb string) string {
	switch verb {
	case "read":
		return "get"
	case "write":
		return "update"
	}
	return verb
}
