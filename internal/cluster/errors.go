package cluster

import (
	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/object"
)

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
		return s.Redact(err.Error())
	}
	return s.Redact(status.Message)
}
