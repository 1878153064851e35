package testseed

import (
	"cmp"
	"fmt"
	"os"
	"testing"
)

// DeathsVariable is the environment variable that says which points of death are tried.
const DeathsVariable = "HAWSER_TEST_DEATHS"

// Deaths are the points of death that a test of killed runs tries, counted from 0: each with n%step == first. `make test` takes those that
// are that far apart; "all" every one, N+M every Nth from the one after M, so that CI comes to all in N runs.
func Deaths(t testing.TB, far int) (step, first int) {
	t.Helper()
	switch asked := cmp.Or(os.Getenv(DeathsVariable), "some"); asked {
	case "some":
		return far, 0
	case "all":
		return 1, 0
	default:
		if n, err := fmt.Sscanf(asked, "%d+%d", &step, &first); n != 2 || err != nil || step < 1 || first < 0 || first >= step {
			t.Fatalf("%s is %s: all, nothing for some, or N+M for every Nth after the first M, with M less than N", DeathsVariable, asked)
		}
		return step, first
	}
}
