package fleetplan

import (
	"errors"
	"fmt"

	"hawser.dev/hawser/internal/diag"
)

// Sentinels that faces turn into exit codes; they are wrapped together with findings.
var (
	// ErrRefused: policy, brake, lock, stale plan.
	ErrRefused = errors.New("refused")
	// ErrPartial: partly done, or partly unknown.
	ErrPartial = errors.New("partly done")
	// ErrNotReady: written, and not ready in time.
	ErrNotReady = errors.New("not ready in time")
	// ErrFailed: no cluster succeeded.
	ErrFailed = errors.New("failed")
)

// RefusedError carries the findings of a refusal.
type RefusedError struct{ Findings diag.Findings }

func (e *RefusedError) Error() string { return (&diag.FindingsError{Findings: e.Findings}).Error() }

// Unwrap returns both ErrRefused and the findings' error.
func (e *RefusedError) Unwrap() []error {
	return []error{ErrRefused, &diag.FindingsError{Findings: e.Findings}}
}

// Unknown is the error of an answer in which so many clusters are missing, nil for none.
func Unknown(clusters int) error {
	if clusters == 0 {
		return nil
	}
	return fmt.Errorf("%d clusters are unknown: %w", clusters, ErrPartial)
}
