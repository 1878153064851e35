package place

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// What is wrong with a bundle of the same files is why nobody knows what it declares; a warning is no reason.
func TestUntold(t *testing.T) {
	if fs := Untold("b", diag.Findings{diag.Warnf("odd", "an odd thing")}); fs != nil {
		t.Errorf("nothing is wrong: %v", fs)
	}
	wrong := diag.Errorf("render", "it cannot be rendered")
	wrong.Instance, wrong.Why = "app", "no such file"
	for bundle, want := range map[string]string{"b": "it cannot be told what bundle b of the same files declares, and the plan depends on it",
		"": "it cannot be told what the other bundles of the same files declare, and the plan depends on it"} {
		fs := Untold(bundle, diag.Findings{diag.Warnf("odd", "an odd thing"), wrong})
		if len(fs) != 1 || fs[0].What != want || fs[0].Instance != "app" || fs[0].Why != "it cannot be rendered: no such file" || fs[0].Fix == "" {
			t.Errorf("%q: %+v", bundle, fs)
		}
	}
}
