// Package broke lets a panic say where, and not with what: the text of a panic, which Go's runtime prints as it is, may be made of
// values, secret ones too.
//
// broke must not know what is done, nor what comes of it.
package broke

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Panic is a panic without what it said.
type Panic struct {
	// What is the type of what it said, or the Go runtime's own text.
	What string
	// Where are the functions that it came through, the nearest first.
	Where []string
}

// Error is both, with the nearest functions.
func (p *Panic) Error() string {
	return p.What + " at " + strings.Join(p.Where[:min(len(p.Where), nearest)], ", ")
}

// nearest is how many functions Error names.
const nearest = 3

// crash is a panic that nobody recovers: all that is known is printed.
type crash struct{ *Panic }

// Error has a line for each function.
func (c crash) Error() string { return c.What + " at\n" + strings.Join(c.Where, "\n") }

// Of is what a deferred function recovered, nil for nothing; it is called by that function itself.
func Of(recovered any) *Panic {
	switch p := recovered.(type) {
	case nil:
		return nil
	case *Panic:
		return p
	case crash:
		return p.Panic
	case error:
		if known, ok := errors.AsType[runtime.Error](p); ok {
			return &Panic{known.Error(), where()}
		}
	}
	return &Panic{fmt.Sprintf("it panicked with a %T", recovered), where()}
}

// where names the functions on the stack that a panic came through, the nearest first.
func where() []string {
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(4, calls)])
	var out []string
	for more := true; more; {
		var at runtime.Frame
		if at, more = frames.Next(); at.Function != "" && !strings.HasPrefix(at.Function, "runtime.") {
			out = append(out, fmt.Sprintf("%s:%d", at.Function, at.Line))
		}
	}
	return out
}

// Quiet is a function that panics without what was said, where do panics: what a goroutine begins with.
func Quiet(do func()) func() {
	return func() {
		if p := caught(do); p != nil {
			panic(crash{p}) // not from within the deferred function: the runtime would print what that recovered, too
		}
	}
}

func caught(do func()) (p *Panic) {
	defer func() { p = Of(recover()) }()
	do()
	return nil
}
