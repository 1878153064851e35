// Package exitcode says with which code a command ends: of an error, of a plan, of several bundles.
//
// exitcode must not know commands, nor what they print.
package exitcode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

// The exit codes. `diff` has kubectl's: 1 is "differences found", errors are 2.
const (
	// Done: everything was done.
	Done = 0
	// Error: something is wrong, and nothing was done of it.
	Error = 1
	// Changes: a plan has changes, and they were asked for.
	Changes = 2
	// Partial: partly done, or partly unknown.
	Partial = 3
	// NotReady: written, and not ready in time.
	NotReady = 4
	// Refused: policy, brake, lock, stale plan.
	Refused = 5
	// Interrupted: by Ctrl-C.
	Interrupted = 130
)

// Exit is an error that ends a command with a code; what there was to say has been said, unless Err is set.
type Exit struct {
	Code int
	Err  error
}

// Error is the text of Err, or names the code.
func (e *Exit) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// Unwrap returns Err.
func (e *Exit) Unwrap() error { return e.Err }

// Said is the error that ends a command with a code and prints nothing more, nil for Done.
func Said(code int) error {
	if code == Done {
		return nil
	}
	return &Exit{Code: code}
}

// Of is the exit code of an error.
func Of(err error) int {
	var e *Exit
	switch {
	case err == nil:
		return Done
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, fleetplan.ErrRefused):
		return Refused
	case errors.Is(err, fleetplan.ErrPartial):
		return Partial
	case errors.Is(err, fleetplan.ErrNotReady):
		return NotReady
	}
	if fe, ok := errors.AsType[*diag.FindingsError](err); ok {
		return OfFindings(fe.Findings)
	}
	return Error
}

// OfFindings is Refused when every error is a refusal, else Error.
func OfFindings(fs diag.Findings) int {
	for _, f := range fs.Errors() {
		if !fleetplan.Refusal(f.Code) {
			return Error
		}
	}
	return Refused
}

// OfPlan is the exit code of a plan that was shown; detailed wants Changes, where an apply has something to do, told from Done.
func OfPlan(p *fleetplan.FleetPlan, detailed bool) int {
	if p.Findings.HasErrors() {
		return OfFindings(p.Findings)
	}
	if p.Counts().Conflict > 0 {
		return Refused
	}
	if slices.ContainsFunc(p.Clusters, func(c *fleetplan.ClusterPlan) bool { return c.Unreachable != "" }) {
		return Partial
	}
	if detailed && p.Does(true) {
		return Changes
	}
	return Done
}

// OfDrift is the exit code of a look for drift: Changes where some was found, and Partial where some clusters are not known.
func OfDrift(findings diag.Findings, drifted, unknown int) int {
	switch {
	case findings.HasErrors():
		return OfFindings(findings)
	case unknown > 0:
		return Partial
	case drifted > 0:
		return Changes
	}
	return Done
}

// OfDiff turns a plan's exit code into kubectl diff's: 1 where objects differ, 2 error.
func OfDiff(code int, differ bool) int {
	switch {
	case code == Done && differ:
		return 1
	case code == Error:
		return 2
	}
	return code
}

// Worse is the worse one of two exit codes of plans or errors.
func Worse(a, b int) int {
	order := []int{Done, Changes, NotReady, Partial, Refused, Error, Interrupted}
	return order[max(slices.Index(order, a), slices.Index(order, b), 0)]
}

// OfBundles is the exit code of a run whose bundles ended with these errors: Partial when some were done and others were not,
// else the worst.
func OfBundles(errs []error) int {
	code := Done
	for _, err := range errs {
		code = Worse(code, Of(err))
	}
	if code != Done && code != Interrupted && slices.Contains(errs, nil) {
		return Partial
	}
	return code
}
