// Package testtemp gives the tests of a package a directory for temporary files of their own, which goes with them: also the
// copies that the code under test leaves behind until the process ends.
//
// testtemp must not know whose tests they are.
package testtemp

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests with a TMPDIR of their own, removes it, and ends the process: a package's TestMain.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "hawser-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
