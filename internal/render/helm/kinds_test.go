package helm

import (
	"fmt"
	"slices"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// TestKinds: of which kinds a value is that must be no text, as the schemas of a chart and its dependencies say it, through references, alternatives,
// lists and patterns; where they say nothing, true or false stands where the chart's own value is that. A schema that leads back to itself ends.
func TestKinds(t *testing.T) {
	files := map[string]string{
		"chart/Chart.yaml":  "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0}, {name: cache, version: 1.0.0, alias: redis}]\n",
		"chart/values.yaml": "flag: false\nport: 80\ntyped: true\ndb: {flag: true}\n",
		"chart/values.schema.json": `{"$defs": {"port": {"type": "integer", "minimum": 1}, "loop": {"allOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]}},
  "properties": {"p": {"$ref": "#/$defs/port"}, "any": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "rate": {"type": ["number", "null"]},
    "either": {"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, "few": {"enum": [1, 2.5]}, "words": {"type": "string"}, "typed": {"type": "string"},
    "list": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}}, "map": {"additionalProperties": {"type": "boolean"}},
    "x": {"patternProperties": {"^n": {"const": 3}}}, "loop": {"$ref": "#/$defs/loop"}, "o": {"type": "object"}}}`,
		"chart/charts/db/Chart.yaml":            "apiVersion: v2\nname: db\nversion: 1.0.0\n",
		"chart/charts/db/values.schema.json":    `{"properties": {"port": {"type": "integer"}, "global": {"properties": {"port": {"type": "integer"}}}}}`,
		"chart/charts/cache/Chart.yaml":         "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
		"chart/charts/cache/values.yaml":        "tls: false\n",
		"chart/charts/cache/values.schema.json": `{"properties": {"port": {"type": "integer"}}}`,
		"chart/templates/a.yaml":                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"values.yaml":                           "a: b\n",
	}
	req := request(t, files)
	kinds := func(path string) string {
		p, err := v1alpha1.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, k := range New(Options{}).Kinds(t.Context(), req, []v1alpha1.Path{p})[0] {
			out += map[v1alpha1.Kind]string{v1alpha1.KindBool: "b", v1alpha1.KindInt: "i", v1alpha1.KindFloat: "f"}[k]
		}
		return out
	}
	for path, want := range map[string]string{"p": "i", "any": "", "rate": "if", "either": "bi", "few": "if", "words": "", "typed": "", "list[1].port": "i", "map.a": "b",
		"x.n1": "if", "x.m": "", "loop": "", "loop.a": "", "o": "", "flag": "b", "port": "", "none": "", "db.port": "i", "db.flag": "b", "redis.port": "i", "redis.tls": "b", "cache.port": "", "global.port": "i"} {
		if got := kinds(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	req.Instance.Helm.SkipSchema = true
	if got := fmt.Sprint(kinds("p"), kinds("flag")); got != "b" {
		t.Errorf("without schema: %q", got)
	}
}

// Numbers that break a schema are written as they are in files: in another form the secret ones among them would not be known. A schema is compiled once.
func TestNumbersOfSchemas(t *testing.T) {
	req := request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values.yaml": "a: 12345678\nb: 1234567.125\nc: -0.0000123456789\nd: 3\ne: 5\n",
		"chart/values.schema.json": `{"properties": {"a": {"maximum": 1}, "b": {"exclusiveMaximum": 1024}, "c": {"minimum": 0}, "d": {"multipleOf": 2}, "e": {"exclusiveMinimum": 5.5}}}`,
		"chart/templates/a.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
	_, err := New(Options{}).Render(t.Context(), req)
	var got []string
	for _, f := range diag.From(err, "x") {
		got = append(got, f.What)
	}
	slices.Sort(got)
	if want := []string{"exclusiveMaximum: got 1234567.125, want 1024", "exclusiveMinimum: got 5, want 5.5", "maximum: got 12345678, want 1", "minimum: got -0.0000123456789, want 0", "multipleOf: got 3, want 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r := New(Options{})
	l, err := r.read(t.Context(), req)
	if err != nil || l.schemas.Of(l.chart, l.chart.Schema) == nil || l.schemas.Of(l.chart, l.chart.Schema) != l.schemas.Of(l.chart, nil) {
		t.Error(err)
	}
}
