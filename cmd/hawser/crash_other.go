//go:build !unix

package main

// crashesApart does nothing where processes are not ended by signals. On Windows Go's runtime ends a crash with 2 whatever is asked of it:
// debug.SetTraceback("crash") raises an exception with the code 2 there for panics and overflows, past every handler. docs/reliability.md says how to tell.
func crashesApart() {}
