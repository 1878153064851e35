package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/report"
)

// The exit codes. `diff` has kubectl's: 1 is "differences found", errors are 2.
const (
	exitDone        = 0
	exitError       = 1
	exitChanges     = 2
	exitPartial     = 3
	exitNotReady    = 4
	exitRefused     = 5
	exitInterrupted = 130
)

// exit ends a command with a code; what there was to say has been said, unless err is set.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return fmt.Sprintf("exit %d", e.code)
}

func (e *exit) Unwrap() error { return e.err }

// said ends a command with a code and prints nothing more.
func said(code int) error {
	if code == exitDone {
		return nil
	}
	return &exit{code: code}
}

// refused is an error with exit code 5.
func refused(what, why, fix string) error {
	return &fleetplan.RefusedError{Findings: diag.Findings{{Severity: diag.Error, Code: "unconfirmed", What: what, Why: why, Fix: fix}}}
}

// codeOf is the exit code of an error.
func codeOf(err error) int {
	var e *exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, fleetplan.ErrRefused):
		return exitRefused
	case errors.Is(err, fleetplan.ErrPartial):
		return exitPartial
	case errors.Is(err, fleetplan.ErrNotReady):
		return exitNotReady
	}
	if fe, ok := errors.AsType[*diag.FindingsError](err); ok {
		return findingsCode(fe.Findings)
	}
	return exitError
}

// findingsCode is 5 when every error is a refusal, else 1.
func findingsCode(fs diag.Findings) int {
	for _, f := range fs.Errors() {
		if !engine.Refusal(f.Code) {
			return exitError
		}
	}
	return exitRefused
}

// finish prints an error that was not said yet and returns the exit code.
func (s *session) finish(err error) int {
	code := codeOf(err)
	var e *exit
	switch {
	case err == nil:
	case closedPipe(err):
		return exitDone
	case errors.As(err, &e) && e.err == nil, code == exitInterrupted:
	case isSentinel(err):
	default:
		s.printError(err)
	}
	return code
}

// isSentinel reports errors that only carry a code: their report has been printed.
func isSentinel(err error) bool {
	return err == fleetplan.ErrPartial || err == fleetplan.ErrNotReady || err == fleetplan.ErrFailed || err == fleetplan.ErrRefused
}

// closedPipe reports whether nobody reads our output any more: that is not an error worth words.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func (s *session) printError(err error) {
	if fe, ok := errors.AsType[*diag.FindingsError](err); ok {
		_ = report.Findings(s.Err, fe.Findings, s.style(s.Err))
		s.differFor(fe.Findings)
		return
	}
	text := strings.TrimSpace(err.Error())
	_ = report.Findings(s.Err, diag.Findings{{Severity: diag.Error, What: firstLine(text), Why: restLines(text)}}, s.style(s.Err))
}

func firstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

func restLines(s string) string {
	_, rest, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(rest)
}

// usagef is a mistake in the command line: exit code 1. What stands behind the first line is what to do.
func usagef(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return usageFinding(firstLine(text), "", "", restLines(text))
}
