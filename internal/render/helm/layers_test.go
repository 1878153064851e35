package helm

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/fleet"
	placing "hawser.dev/hawser/internal/place"
)

// layerChart prints all its values.
var layerChart = map[string]string{
	"chart/Chart.yaml": "apiVersion: v2\nname: layers\nversion: 1.0.0\n",
	"chart/values.yaml": "env: [{name: D, value: d}]\ntls: {enabled: \"y\", hosts: [x]}\nlimits: {cpu: 1, memory: {min: 1, max: 2}}\nplain: a\nempty: {}\nnothing: null\n" +
		"sub: {own: 1, list: [1, 2], map: {a: 1}}\nglobal: {region: none, more: {a: 1}}\n",
	"chart/templates/all.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\ndata: {all: {{ .Values | toJson | quote }}}\n",
	"chart/charts/sub/Chart.yaml":          "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
	"chart/charts/sub/values.yaml":         "list: [7]\nmap: {b: 2}\nkept: {x: 1}\n",
	"chart/charts/sub/templates/some.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\ndata: {all: {{ .Values | toJson | quote }}}\n",
}

// TestLayersAreHelms: layers of valuesFor over the values of a chart give what `helm -f FIRST -f SECOND ...` gives: lists and
// plain values replace, null removes whatever stands there, maps merge. It is so for layers from YAML, JSON and CUE files, and for
// those that stand in the bundle.
func TestLayersAreHelms(t *testing.T) {
	for name, layers := range map[string][]string{
		"lists of maps":    {"env: [{name: A, value: \"1\"}]", "env: [{name: P, valueFrom: {fieldRef: {fieldPath: a}}}]"},
		"longer list":      {"env: [{name: A}, {name: B}]", "env: [{name: C}, {name: D}, {name: E}]"},
		"shorter list":     {"env: [{name: A}, {name: B, x: 1}]", "env: [{name: C}]"},
		"empty list":       {"env: [{name: A}]", "env: []"},
		"null over struct": {"tls: {enabled: \"n\", extra: 1}", "tls: null"},
		"null over list":   {"env: [{name: A}]", "env: null"},
		"null over scalar": {"plain: b", "plain: null"},
		"null within":      {"limits: {memory: {min: 3}}", "limits: {memory: null, cpu: null}"},
		"null of a chart":  {"other: 1", "limits: {memory: null}"},
		"null, then map":   {"limits: {a: 1}", "limits: null", "limits: {b: 2}"},
		"null, then list":  {"env: [1]", "env: null", "env: [2, 3]"},
		"null below":       {"tls: null", "tls: {hosts: [h]}"},
		"list over struct": {"other: {a: {b: 1}}", "other: {a: [1]}"},
		"struct over list": {"other: [1, {a: 1}]", "other: {a: 1}"},
		"text over struct": {"other: {a: {b: 1}}", "other: {a: none}"},
		"empty over all":   {"tls: {extra: 1}", "tls: {}\nempty: {}"},
		"empty layer":      {"tls: {extra: 1}", "{}"},
		"three of a kind":  {"env: [{a: 1}]\nlimits: {x: [1]}", "env: [{b: 2}]\nlimits: {x: [{y: 1}]}", "env: [{c: 3}]\nlimits: {x: [{z: 1}, 2], w: 1}"},
		"dependency":       {"sub: {list: [3, 4], map: {c: 1}}", "sub: {list: [{a: 1}], map: null, kept: null, own: 2}"},
		"global":           {"global: {region: eu, list: [{a: 1}]}", "global: {list: [{b: 1}], more: null}"},
		"order":            {"c: 1\na: {z: 1, b: 2}", "a: {c: 1, b: 3}\nb: 1"},
	} {
		for _, form := range []string{"inline", ".yaml", ".json", ".cue"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				req := request(t, layerChart)
				req.Instance = placedWith(t, req.Instance, form, layers)
				compare(t, req, helmMerged(t, layers), false)
			})
		}
	}
}

// helmMerged is what several -f give, as one file.
func helmMerged(t *testing.T, layers []string) string {
	t.Helper()
	out := map[string]any{}
	for _, l := range layers {
		m, err := loader.LoadValues(strings.NewReader(l))
		if err != nil {
			t.Fatal(err)
		}
		out = loader.MergeMaps(out, m)
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// placedWith is the instance on a cluster, with values and layers of a form: inline, or files with that ending.
func placedWith(t *testing.T, in v1alpha1.Instance, form string, layers []string) v1alpha1.Instance {
	t.Helper()
	dir := t.TempDir()
	var all []v1alpha1.Values
	for i, l := range layers {
		if form == "inline" {
			all = append(all, valuesOf(t, l))
			continue
		}
		name, text := strconv.Itoa(i)+form, []byte(l)
		switch form {
		case ".json":
			text, _ = yaml.YAMLToJSON(text)
		case ".cue":
			s := cuelang.Syntax(valuesOf(t, l).Struct).(*ast.StructLit)
			text, _ = format.Node(&ast.File{Decls: s.Elts})
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := cuelang.FromYAML(filepath.Join(dir, "bundle.yaml"), []byte("from: {file: ./"+name+"}"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v1alpha1.Values{Struct: structOf(f)})
	}
	in.Values = all[0]
	for i, v := range all[1:] {
		in.ValuesFor = append(in.ValuesFor, v1alpha1.ValuesFor{Name: strconv.Itoa(i + 1), Values: v})
	}
	spec, fs := bind.Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, (&bind.Files{}).Value)
	placed, more := placing.Select(spec, fleet.Cluster{}, fleet.Facts{Name: "a"})
	if fs = slices.Concat(fs, more); len(fs) > 0 {
		t.Fatal(fs)
	}
	return placed[0].Instance
}
