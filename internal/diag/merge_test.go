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
		"nothing shared":        {Findings{on("a", "one"), on("b", "two")}, []string{"a: one\nb: two"}},
		"some without a reason": {Findings{on("a", ""), on("b", "two"), on("c", "")}, []string{"b: two"}},
		"UIDs": {Findings{on("a", "it has uid 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"), on("b", "it has uid 1a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f")},
			[]string{"it has uid 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f, and 1 more likewise"}},
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

// A mistake in one place of a file is one message, whatever its objects and instances are called on each cluster.
func TestMergePlaced(t *testing.T) {
	on := func(cluster, object, path string, line int) Finding {
		f := Errorf("invalid-object", "unknown field replica")
		f.Cluster, f.Object, f.Path, f.Fix, f.Pos = cluster, object, path, "did you mean replicas?", Pos{File: "app.yaml", Line: line}
		return f
	}
	const path = "spec.replica"
	for name, c := range map[string]struct {
		in   Findings
		want []string
	}{
		"the same object":           {Findings{on("a", "Deployment shop/api", path, 3), on("b", "Deployment shop/api", path, 3)}, []string{"Deployment shop/api [a b]"}},
		"in each cluster's place":   {Findings{on("a", "Deployment shop-a/api", path, 3), on("b", "Deployment shop-b/api", path, 3)}, []string{"Deployment [a b]"}},
		"two in a place":            {Findings{on("a", "Deployment a/x", path, 3), on("a", "Deployment a/y", path, 3), on("b", "Deployment b/x", path, 3), on("b", "Deployment b/y", path, 3)}, []string{"Deployment [a b]", "Deployment [a b]"}},
		"one more on a cluster":     {Findings{on("a", "Deployment s/x", path, 3), on("b", "Deployment s/w", path, 3), on("b", "Deployment s/x", path, 3)}, []string{"Deployment s/x [a b]", "Deployment s/w [b]"}},
		"other lines":               {Findings{on("a", "Deployment shop-a/api", path, 3), on("b", "Deployment shop-b/api", path, 4)}, []string{"Deployment shop-a/api [a]", "Deployment shop-b/api [b]"}},
		"nobody knows where":        {Findings{on("a", "Deployment shop-a/api", path, 0), on("b", "Deployment shop-b/api", path, 0)}, []string{"Deployment [a b]"}},
		"about objects as a whole":  {Findings{on("a", "Deployment shop-a/api", "", 3), on("b", "Deployment shop-b/api", "", 3)}, []string{"Deployment shop-a/api [a]", "Deployment shop-b/api [b]"}},
		"other kinds in each place": {Findings{on("a", "Deployment s/x", path, 3), on("b", "StatefulSet s/x", path, 3)}, []string{" [a b]"}},
	} {
		var got []string
		for _, m := range c.in.Merge() {
			got = append(got, fmt.Sprint(m.Object, " ", m.Clusters))
			if m.Why != "" || len(m.Clusters) > 1 && m.Pos != c.in[0].Pos {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
