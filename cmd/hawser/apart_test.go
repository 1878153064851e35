package main

import (
	"os"
	"os/exec"
	"testing"
)

// apartEnv names the test that a process is there for.
const apartEnv = "HAWSER_TEST_APART"

// runsApart runs a test that changes what all of its process share (the environment, a limit, how large it is: what its children are said to use
// at most is never less) in a process of its own, and no other beside it. It reports whether this is the process of the others, which has then done it.
func runsApart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartEnv) == t.Name() {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=30m")
	cmd.Env = append(os.Environ(), apartEnv+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	return true
}
