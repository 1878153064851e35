//go:build unix && !linux

package startup

// closedOnStart is Linux's.
func closedOnStart() bool { return false }
