package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
)

func someClusters() []Cluster {
	return Clusters(&v1alpha1.FleetSpec{Clusters: []v1alpha1.ClusterSpec{
		{Name: "staging-eu", Group: "staging", Labels: map[string]string{"region": "eu"}},
		{Name: "staging-us", Group: "staging", Labels: map[string]string{"region": "us"}},
		{Name: "production-eu", Group: "production", Labels: map[string]string{"region": "eu", "tier": "1"}},
		{Name: "production-us", Group: "production", Labels: map[string]string{"region": "us", "tier": "1"}},
		{Name: "lab"},
	}})
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		reason string
		sel    Selection
		want   string
		code   string
		text   string
	}{
		{"nothing selects all", Selection{}, "staging-eu staging-us production-eu production-us lab", "", ""},
		{"star is all, also clusters without a group", Selection{Clusters: []string{"*"}, Groups: []string{"*"}}, "staging-eu staging-us production-eu production-us lab", "", ""},
		{"order is the fleet's", Selection{Clusters: []string{"production-us,staging-eu"}}, "staging-eu production-us", "", ""},
		{"glob", Selection{Clusters: []string{"*-eu"}}, "staging-eu production-eu", "", ""},
		{"group", Selection{Groups: []string{"production"}}, "production-eu production-us", "", ""},
		{"fields are ANDed", Selection{Clusters: []string{"*-eu"}, Groups: []string{"prod*"}}, "production-eu", "", ""},
		{"labels", Selection{Labels: "region=eu,tier!=1"}, "staging-eu", "", ""},
		{"one exact name in other letter case, as in Timoni", Selection{Clusters: []string{"Staging-EU"}}, "staging-eu", "", ""},
		{"several names are exact", Selection{Clusters: []string{"Staging-EU", "lab"}}, "", "unknown-cluster", "did you mean \"staging-eu\"?"},
		{"unknown cluster (T9)", Selection{Clusters: []string{"prod"}}, "", "unknown-cluster", "no cluster found"},
		{"unknown group (T9)", Selection{Groups: []string{"prod"}}, "", "unknown-group", `did you mean "production"?`},
		{"listing", Selection{Groups: []string{"x"}}, "", "unknown-group", "there is: staging, production"},
		{"a glob that matches nothing", Selection{Clusters: []string{"x*"}}, "", "unknown-cluster", "there is no cluster \"x*\""},
		{"nothing left", Selection{Clusters: []string{"staging-*"}, Groups: []string{"production"}}, "", "no-cluster", "staging-eu (staging)"},
		{"labels that nobody has", Selection{Labels: "a=b"}, "", "no-cluster", "region=eu"},
		{"malformed labels", Selection{Labels: "a in"}, "", "invalid-selector", ""},
		{"malformed glob", Selection{Clusters: []string{"["}}, "", "invalid-glob", ""},
		{"an empty name is not everything", Selection{Clusters: []string{""}}, "", "no-cluster", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, fs := Select(someClusters(), c.sel)
			var names []string
			for _, g := range got {
				names = append(names, g.Name)
			}
			if d := cmp.Diff(c.want, strings.Join(names, " ")); d != "" {
				t.Error(d)
			}
			if c.code == "" {
				if fs != nil {
					t.Error(fs)
				}
				return
			}
			if len(fs) == 0 || fs[0].Code != c.code || !strings.Contains(fs.Err().Error(), c.text) {
				t.Errorf("got %v, want %s with %q", fs, c.code, c.text)
			}
		})
	}
}

func TestWavesOf(t *testing.T) {
	r := &v1alpha1.Rollout{Waves: []v1alpha1.Wave{
		{Groups: []string{"staging"}},
		{Clusters: []string{"production-*"}, ClusterSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}},
		{Clusters: []string{"*-us"}},
		{},
	}}
	want := map[string][]int{"staging-eu": {0}, "staging-us": {0, 2}, "production-eu": {1}, "production-us": {2}, "lab": nil}
	for _, c := range someClusters() {
		if got := WavesOf(r, c.ClusterSpec); !slices.Equal(got, want[c.Name]) {
			t.Errorf("%s: %v", c.Name, got)
		}
	}
	if WavesOf(nil, v1alpha1.ClusterSpec{}) != nil {
		t.Error("no rollout has no waves")
	}
}

func TestImplicit(t *testing.T) {
	if len(Clusters(nil)) != 0 || len(Clusters(&v1alpha1.FleetSpec{})) != 0 {
		t.Error("without declared clusters there are none")
	}
	c := Implicit("ctx")
	if c.Name != "default" || c.Group != "default" || !c.Implicit || c.KubeContext != "ctx" {
		t.Errorf("%+v", c)
	}
}

func FuzzSelection(f *testing.F) {
	f.Add("staging-*,lab", "prod*", "region=eu")
	f.Add("[", "", "a in (b,c)")
	f.Add("*", "*", "!x")
	f.Fuzz(func(t *testing.T, clusters, groups, labels string) {
		sel := Selection{Labels: labels}
		if clusters != "" {
			sel.Clusters = []string{clusters}
		}
		if groups != "" {
			sel.Groups = []string{groups}
		}
		all := someClusters()
		got, fs := Select(all, sel)
		if (len(got) == 0) != fs.HasErrors() {
			t.Errorf("%d clusters and %v", len(got), fs)
		}
		last := -1
		for _, c := range got {
			if c.Index <= last {
				t.Error("order of the fleet is not kept")
			}
			last = c.Index
		}
	})
}
