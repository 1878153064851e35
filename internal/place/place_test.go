package place

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

func values(t testing.TB, file, text string) v1alpha1.Values {
	t.Helper()
	f, err := cuelang.FromYAML(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x, err := cuelang.FromFile(f)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Values{Struct: x}
}

func cluster(name, group string, labels map[string]string, taints ...v1alpha1.Taint) (fleet.Cluster, fleet.Facts) {
	c := fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: name, Group: group, Labels: labels, Taints: taints}}
	return c, c.Facts(nil)
}

func TestPlacement(t *testing.T) {
	eu := map[string]string{"region": "eu"}
	payments := v1alpha1.Taint{Key: "dedicated", Value: "payments", Effect: "NoSchedule"}
	for _, c := range []struct {
		reason    string
		placement *v1alpha1.Placement
		taints    []v1alpha1.Taint
		why       string
	}{
		{"absent is everywhere", nil, nil, ""},
		{"without fields too", &v1alpha1.Placement{}, nil, ""},
		{"an empty list is nowhere", &v1alpha1.Placement{Clusters: []string{}}, nil, "clusters is empty"},
		{"an empty list of groups too", &v1alpha1.Placement{Groups: []string{}}, nil, "groups is empty"},
		{"name", &v1alpha1.Placement{Clusters: []string{"production-eu"}}, nil, ""},
		{"glob", &v1alpha1.Placement{Clusters: []string{"x", "production-*"}}, nil, ""},
		{"names count letter case", &v1alpha1.Placement{Clusters: []string{"Production-EU"}}, nil, "do not match production-eu"},
		{"group", &v1alpha1.Placement{Groups: []string{"staging"}}, nil, "groups staging do not match production"},
		{"labels", &v1alpha1.Placement{ClusterSelector: &v1alpha1.LabelSelector{MatchLabels: eu}}, nil, ""},
		{"other labels", &v1alpha1.Placement{ClusterSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}}, nil, "region=us does not match region=eu"},
		{"expressions", &v1alpha1.Placement{ClusterSelector: &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "tier", Operator: "Exists"}}}}, nil, "does not match"},
		{"fields are ANDed", &v1alpha1.Placement{Clusters: []string{"production-*"}, Groups: []string{"staging"}}, nil, "groups"},
		{"taint", nil, []v1alpha1.Taint{payments}, "taint dedicated=payments:NoSchedule is not tolerated"},
		{"a wish keeps nobody away", nil, []v1alpha1.Taint{{Key: "a", Effect: "PreferNoSchedule"}}, ""},
		{"NoExecute", nil, []v1alpha1.Taint{{Key: "a", Effect: "NoExecute"}}, "a:NoExecute"},
		{"tolerated", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Key: "dedicated", Value: "payments"}}}, []v1alpha1.Taint{payments}, ""},
		{"other value", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Key: "dedicated", Value: "x"}}}, []v1alpha1.Taint{payments}, "not tolerated"},
		{"key exists", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Key: "dedicated", Operator: "Exists"}}}, []v1alpha1.Taint{payments}, ""},
		{"everything", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Operator: "Exists"}}}, []v1alpha1.Taint{payments, {Key: "b", Effect: "NoExecute"}}, ""},
		{"other effect", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Operator: "Exists", Effect: "NoExecute"}}}, []v1alpha1.Taint{payments}, "not tolerated"},
		{"every taint counts", &v1alpha1.Placement{Tolerations: []v1alpha1.Toleration{{Key: "dedicated", Operator: "Exists"}}}, []v1alpha1.Taint{payments, {Key: "b", Effect: "NoExecute"}}, "b:NoExecute"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			cl, f := cluster("production-eu", "production", eu, c.taints...)
			got, fs := Select(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "i", Placement: c.placement}}}, cl, f)
			if fs != nil || len(got) != 1 || (got[0].Why == "") != (c.why == "") || !strings.Contains(got[0].Why, c.why) {
				t.Errorf("got %+v %v, want %q", got, fs, c.why)
			}
		})
	}
}

func TestDependencyNotPlaced(t *testing.T) {
	c, f := cluster("a", "", nil)
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{
		{Name: "db", Placement: &v1alpha1.Placement{Groups: []string{"x"}}},
		{Name: "api", DependsOn: []string{"db"}, Pos: v1alpha1.Position{File: "b.yaml", Line: 7}},
		{Name: "off", DependsOn: []string{"db"}, Placement: &v1alpha1.Placement{Clusters: []string{}}},
	}}
	_, fs := Select(spec, c, f)
	want := diag.Findings{{Severity: diag.Warning, Code: "dependency-not-placed",
		What: "api depends on db, which is not placed on this cluster", Why: "placement: groups x do not match no group",
		Pos: diag.Pos{File: "b.yaml", Line: 7}, Cluster: "a", Instance: "api"}}
	if d := cmp.Diff(want, fs, cmpopts.IgnoreUnexported(diag.Finding{})); d != "" {
		t.Error(d)
	}
}

