package place

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// noReference: values are from no reference.
func noReference(diag.Pos) string { return "" }

// TestExplainTellsAllLayers: what was overridden is told too, lowest first, with the reference that a value came from;
// clusters with equal answers are told once.
func TestExplainTellsAllLayers(t *testing.T) {
	spec := layered(t)
	base := values(t, "chart/values.yaml", "replicas: 7\n").Struct
	from := func(at diag.Pos) string {
		if at.File == "e.yaml" && at.Line == 1 {
			return "{$cluster: labels.region}"
		}
		return ""
	}
	all := func(path string) []Explanation {
		var out []Explanation
		for _, name := range []string{"production-eu", "production-us", "production-eu2"} {
			c, f := cluster(name, "production", map[string]string{"region": name[len("production-"):][:2]})
			ex, fs := Explain(spec, c, f, path, from)
			if fs != nil {
				t.Fatal(fs)
			}
			if strings.HasSuffix(path, "replicas") {
				x, pos := at(v1alpha1.Values{Struct: base}, v1alpha1.Path{{Name: "replicas"}})
				_ = pos
				ex[0].ByPackage(x, diag.Pos(x.Pos))
			}
			out = append(out, ex...)
		}
		return out
	}
	want := `production-eu, production-eu2  api.replicas
   package default          7                        chart/values.yaml:1:11
   values                   1                        b.yaml:1:1
   valuesFor.prod           3                        p.yaml:1:1
 > valuesFor.eu             4                        e.yaml:2:1
production-us  api.replicas
   package default          7                        chart/values.yaml:1:11
   values                   1                        b.yaml:1:1
 > valuesFor.prod           3                        p.yaml:1:1
`
	if got := Text(Lines(all("api.replicas"))); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := Text(Lines(all("api.region"))); !strings.Contains(got, ` > valuesFor.eu             "eu" from {$cluster: labels.region} e.yaml:1:1`) {
		t.Error(got)
	}
}

