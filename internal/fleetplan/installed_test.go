package fleetplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/plan"
)

// A bundle without a record anywhere is not installed, unless nobody could look whether its objects are there.
func TestNotInstalled(t *testing.T) {
	if fs := NotInstalled("shop", nil); !strings.Contains(fs[0].What, "is not installed") {
		t.Error(fs)
	}
	hidden := plan.Marks{Unseen: map[string]string{"secrets": "forbidden"}}
	if fs := NotInstalled("shop", plan.LostAtDelete("shop", plan.Input{}, hidden)); strings.Contains(fs[0].What, "is not installed") || !strings.Contains(fs[0].Why, "secrets") {
		t.Error(fs)
	}
}
