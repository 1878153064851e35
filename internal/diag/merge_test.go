package diag

import (
	"fmt"
	"strings"
	"testing"
)

// TestMergeReasons: one mistake is one message, also where the clusters have different reasons; each reason keeps its clusters, and what
// all reasons share is said once.
func TestMergeReasons(t *testing.T) {
	on := func(cluster, why string) Finding {
		f := Errorf("other-fleet", "bundle acme was applied here from the fleet acme, not acme2")
		f.Cluster, f.Why, f.Fix = cluster, why, "if the fleet was renamed: --take-over"
		return f
	}
	for name, c := range map[string]struct {
		in   Findings
		want []string
	}{
		"one reason": {Findings{on("a", "this run is from x"), on("b", "this run is from x")}, []string{"this run is from x"}},
		"a shared beginning": {Findings{on("a", "this run is from x; revision 1"), on("b", "this run is from x; revision 2"), on("c", "this run is from x; revision 1")},
			[]string{"this run is from x\na, c: revision 1\nb: revision 2"}},
		"nothing shared": {Findings{on("a", "one"), on("b", "two")}, []string{"a: one\nb: two"}},
		"UIDs": {Findings{on("a", "it has uid 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"), on("b", "it has uid 1a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f")},
			[]string{"it has uid <uid>"}},
		"twice on one cluster": {Findings{on("a", "one"), on("a", "two")}, []string{"one", "two"}},
		"no cluster":           {Findings{on("", "one"), on("", "two")}, []string{"one", "two"}},
	} {
		var got []string
		for _, m := range c.in.Merge() {
			got = append(got, m.Why)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var many Findings
	for i := range 30 {
		many = append(many, on(fmt.Sprintf("c%02d", i), fmt.Sprintf("reason %d", i)))
	}
	if got := many.Merge(); len(got) != 1 || strings.Count(got[0].Why, "\n") != maxReasons || !strings.HasSuffix(got[0].Why, "and 25 more") {
		t.Errorf("%+v", got)
	}
}