func layered(t testing.TB) v1alpha1.BundleSpec {
	return v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{
		Name:   "api",
		Values: values(t, "b.yaml", "replicas: 1\nregion: none\nports: [{name: http, port: 80}, {name: admin, port: 81}]\n"),
		ValuesFor: []v1alpha1.ValuesFor{
			{Name: "prod", Groups: []string{"production"}, Values: values(t, "p.yaml", "replicas: 3\n")},
			{Name: "eu", ClusterSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
				Values: values(t, "e.yaml", "region: eu\nreplicas: 4\nports: [{port: 8080}]\n")},
			{Name: "us", ClusterSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"region": "us"}},
				Values: values(t, "u.yaml", "region: us\n")},
		},
	}}}
}

func TestLayersAndExplain(t *testing.T) {
	spec := layered(t)
	before := cuelang.Digest(spec.Instances[0].Values.Struct)
	c, f := cluster("production-eu", "production", map[string]string{"region": "eu"})
	placed, fs := Select(spec, c, f)
	if fs != nil {
		t.Fatal(fs)
	}
	want := values(t, "w.yaml", "region: eu\nreplicas: 4\nports: [{port: 8080, name: http}]\n")
	got, err := placed[0].Instance.Values.Struct.Any()
	wantJSON, err2 := want.Struct.Any()
	if d := cmp.Diff(wantJSON, got); d != "" || err != nil || err2 != nil {
		t.Error(d, err, err2)
	}
	if cuelang.Digest(spec.Instances[0].Values.Struct) != before {
		t.Error("the bundle's own values were changed")
	}
	for _, c2 := range []struct {
		path, layer, value, pos string
	}{
		{"api.replicas", "valuesFor.eu", "4", "e.yaml:2:1"},
		{"api.region", "valuesFor.eu", `"eu"`, "e.yaml:1:1"},
		{"api.ports[name=http].port", "valuesFor.eu", "8080", "e.yaml:3:10"},
		{"api.ports.0.name", "values", `"http"`, "b.yaml:3:10"},
		{"api.nothing", PackageDefault, "", ""},
	} {
		ex, fs := Explain(spec, c, f, c2.path, noReference)
		if fs != nil || len(ex) != 1 {
			t.Fatal(c2.path, ex, fs)
		}
		e := ex[0]
		if e.Layer != c2.layer || e.Value != c2.value || e.Pos.String() != c2.pos {
			t.Errorf("%s: %s %s at %s, want %+v", c2.path, e.Layer, e.Value, e.Pos, c2)
		}
		if len(e.Layers) != 4 || e.Layers[3].Applies || !strings.Contains(e.Layers[3].Why, "region=us") {
			t.Errorf("%+v", e.Layers)
		}
	}
	staging, sf := cluster("staging-us", "staging", map[string]string{"region": "us"})
	if ex, _ := Explain(spec, staging, sf, "api.replicas", noReference); ex[0].Layer != "values" || ex[0].Value != "1" {
		t.Errorf("%+v", ex)
	}
}

// TestExplainOnOneLine: whatever a value is, it is told on one line; a misspelled name is told apart from a default.
func TestExplainOnOneLine(t *testing.T) {
	spec := layered(t)
	spec.Instances[0].ValuesFor = nil
	spec.Instances[0].Values = values(t, "b.yaml", "db: {from: {instance: p, object: v1/Secret/db, path: data.uri}}\nimage:\n  tags: [a, 1, -2]\n  x-y: |\n    one\n    two\n")
	spec.Instances[0].Values.Struct.Fields[0].Value.Whole = true // as bind seals it
	c, f := cluster("production-eu", "production", nil)
	for _, c2 := range []struct{ path, value, hint string }{
		{"api.db", `{from: {instance: "p", object: "v1/Secret/db", path: "data.uri"}}`, ""},
		{"api.image", `{tags: ["a", 1, -2], "x-y": "one\ntwo\n"}`, ""},
		{"api.imag", "", `did you mean "image"?`},
		{"api.image.tag", "", `did you mean "tags"?`},
		{"api.replicas", "", ""},
	} {
		ex, fs := Explain(spec, c, f, c2.path, noReference)
		if fs != nil || len(ex) != 1 || ex[0].Value != c2.value || ex[0].Hint != c2.hint {
			t.Errorf("%s: %+v %v, want %+v", c2.path, ex, fs, c2)
		}
	}
}

