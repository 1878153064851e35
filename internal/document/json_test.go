package document

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/testseed"
)

// throughJSON is the difference between a spec and what its JSON says, but for what JSON leaves out on purpose: places in files.
func throughJSON(spec v1alpha1.BundleSpec) (string, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	var again v1alpha1.BundleSpec
	if err := json.Unmarshal(data, &again); err != nil {
		return "", fmt.Errorf("%w in %s", err, data)
	}
	second, err := json.Marshal(again)
	if err != nil || string(second) != string(data) {
		return string(data) + "\nbecame\n" + string(second), err
	}
	return cmp.Diff(spec, again, cmp.Comparer(func(a, b v1alpha1.Values) bool { return cuelang.Digest(a.Struct) == cuelang.Digest(b.Struct) }),
		cmpopts.IgnoreTypes(v1alpha1.Position{}), cmpopts.IgnoreFields(v1alpha1.ManifestsSource{}, "Dir", "Given", "Except"), cmpopts.IgnoreFields(v1alpha1.ModuleSource{}, "Dir"),
		cmpopts.IgnoreFields(v1alpha1.HelmSource{}, "Dir"), cmpopts.IgnoreFields(v1alpha1.KustomizeSource{}, "Dir"), cmp.FilterPath(func(p cmp.Path) bool {
			return !strings.HasSuffix(p.String(), "Clusters") && !strings.HasSuffix(p.String(), "Groups") // there empty is not absent
		}, cmpopts.EquateEmpty())), nil
}

// scalars are values of every kind as YAML writes them.
var scalars = []string{"1", "-7", "1.0", "-0.50", "1e3", "12345678901234567890123", "0.1000000000000000055511151231257827", "true", "null", "x", `""`, `"1"`, `"true"`, `"a<b>&\"\\\n\u00e9"`, `"\u2028"`}

// genValue is a random value as YAML on one line.
func genValue(g *rand.Rand, depth int) string {
	n := g.IntN(3)
	switch k := g.IntN(4); {
	case depth > 0 && k == 0:
		var parts []string
		for range n {
			parts = append(parts, genValue(g, depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case depth > 0 && k < 3:
		var parts []string
		for _, i := range g.Perm(5)[:n] {
			parts = append(parts, []string{"b", "a", `"x-y"`, `"0"`, `"{$}"`}[i]+": "+genValue(g, depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return scalars[g.IntN(len(scalars))]
}

func genStruct(g *rand.Rand) string {
	return "{z: " + genValue(g, 3) + ", a: " + genValue(g, 3) + "}"
}

// genBundle is a random bundle as YAML.
func genBundle(g *rand.Rand) string {
	maybe := func(s string) string {
		if g.IntN(2) == 0 {
			return ""
		}
		return s
	}
	sources := []string{"module: {url: 'file://./m'%s}", "helm: {chart: c, repo: 'https://x'%s, skipCRDs: true}", "helm: {chart: ./c}", "module: {url: 'oci://r/m', version: 1.x, digest: 'sha256:" + strings.Repeat("a", 64) + "'}"}
	var b strings.Builder
	b.WriteString("bundle:\n  apiVersion: v1alpha1\n  name: shop\n" + maybe("  requires: [{bundle: base}]\n") + maybe("  revisionHistoryLimit: 3\n") +
		maybe("  health: [{group: x.io, kind: Thing, ready: 'self.status.ok', message: 'self.m'}]\n") + maybe("  ignore: [{kind: Job, paths: [spec.replicas]}, {managers: ['hpa*']}]\n") + "  instances:\n")
	for i := range 1 + g.IntN(4) {
		s := sources[g.IntN(len(sources))]
		if strings.Contains(s, "%s") {
			s = fmt.Sprintf(s, maybe(", version: '1.2.3'"))
		}
		fmt.Fprintf(&b, "    i%d:\n      %s\n      namespace: n\n", 9-i, s)
		b.WriteString(maybe("      values: "+genStruct(g)+"\n") + maybe("      wait: false\n") + maybe("      timeout: 1m30s\n") + maybe("      suspend: true\n") +
			maybe("      valuesFor: {z: {groups: [], values: "+genStruct(g)+"}, a: {clusters: [eu], clusterSelector: {matchLabels: {x: y}}, values: null}}\n") +
			maybe("      placement: {clusters: ["+maybe("eu")+"], groups: [p], clusterSelector: {matchExpressions: [{key: k, operator: In, values: [a]}]}, tolerations: [{operator: Exists}]}\n"))
	}
	return b.String()
}

// TestBundleThroughJSON: a bundle in YAML is the same after JSON, so that it can be the spec of a custom resource: order, integers, long
// numbers, what is empty and what is absent.
func TestBundleThroughJSON(t *testing.T) {
	first := testseed.From(t)
	for seed := first; seed < first+150; seed++ {
		text := genBundle(rand.New(rand.NewPCG(seed, 7)))
		p, fs := loadText(t, "b.yaml", text)
		if fs.HasErrors() {
			t.Fatalf("seed %d: %v\n%s", seed, fs, text)
		}
		specs, fs := p.Evaluate(implicit(nil))
		if fs.HasErrors() || len(specs) != 1 {
			t.Fatalf("seed %d: %v\n%s", seed, fs, text)
		}
		if diff, err := throughJSON(specs[0]); diff != "" || err != nil {
			t.Fatalf("seed %d: %s %v\n%s", seed, diff, err, text)
		}
		if diff := cmp.Diff(specs[0], *specs[0].DeepCopy()); diff != "" {
			t.Fatalf("seed %d: a copy differs: %s", seed, diff)
		}
	}
}

// FuzzBundleThroughJSON is the same of anybody's values.
func FuzzBundleThroughJSON(f *testing.F) {
	for _, s := range append(scalars, "{a: [1, {b: 1.0}]}", "{b: 1, a: 2}", "0x1F", ".5", "1_000", "!!binary eA==", "{a: &x {b: 1}, c: *x}") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 || strings.ContainsAny(text, "\n\r") {
			return
		}
		p, fs := loadText(t, "b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: n, values: {x: "+text+"}}}}\n")
		if fs.HasErrors() {
			return
		}
		specs, fs := p.Evaluate(implicit(nil))
		if fs.HasErrors() || len(specs) != 1 {
			return
		}
		first, err := json.Marshal(specs[0]) // bytes are texts from here on
		if err != nil {
			t.Fatal(err)
		}
		var spec v1alpha1.BundleSpec
		if err := json.Unmarshal(first, &spec); err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if strings.Contains(text, "!") {
			specs[0] = spec
		}
		if diff, err := throughJSON(specs[0]); diff != "" || err != nil {
			t.Fatalf("%s %v", diff, err)
		}
	})
}
