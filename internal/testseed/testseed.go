// Package testseed says where tests that make up their input begin: CI takes another place with every commit.
//
// testseed must not know what is made of a seed.
package testseed

import (
	"cmp"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable with the seed.
const Variable = "HAWSER_TEST_SEED"

// From is the first seed of a test, 0 when nobody chose one. A test that fails says it, so that it can be run again with it.
func From(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv(Variable), "0"), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: %s=%d", Variable, seed)
		}
	})
	return seed
}