func TestExplainErrors(t *testing.T) {
	spec := layered(t)
	c, f := cluster("a", "", nil)
	for path, code := range map[string]string{"apii.x": "unknown-instance", "api..x": "invalid-path"} {
		if _, fs := Explain(spec, c, f, path, noReference); len(fs) != 1 || fs[0].Code != code {
			t.Errorf("%s: %v", path, fs)
		}
	}
	spec.Instances[0].Placement = &v1alpha1.Placement{Clusters: []string{}}
	if ex, fs := Explain(spec, c, f, "api.x", noReference); ex != nil || len(fs) != 1 || fs[0].Severity != diag.Info {
		t.Error(ex, fs)
	}
}

func TestLayersThatDoNotFit(t *testing.T) {
	spec := layered(t)
	spec.Instances[0].ValuesFor[0].Values = values(t, "p.yaml", "ports: none\n")
	c, f := cluster("p", "production", nil)
	_, fs := Select(spec, c, f)
	if len(fs) != 1 || fs[0].Code != "values-for" || fs[0].Pos.File != "p.yaml" || fs[0].Pos.Line != 1 || fs[0].Instance != "api" {
		t.Errorf("%+v", fs)
	}
}

func TestLint(t *testing.T) {
	comparisons := []fleet.Comparison{
		{Fact: "name", Constant: "production-gov", Expr: `_cluster == "production-gov"`, Pos: diag.Pos{File: "b.cue", Line: 3}},
		{Fact: "group", Constant: "production", Expr: `_env == "production"`},
		{Fact: "group", Constant: "prodution", Expr: `_env == "prodution"`},
	}
	c, _ := cluster("production-eu", "production", nil)
	fs := Lint(comparisons, []fleet.Cluster{c})
	if len(fs) != 2 || fs.HasErrors() || fs[0].Fix != `did you mean "production"?` && fs[1].Fix != `did you mean "production"?` {
		t.Errorf("%v", fs)
	}
	if fs := Lint(comparisons, []fleet.Cluster{fleet.Implicit("")}); fs != nil {
		t.Error(fs)
	}
}

// TestOrderDoesNotMatter: a placement's lists are sets, and the result is one entry per instance in the bundle's order.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "a*", "?", "prod", "x-[ab]"}), 1, 6, rapid.ID[string])
		list := names.Draw(t, "clusters")
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		c, f := cluster(rapid.SampledFrom([]string{"a", "b", "ab", "x-a", "prod"}).Draw(t, "name"), "g", nil)
		spec := func(l []string) v1alpha1.BundleSpec {
			return v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "one", Placement: &v1alpha1.Placement{Clusters: l}}, {Name: "two"}}}
		}
		one, _ := Select(spec(list), c, f)
		two, _ := Select(spec(shuffled), c, f)
		if len(one) != 2 || one[0].Instance.Name != "one" || one[1].Why != "" || (one[0].Why == "") != (two[0].Why == "") {
			t.Fatalf("%+v %+v", one, two)
		}
	})
}

func TestUnknownNames(t *testing.T) {
	clusters := []fleet.Cluster{
		{ClusterSpec: v1alpha1.ClusterSpec{Name: "staging-eu", Group: "staging"}},
		{ClusterSpec: v1alpha1.ClusterSpec{Name: "production-eu", Group: "production"}},
	}
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "api",
		Placement: &v1alpha1.Placement{Clusters: []string{"production-eu", "producton-eu", "asia-*", "staging-*"}, Groups: []string{"prod"}},
		ValuesFor: []v1alpha1.ValuesFor{{Name: "eu", Clusters: []string{"nowhere"}, Groups: []string{"staging"}}},
	}}}
	var got []string
	for _, f := range Unknown(spec, clusters) {
		got = append(got, string(f.Severity)+" "+f.Path+": "+f.What+" -- "+f.Fix)
	}
	want := []string{
		`error instances.api.placement.clusters: no cluster of the fleet is named "producton-eu" -- did you mean "production-eu"?`,
		`warning instances.api.placement.clusters: no cluster of the fleet matches "asia-*" -- there is: production-eu, staging-eu`,
		`error instances.api.placement.groups: no group of the fleet is named "prod" -- there is: production, staging`,
		`error instances.api.valuesFor.eu.clusters: no cluster of the fleet is named "nowhere" -- there is: production-eu, staging-eu`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if fs := Unknown(spec, []fleet.Cluster{fleet.Implicit("")}); fs != nil {
		t.Errorf("without a fleet: %v", fs)
	}
}

// A bundle is nowhere on a cluster when no instance is placed there; one without instances is nowhere.
func TestNowhere(t *testing.T) {
	c, f := cluster("a", "staging", nil)
	there, elsewhere := v1alpha1.Instance{}, v1alpha1.Instance{Placement: &v1alpha1.Placement{Groups: []string{"production"}}}
	if Nowhere(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{elsewhere, there}}, c, f) ||
		!Nowhere(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{elsewhere}}, c, f) || !Nowhere(v1alpha1.BundleSpec{}, c, f) {
		t.Error("placement is told wrongly")
	}
}
