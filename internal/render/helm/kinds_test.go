package helm

import (
	"fmt"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestKinds: of which kinds a value is that must be no text, as the schemas of a chart and its dependencies say it, through references, alternatives,
// lists and patterns; where they say nothing, true or false stands where the chart's own value is that. A schema that leads back to itself ends.
func TestKinds(t *testing.T) {
	files := map[string]string{
		"chart/Chart.yaml":  "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0}]\n",
		"chart/values.yaml": "flag: false\nport: 80\ntyped: true\ndb: {flag: true}\n",
		"chart/values.schema.json": `{"$defs": {"port": {"type": "integer", "minimum": 1}, "loop": {"allOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]}},
  "properties": {"p": {"$ref": "#/$defs/port"}, "any": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "rate": {"type": ["number", "null"]},
    "either": {"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, "few": {"enum": [1, 2.5]}, "words": {"type": "string"}, "typed": {"type": "string"},
    "list": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}}, "map": {"additionalProperties": {"type": "boolean"}},
    "x": {"patternProperties": {"^n": {"const": 3}}}, "loop": {"$ref": "#/$defs/loop"}, "o": {"type": "object"}}}`,
		"chart/charts/db/Chart.yaml":         "apiVersion: v2\nname: db\nversion: 1.0.0\n",
		"chart/charts/db/values.schema.json": `{"properties": {"port": {"type": "integer"}}}`,
		"chart/templates/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"values.yaml":                        "a: b\n",
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
		"x.n1": "if", "x.m": "", "loop": "", "loop.a": "", "o": "", "flag": "b", "port": "", "none": "", "db.port": "i", "db.flag": "b"} {
		if got := kinds(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	req.Instance.Helm.SkipSchema = true
	if got := fmt.Sprint(kinds("p"), kinds("flag")); got != "b" {
		t.Errorf("without schema: %q", got)
	}
}
