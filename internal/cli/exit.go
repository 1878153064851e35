package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

// refused is an error with exit code 5.
func refused(what, why, fix string) error {
	return &fleetplan.RefusedError{Findings: diag.Findings{{Severity: diag.Error, Code: "unconfirmed", What: what, Why: why, Fix: fix}}}
}

// finish prints an error that was not said yet and returns the exit code.
func (s *session) finish(err error) int {
	code := exitcode.Of(err)
	var e *exitcode.Exit
	switch {
	case err == nil:
	case closedPipe(err):
		return exitcode.Done
	case errors.As(err, &e) && e.Err == nil, code == exitcode.Interrupted:
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
	text := strings.TrimSpace(diag.Text(err))
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
	return reference.Usage(firstLine(text), "", "", restLines(text))
}
