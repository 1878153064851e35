package diag_test

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
)

func TestAlike(t *testing.T) {
	of := func(cluster, what, why string, line int) diag.Finding {
		f := diag.Errorf("no-credentials", "%s", what)
		f.Cluster, f.Why, f.Pos = cluster, why, diag.Pos{File: "fleet.yaml", Line: line}
		return f
	}
	in := diag.Findings{of("a", "no plug-in", "user x", 1), of("b", "no plug-in", "user y", 2), of("c", "no file", "user z", 3), of("", "no plug-in", "user q", 4)}
	got := in.Alike()
	for i, want := range []diag.Finding{of("a", "no plug-in", "", 0), of("b", "no plug-in", "", 0), of("c", "no file", "user z", 3), of("", "no plug-in", "user q", 4)} {
		if want.Pos.Line == 0 {
			want.Pos = diag.Pos{}
		}
		if got[i] != want {
			t.Errorf("%d: %+v, want %+v", i, got[i], want)
		}
	}
	if in[0].Why == "" {
		t.Error("the findings handed in changed")
	}
}