// TestExplainWhatIsNotThere: a value that nothing sets is an error with the name that was perhaps meant; one that another
// cluster's layer has, or that cannot be known, is none.
func TestExplainWhatIsNotThere(t *testing.T) {
	spec := layered(t)
	spec.Instances = append(spec.Instances, v1alpha1.Instance{Name: "db", Kustomize: &v1alpha1.KustomizeSource{Path: "./db"}})
	c, f := cluster("staging-eu", "staging", nil)
	for path, want := range map[string]string{
		"api.replica":         `there is no value api.replica: neither the bundle nor what the package itself has as values sets it (did you mean "replicas"?)`,
		"api.values.replicas": `there is no value api.values.replicas: neither the bundle nor what the package itself has as values sets it (paths start below values: api.replicas)`,
		"api.tag":             `there is no value api.tag: neither the bundle nor what the package itself has as values sets it (did you mean "tags"?)`,
		"api.replicas":        "",
		"api":                 "",
		"db.replicas":         `instance db takes no values: values are for module and helm; kustomizations and plain manifests have none`,
	} {
		ex, fs := Explain(spec, c, f, path, noReference)
		if strings.HasSuffix(path, ".tag") {
			ex[0].Beside(values(t, "v.yaml", "tags: [a]\n").Struct, "tag")
		}
		err := fs.Err()
		if err == nil {
			err = Missing(ex, path)
		}
		if got := diag.From(err, ""); err != nil && got[0].String() != want || err == nil && want != "" {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
	unread := []Explanation{{Cluster: "eu", Instance: "api", Path: "x", Layer: PackageDefault, Unread: true}}
	if err := Missing(unread, "api.x"); err != nil {
		t.Error(err)
	}
	if text := Text(Lines(unread)); !strings.Contains(text, "not set in the bundle; what the package itself has could not be read") {
		t.Error(text)
	}
	if err := Missing([]Explanation{{Instance: "api", Path: "x", Layers: []LayerValue{{Layer: "valuesFor.us", Value: "1"}}}}, "api.x"); err != nil {
		t.Error(err)
	}
	if err := Missing(nil, "api.x"); err == nil {
		t.Error("an instance that is placed nowhere is explained")
	}
}

// TestExplainOfACharts: of a chart, a list of a layer stands in place of those below, and so does null; the layer that has it is
// named, for what it took away too. What a module's layers merge by index stays merged.
func TestExplainOfACharts(t *testing.T) {
	spec := v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "api", Helm: &v1alpha1.HelmSource{},
		Values: values(t, "base.yaml", "hosts: [{name: a, port: 1}, {name: c}]\ntls: {on: 1}\ndb: {host: h, deep: {x: 1}}\n"),
		ValuesFor: []v1alpha1.ValuesFor{
			{Name: "more", Values: values(t, "more.yaml", "hosts: [{name: b}]\ntls: null\ndb: null\n")},
			{Name: "last", Values: values(t, "last.yaml", "db: {port: 5}\n")},
		}}}}
	c, f := cluster("eu", "production", nil)
	for path, want := range map[string]string{
		"api.hosts":                `valuesFor.more|[{name: "b"}]|more.yaml:1:1|`,
		"api.hosts.0.name":         `valuesFor.more|"b"|more.yaml:1:10|`,
		"api.hosts.0.port":         `valuesFor.more||more.yaml:1:1|valuesFor.more sets hosts as a whole`,
		"api.hosts.1.name":         `valuesFor.more||more.yaml:1:1|valuesFor.more sets hosts as a whole`,
		"api.hosts[name=c].name":   `valuesFor.more||more.yaml:1:1|valuesFor.more sets hosts as a whole`,
		"api.hosts[name=b].name":   `valuesFor.more|"b"|more.yaml:1:10|`,
		"api.tls":                  `valuesFor.more|null|more.yaml:2:1|`,
		"api.tls.on":               `valuesFor.more||more.yaml:2:1|valuesFor.more sets tls as a whole`,
		"api.db.port":              `valuesFor.last|5|last.yaml:1:6|`,
		"api.db.host":              `package default|7|chart.yaml:1|`,
		"api.db.deep.x":            `package default|7|chart.yaml:1|`,
		"api.hosts[name=a].port":   `valuesFor.more||more.yaml:1:1|valuesFor.more sets hosts as a whole`,
		"api.hosts[name=b].port.x": `valuesFor.more||more.yaml:1:1|valuesFor.more sets hosts as a whole`,
		"api.other.x":              `package default|7|chart.yaml:1|`,
	} {
		ex, fs := Explain(spec, c, f, path, noReference)
		if fs != nil || len(ex) != 1 {
			t.Fatal(path, ex, fs)
		}
		e := ex[0]
		e.ByPackage(&v1alpha1.Value{Kind: v1alpha1.KindInt, Text: "7"}, diag.Pos{File: "chart.yaml", Line: 1})
		if got := e.Layer + "|" + e.Value + "|" + e.Pos.String() + "|" + e.Hint; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// An instance that another bundle of the same files has is no mistake in a run of all of them, and else that bundle is named.
func TestExplainOfAnotherBundle(t *testing.T) {
	unknown := func(path string) diag.Findings {
		_, fs := Explain(v1alpha1.BundleSpec{Name: "platform"}, fleet.Cluster{}, fleet.Facts{}, path, nil)
		return fs
	}
	others := []v1alpha1.BundleSpec{{Name: "base"}, {Name: "shop", Instances: []v1alpha1.Instance{{Name: "api"}}}}
	for name, c := range map[string]struct {
		path  string
		among bool
		fs    diag.Findings
		n     int
		fix   string
		found bool
	}{
		"in a run of all":  {"api.db.password", true, unknown("api.db.password"), 0, "", true},
		"in a run of one":  {"api.db", false, unknown("api.db"), 1, "bundle shop of the same files has it: --bundle shop", true},
		"nowhere":          {"apo.db", true, unknown("apo.db"), 1, "", false},
		"another mistake":  {"api.db", true, diag.Findings{diag.Errorf("not-supported", "no values")}, 1, "", false},
		"without mistakes": {"api.db", true, nil, 0, "", false},
	} {
		fs, found := OfAnother(c.fs, others, c.path, c.among)
		if len(fs) != c.n || found != c.found || c.n > 0 && fs[0].Fix != c.fix {
			t.Errorf("%s: %v %v", name, fs, found)
		}
	}
}
