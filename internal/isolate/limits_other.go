//go:build !linux

package isolate

import (
	"os/exec"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// withParent is Linux's: elsewhere the end of its standard input ends the child.
func withParent(*exec.Cmd) {}

// bound is Linux's: elsewhere the Watchdog in the child and the parent's clock bound it.
func bound(cuelang.WatchLimits, func(diag.Finding)) {}

func more(cuelang.WatchLimits) {}
