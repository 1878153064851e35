package cache

import (
	"fmt"
	"os"
	"testing"
)

// TestMain gives the copies that the tests leave a directory that goes with them.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cache-test-")
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
