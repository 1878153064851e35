package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/isolate"
	"hawser.dev/hawser/internal/redact"
)

// isolatedFiles is a bundle of all kinds of sources, in CUE that computes.
func isolatedFiles(b *bench) {
	b.write("b.cue", `import "strings"
bundle: {apiVersion: "v1alpha1", name: "apart", instances: {
	chart: {helm: chart: "./chart", namespace: "apart", values: {a: strings.ToUpper("x"), n: 3, f: 1.50, l: [for i in [1, 2] {i * 2}]}}
	plain: {manifests: paths: ["m"], namespace: "apart"}
	patched: {kustomize: path: "./k", namespace: "apart"}
}}
`)
	b.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	b.write("chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chart}\ndata: {v: {{ toJson .Values | quote }}, at: {{ .Capabilities.KubeVersion.Version | quote }}}\n")
	b.write("m/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: \"1\"}\n")
	b.write("k/kustomization.yaml", "namePrefix: k-\nresources: [a.yaml]\n")
	b.write("k/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: patched}\ndata: {a: \"1\"}\n")
}

// TestIsolatedIsTheSame: what is built, and what is wrong, is the same with child processes and without, by flag and by
// environment; an apply is unchanged afterwards, with them or without.
func TestIsolatedIsTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	isolatedFiles(b)
	for _, args := range [][]string{{"build", "-f", "b.cue"}, {"vet", "-f", "b.cue", "--print-value"}, {"vet", "-f", "bad.cue"}, {"build", "-f", "wrong.yaml"}} {
		b.write("bad.cue", "bundle: {apiVersion: \"v1alpha1\", name: \"x\", instances: a: {manifests: paths: [\"m\"], namespac: 3 & 4}}\n")
		b.write("wrong.yaml", "bundle: {apiVersion: v1alpha1, name: x, instances: {a: {helm: {chart: ./chart}, namespace: x, values: {a: {}}}, b: {manifests: {paths: [./none]}}}}\n")
		here, there := b.run(args...), b.run(append(args, "--isolate")...)
		if here.Code != there.Code || here.Stdout != there.Stdout || here.Stderr != there.Stderr {
			t.Errorf("%v: %s\n--- with children: %s", args, here, there)
		}
	}
	apply := []string{"apply", "-y", "-f", "b.cue", "--kube-context", "staging"}
	b.want(0, append(apply, "--isolate")...)
	for _, args := range [][]string{apply, append(apply, "--isolate")} {
		if r := b.want(0, args...); !strings.Contains(r.Stdout+r.Stderr, "unchanged") && !strings.Contains(r.Stdout+r.Stderr, "No changes") {
			t.Errorf("%v changes something: %s", args, r)
		}
	}
	b.want(0, "delete", "apart", "--kube-context", "staging", "-y")
}

// TestRunawaysEndAlone: a document, a template, a query and a health rule that never end, or take all memory, are findings;
// the process that asked goes on, and holds no lock afterwards.
func TestRunawaysEndAlone(t *testing.T) {
	t.Parallel()
	ok := "  instances:\n    good: {namespace: runaway, manifests: {paths: [./m]}}\n"
	head := "bundle:\n  apiVersion: v1alpha1\n  name: runaway\n"
	for name, c := range map[string]struct {
		files map[string]string
		args  string
		code  int
		says  []string
	}{
		"document": {map[string]string{"b.cue": "import \"list\"\n_n: list.Range(0, 100000, 1)\nx: [for a in _n for b in _n for c in _n {a + b + c}]" + inCUE},
			"build -f b.cue", 1, []string{"the bundle for cluster", "evaluation takes longer than 3s"}},
		"template": {map[string]string{"b.yaml": head + ok + "    bad: {namespace: runaway, helm: {chart: ./chart}}\n", "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
			"chart/templates/a.yaml": `{{ range until 90000 }}{{ range until 90000 }}{{ range until 90000 }}{{ $x := 1 }}{{ end }}{{ end }}{{ end }}`},
			"build -f b.yaml", 1, []string{"instance bad", "evaluation takes longer than 3s"}},
		"health rule": {map[string]string{"b.yaml": head + "  health:\n  - {kind: ConfigMap, ready: \"self.metadata.name" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 40) + " == 'x'\"}\n" + ok},
			"apply -y -f b.yaml --kube-context staging --timeout 5s", 4, []string{"the expression takes too much time or memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.env = append(b.env, evaluationLimitEnv+"=3s,4GiB", "HAWSER_ISOLATE=yes")
			b.write("m/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aaaaaaaaaa}\ndata: {a: \"1\"}\n")
			for file, text := range c.files {
				b.write(file, text)
			}
			r := b.run(strings.Fields(c.args)...)
			if r.Code != c.code || r.Elapsed > 3*time.Minute || strings.Contains(r.Stderr, "goroutine ") {
				t.Fatalf("want exit %d, got %s", c.code, r)
			}
			for _, text := range c.says {
				if !strings.Contains(r.Stdout+r.Stderr, text) {
					t.Errorf("it does not say %q: %s", text, r)
				}
			}
			if c.code == 4 {
				b.want(0, "delete", "runaway", "--kube-context", "staging", "-y")
			}
		})
	}
}

// TestEndlessChecksOfManyClusters: when as many evaluations of health checks go on as this process bears, those of other clusters are
// judged in children, also without --isolate.
func TestEndlessChecksOfManyClusters(t *testing.T) {
	t.Parallel()
	own := new(isolation)
	made := evaluating(isolate.Host{Redact: func(s string) string { return s }, Beyond: func() health.Checker {
		own.make(redact.New())
		return own.beyond
	}, CheckTime: time.Second})
	obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}}
	check := func(cluster, source string) health.Status {
		return health.Of(obj, health.Rules{Checks: []health.Check{{Name: "up", Group: "example.com", Source: source}}, Checker: made.Checker, Cluster: cluster})
	}
	up := "#object: _\ncurrent: #object.metadata.name == \"a\"\n"
	for i := range 5 {
		endless := fmt.Sprintf("import \"list\"\n#object: _\nn: list.Range(0, 110, 1)\ncurrent: len([for a in n for b in n for c in n if a+b+c == %d {a}]) > 3\n", i)
		if st := check(fmt.Sprint("hostile", i), endless); i < 4 && !strings.Contains(st.Reason, "was given up") {
			t.Fatalf("%+v", st)
		}
		if st := check("honest", up); st.State != health.Ready {
			t.Fatalf("after %d: %+v", i+1, st)
		}
	}
	if own.pool == nil {
		t.Fatal("nothing was judged in a child")
	}
	own.pool.Close()
}
