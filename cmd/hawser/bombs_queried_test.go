//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testserver"
)

// queriedBomb is a bundle whose cluster has a Secret with this value, which an expression of the fleet reads; the bundle is made of it.
func queriedBomb(t *testing.T, value, expression, bundle string) bomb {
	t.Helper()
	return queriedData(t, map[string]any{"key": base64.StdEncoding.EncodeToString([]byte(value))}, expression, bundle)
}

// queriedData is queriedBomb with all data of the Secret.
func queriedData(t *testing.T, data map[string]any, expression, bundle string) bomb {
	t.Helper()
	s := testserver.Start(t)
	s.Put("/api/v1/namespaces/default/secrets/q", map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "q"}, "data": data})
	fleet := "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters: {a: {kubeContext: test}}\n  values:\n  - {query: \"k8s:v1:Secret:default:q\", for: {V: '" + expression + "'}}\n"
	name := "b.cue"
	if strings.HasPrefix(bundle, "bundle:\n") {
		name = "b.yaml"
	}
	return bombIn(map[string]string{name: bundle, "f.yaml": fleet}, "build -f "+name+" --fleet f.yaml --kubeconfig "+s.Kubeconfig(t))
}

// decodes is a bundle that decodes the queried value.
func decodes(how string) string {
	return "import (\n\t\"encoding/json\"\n\t\"encoding/yaml\"\n)\n_v: string @timoni(runtime:string:V)\n_used: [json.Marshal(1), yaml.Marshal(1)]\nx: json.Marshal(" + how + ")" + inCUE
}

// Bombs in a Secret: for what decodes it in the fleet, in the bundle and in a template, and for what masks it.
func queriedBombs(t *testing.T) map[string]bomb {
	var long strings.Builder
	fmt.Fprintf(&long, "big: &b '%s'\n", strings.Repeat("x", 300_000))
	for i := range 20_000 {
		fmt.Fprintf(&long, "k%d: *b\n", i)
	}
	const n = 700_000
	many := map[string]any{}
	for i := range 30_000 {
		many[fmt.Sprintf("key%d", i)] = "c2VjcmV0LXZhbHVl"
	}
	templated := func(value, template string) bomb {
		b := queriedBomb(t, value, "obj.data.key", strings.Replace(bombChart, "}}", "}, values: {v: {$cluster: values.V}}}", 1))
		b.files["chart/templates/a.yaml"] = template
		return b
	}
	return map[string]bomb{
		"queried: nested":        queriedBomb(t, strings.Repeat("[", n), "obj.data.key", decodes("json.Unmarshal(_v)")).says("json: invalid JSON"),
		"queried: aliases":       queriedBomb(t, aliases(), "obj.data.key", decodes("yaml.Unmarshal(_v)")).says("aliases expand to more than 50000 nodes"),
		"queried: long":          queriedBomb(t, long.String(), "obj.data.key", decodes("yaml.Unmarshal(_v)")).says("evaluation needs more than"),
		"queried: by the fleet":  queriedBomb(t, long.String(), "yaml.Marshal(yaml.Unmarshal(obj.data.key))", decodes("_v")).says("evaluation needs more than"),
		"queried: aliases there": queriedBomb(t, aliases(), "yaml.Marshal(yaml.Unmarshal(obj.data.key))", decodes("_v")).says("the expression cannot be evaluated"),
		"queried: nested there":  queriedBomb(t, strings.Repeat("[", n), "json.Marshal(json.Unmarshal(obj.data.key))", decodes("_v")).says("the expression cannot be evaluated"),
		"queried: lines":         queriedBomb(t, strings.Repeat("KEY=value\n", n/10), "obj.data.key", decodes("_v")).says("plain manifests take no values"),
		"queried: words":         queriedBomb(t, strings.Repeat("a1,b2:c3@d4/", n/12), "obj.data.key", decodes("_v")).says("plain manifests take no values"),
		"queried: keys":          queriedData(t, many, "obj.data.key1", decodes("_v")).says("plain manifests take no values"),
		"queried: list":          queriedBomb(t, "["+strings.Repeat("1,", n/2)+"1]", "obj.data.key", decodes("json.Unmarshal(_v)")).with(evaluationLimitEnv + "=3s,4GiB").says("evaluation takes longer than"),
		"queried: in a template": templated(long.String(), `{{ len (toYaml (fromYaml .Values.v)) }}`).says("is no object"),
		"queried: objects":       templated("["+strings.Repeat("{},", n/3)+"{}]", `{{ len (toYaml (fromJsonArray .Values.v)) }}`).says("is no object"),
	}
}

// TestQueriedBombs is TestBombs for what a Secret of a cluster holds, which somebody else may write.
func TestQueriedBombs(t *testing.T) {
	t.Parallel()
	for name, c := range queriedBombs(t) {
		t.Run(name, func(t *testing.T) { c.explode(t, "") })
	}
}
