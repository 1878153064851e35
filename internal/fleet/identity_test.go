package fleet

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// TestIdentity: which clusters are the same, which are not, and where nobody can tell.
func TestIdentity(t *testing.T) {
	strong, other := Identity{UID: "u1", Server: "s1"}, Identity{UID: "u2", Server: "s1"}
	weak := Identity{Server: "s1", Weak: true}
	for _, tt := range []struct {
		name       string
		known, now Identity
		want       IdentityMatch
	}{
		{"the same UID", strong, Identity{UID: "u1", Server: "s2"}, SameCluster},
		{"another UID at the same address", strong, other, OtherCluster},
		{"known by UID and server, seen without rights", strong, weak, SameCluster},
		{"the same at another address", strong, Identity{Server: "s2", Weak: true}, Untold},
		{"known by UID alone, seen without rights", Identity{UID: "u1"}, weak, Untold},
		{"known by server alone", Identity{Server: "s1"}, weak, SameCluster},
		{"known by server, another one", Identity{Server: "s2"}, weak, OtherCluster},
		{"known by server, seen with rights", weak, strong, SameCluster},
		{"known by server, another one seen with rights", weak, Identity{UID: "u1", Server: "s2"}, OtherCluster},
		{"both by the record namespace", Identity{UID: "n1", Weak: true, Server: "s1"}, Identity{UID: "n2", Weak: true, Server: "s1"}, OtherCluster},
		{"by different namespaces, the same server", Identity{UID: "n1", Weak: true, Server: "s1"}, strong, SameCluster},
		{"an old record of the record namespace", Identity{UID: "n1"}, Identity{UID: "n1", Weak: true, Server: "s1"}, SameCluster},
		{"nothing known", Identity{}, strong, Untold},
	} {
		if got := tt.known.Match(tt.now); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := strong.Learn(weak); got.UID != "u1" || got.Weak {
		t.Errorf("a UID that was known is forgotten: %+v", got)
	}
	if got := weak.Learn(strong); got != strong {
		t.Errorf("a UID is not learned: %+v", got)
	}
	for i, want := range map[Identity]string{strong: "u1", weak: "server s1", {UID: "n1", Weak: true, Server: "s1"}: "server s1"} {
		if got := i.String(); got != want {
			t.Errorf("%+v is %q, want %q", i, got, want)
		}
	}
}

// A refusal never says that a cluster has nothing, and names one way out that is about identity.
func TestWrongCluster(t *testing.T) {
	for i, now := range []Identity{{UID: "u2", Server: "s2"}, {Server: "s2", Weak: true}} {
		text := WrongCluster("eu", "hawser.lock knows it with", Identity{UID: "u1"}, now).String()
		for _, want := range []string{[]string{"uid u1", "the UID of the namespace kube-system"}[i], "--accept-cluster eu"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
		if strings.Contains(text, "--adopt") || strings.Contains(text, "it has uid \n") || !now.Strong() && !strings.Contains(text, "kube-system") {
			t.Error(text)
		}
	}
	if f := WeakIdentity(Facts{UID: "u1"}); f != nil {
		t.Error(f)
	}
	if f := WeakIdentity(Facts{WeakUID: true}); f == nil || !strings.Contains(f.String(), "kube-system") {
		t.Error(f)
	}
}

// A plan that was made with other rights is not said to be another cluster's: nobody can tell.
func TestOtherThanPlanned(t *testing.T) {
	strong, other, weak, elsewhere := Identity{UID: "u1"}.String(), Identity{UID: "u2"}.String(), Identity{Server: "s1", Weak: true}.String(), Identity{Server: "s2"}.String()
	for _, tt := range []struct {
		was, now string
		told     bool
	}{{strong, other, true}, {weak, elsewhere, true}, {strong, weak, false}, {weak, strong, false}} {
		text := OtherThanPlanned("eu", tt.was, tt.now).String()
		if strings.Contains(text, "this is not the cluster eu") != tt.told || strings.Contains(text, "kube-system") == tt.told || strings.Contains(text, "--adopt") {
			t.Errorf("%q, %q: %s", tt.was, tt.now, text)
		}
	}
}

// Clusters of which nobody may read who they are are one message without a gap in it.
func TestUntoldOnSeveral(t *testing.T) {
	var fs diag.Findings
	for name, uid := range map[string]string{"eu": "11111111-0000-0000-0000-000000000000", "us": "22222222-0000-0000-0000-000000000000"} {
		f := WrongCluster(name, "hawser.lock knows it with", Identity{UID: uid}, Identity{Server: "s", Weak: true})
		f.Cluster = name
		fs = append(fs, f)
	}
	got := fs.Merge()
	if len(got) != 1 || strings.Contains(got[0].String(), "<") || !strings.Contains(got[0].Fix, "--accept-cluster eu,us") {
		t.Errorf("%+v", got)
	}
}

// Of two clusters that are one it is said which has the wrong context, where that is known, and not that contexts were swapped.
func TestTwice(t *testing.T) {
	wrong := KnownAs(WrongCluster("us", "hawser.lock knows it with", Identity{UID: "u2"}, Identity{UID: "u1"}), []string{"eu"})
	wrong.Cluster = "us"
	declared := OtherThanDeclared("us", Identity{UID: "u2"}, Identity{UID: "u1"})
	declared.Cluster = "us"
	for name, c := range map[string]struct {
		found diag.Findings
		count int
		fix   string
	}{
		"nothing is known": {nil, 1, "remove one of them from the fleet"},
		"looks swapped":    {diag.Findings{wrong}, 1, "correct the context of us, or"},
		"declared":         {diag.Findings{declared}, 2, "remove one of them"},
	} {
		got := Twice(c.found, "eu", "us", "u1")
		if last := got[len(got)-1]; len(got) != c.count || last.Code != "same-cluster" || !strings.Contains(last.Fix, c.fix) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What nobody knows the UID of is no other cluster.
func TestDistinct(t *testing.T) {
	uids := []string{"", "u1", "", "u2", "u1"}
	got := Distinct(nil, len(uids), func(i int) (string, string) { return string(rune('a' + i)), uids[i] })
	if len(got) != 1 || got[0].What != "clusters b and e are the same cluster" {
		t.Errorf("%+v", got)
	}
}

// Contexts that were swapped are one message for both clusters, which says whose each is.
func TestSwapped(t *testing.T) {
	u1, u2 := Identity{UID: "11111111-0000-0000-0000-000000000000"}, Identity{UID: "22222222-0000-0000-0000-000000000000"}
	eu, us := KnownAs(WrongCluster("eu", "hawser.lock knows it with", u1, u2), []string{"us"}), KnownAs(WrongCluster("us", "hawser.lock knows it with", u2, u1), []string{"eu"})
	eu.Cluster, us.Cluster = "eu", "us"
	got := diag.Findings{eu, us}.Merge()
	if len(got) != 1 || got[0].What != eu.What || !strings.HasSuffix(got[0].Fix, ": --accept-cluster eu,us") || !strings.Contains(got[0].Why, "eu: hawser.lock knows it with uid 1") || !strings.Contains(got[0].Why, "which is that of us: the contexts look swapped") {
		t.Errorf("%+v", got)
	}
	if f := KnownAs(eu, nil); f != eu {
		t.Errorf("%+v", f)
	}
	a, b := Swapped("eu", "us"), Swapped("us", "eu")
	a.Cluster, b.Cluster = "eu", "us"
	if got := (diag.Findings{a, b}).Merge(); len(got) != 1 || !strings.HasSuffix(got[0].Fix, ": --accept-cluster eu,us") || !strings.Contains(got[0].Why, "it is that of us") {
		t.Errorf("%+v", got)
	}
	if got := Acceptable([]string{"eu", "ue"}, []Cluster{{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu"}}}); len(got) != 1 || !strings.Contains(got[0].What, `"ue"`) {
		t.Errorf("%+v", got)
	}
}
