package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/execcredential"
	"hawser.dev/hawser/internal/object"
)

// UnreachableError: the cluster resolves but does not answer (network, time-out, 5xx). It may on the next run.
type UnreachableError struct {
	Cluster, Server string
	Err             error
}

// Error names cluster, server and cause.
func (e *UnreachableError) Error() string {
	return "cluster " + e.Cluster + " is unreachable: " + e.Reason()
}

// Reason is the short cause: "connection refused (https://...)".
func (e *UnreachableError) Reason() string {
	text := e.Err.Error()
	if errors.Is(e.Err, context.DeadlineExceeded) {
		text = "no answer in time"
	}
	if p, ok := errors.AsType[*execcredential.TimeoutError](e.Err); ok {
		text = p.Error()
	}
	if e.Server == "" || strings.Contains(text, e.Server) {
		return text
	}
	return text + " (" + e.Server + ")"
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// AccessError: the access does not work and waiting does not help (context, credentials, certificate, rights).
type AccessError struct {
	Cluster, Server string
	Err             error
}

// Error names cluster, server and cause.
func (e *AccessError) Error() string {
	where := "cluster " + e.Cluster
	if e.Server != "" {
		where += " (" + e.Server + ")"
	}
	return where + ": access: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }

// Finding is the error without cluster and server, so that several clusters with the same trouble are said together.
func (e *AccessError) Finding() diag.Finding {
	f := diag.Errorf("access", "the cluster does not let us in: %s", e.Err.Error())
	switch {
	case apierrors.IsUnauthorized(e.Err) || strings.Contains(e.Err.Error(), "Unauthorized"):
		f.What = "the API server does not take the credentials: Unauthorized"
		f.Why, f.Fix = "they are wrong or have expired", "log in again"
	case strings.Contains(e.Err.Error(), "x509: ") || strings.Contains(e.Err.Error(), "tls: "):
		f.Fix = "correct the certificates of its context"
	}
	return f
}

// StaleError: the object is not what the plan saw; nothing was written to it.
type StaleError struct {
	Ref object.Ref
	// Why is for people: "another object now (other uid)".
	Why string
}

// Error says what changed and what to do.
func (e *StaleError) Error() string {
	return e.Ref.String() + ": the plan is stale: " + e.Why + "; plan again"
}

// NoKindError: the cluster does not serve the kind.
type NoKindError struct {
	GVK     schema.GroupVersionKind
	Cluster string
	// Near is a kind the cluster serves that may be meant, as APIVERSION and KIND; "" when none is close.
	Near string
}

// Error names kind and cluster.
func (e *NoKindError) Error() string {
	text := fmt.Sprintf("cluster %s does not serve the kind %s of %s", e.Cluster, e.GVK.Kind, e.GVK.GroupVersion())
	if e.Near != "" {
		text += "; it serves " + e.Near
	}
	return text
}

// IsAbsent reports whether an error says that an object is not there, of a kind that the cluster serves.
func IsAbsent(err error) bool {
	_, noKind := errors.AsType[*NoKindError](err)
	return !noKind && apierrors.IsNotFound(err)
}

// IsNotFound reports whether an error says that an object, or its kind, is not there.
func IsNotFound(err error) bool {
	if _, ok := errors.AsType[*NoKindError](err); ok {
		return true
	}
	return apierrors.IsNotFound(err)
}

// RequestError is an API server's refusal (or the way to it failing) of one request about one object.
type RequestError struct {
	Verb string
	Ref  object.Ref
	// Text is the redacted cause.
	Text string
	Err  error
}

// Error is "verb Kind ns/name: text".
func (e *RequestError) Error() string { return e.Verb + " " + e.Ref.String() + ": " + e.Text }

// Unwrap returns the API server's status error or the network error.
func (e *RequestError) Unwrap() error { return e.Err }

// describe puts verb and object before an error and redacts its text; nil stays nil.
func (s *Session) describe(err error, verb string, ref object.Ref) error {
	if err == nil {
		return nil
	}
	return &RequestError{Verb: verb, Ref: ref, Text: s.text(err, ref), Err: err}
}

// text is an error's text for people, redacted.
func (s *Session) text(err error, ref object.Ref) string {
	status, ok := answer.StatusOf(err)
	if !ok {
		return s.redact(err.Error())
	}
	return s.redact(status.Message)
}
