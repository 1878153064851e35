package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Hostile and damaged files end with an error that names the file, in bounded time and memory, before any cluster
// sees a write: never with a panic, never silently.
func TestFault21HostileFiles(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\n"
	bundle := "bundle:\n  apiVersion: v1alpha1\n  name: hostile\n  instances:\n    all: {manifests: {paths: [./m]}, namespace: hostile}\n"
	for name, tt := range map[string]struct {
		file, text string
		says       []string
	}{
		"alias bomb":                 {"m/h.yaml", bomb.String(), []string{"m/h.yaml:", "alias"}},
		"alias of itself":            {"m/h.yaml", head + "data: &d {v: *d}\n", []string{"m/h.yaml:4"}},
		"nested a million deep":      {"m/h.yaml", head + "x: " + strings.Repeat("[", 1_000_000), []string{"m/h.yaml"}},
		"nested JSON":                {"m/h.json", strings.Repeat(`{"a":`, 1_000_000), []string{"m/h.json"}},
		"duplicate keys":             {"m/h.yaml", head + "data: {v: a}\ndata: {v: b}\n", []string{"m/h.yaml:5", "data"}},
		"duplicate keys in JSON":     {"m/h.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"h"},"data":{"v":"1","v":"2"}}`, []string{"m/h.json:1", `"v"`}},
		"NUL":                        {"m/h.yaml", head + "data: {v: \"a\x00b\"}\n", []string{"m/h.yaml:4"}},
		"not UTF-8":                  {"m/h.yaml", head + "data: {v: \"\xff\xfe\"}\n", []string{"m/h.yaml:4"}},
		"tab":                        {"m/h.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: h\n", []string{"m/h.yaml:4"}},
		"not a number":               {"m/h.yaml", head + "x: .nan\n", []string{"m/h.yaml:4"}},
		"infinity":                   {"m/h.yaml", head + "x: -.inf\n", []string{"m/h.yaml:4"}},
		"not an object":              {"m/h.yaml", "- 1\n- 2\n", []string{"m/h.yaml:1"}},
		"bundle: alias bomb":         {"b.yaml", strings.Replace(bomb.String(), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n", "bundle: {name: x}\n", 1), []string{"b.yaml"}},
		"bundle: nested":             {"b.yaml", "bundle: " + strings.Repeat("{a: ", 100_000), []string{"b.yaml"}},
		"bundle: duplicate keys":     {"b.yaml", bundle + "    all: {manifests: {paths: [./m]}, namespace: other}\n", []string{"b.yaml:6", "all"}},
		"bundle: NUL":                {"b.yaml", bundle + "# \x00\n", []string{"b.yaml:6"}},
		"bundle in CUE: nested":      {"b.cue", "bundle: " + strings.Repeat("{a: ", 100_000), []string{"b.cue"}},
		"bundle in CUE: NUL":         {"b.cue", "bundle: {name: \"a\x00\"}\n", []string{"b.cue:1"}},
		"bundle in CUE: cycle":       {"b.cue", "a: b + 1\nb: a + 1\nbundle: {apiVersion: \"v1alpha1\", name: \"x\", instances: {\"\\(a)\": {}}}\n", []string{"b.cue"}},
		"bundle in CUE: structural":  {"b.cue", "#T: {next: #T}\nbundle: {apiVersion: \"v1alpha1\", name: \"x\", instances: all: {manifests: paths: [\"m\"], namespace: \"x\", values: #T}}\n", []string{"b.cue"}},
		"fleet: nested":              {"f.yaml", "fleet: " + strings.Repeat("[", 100_000), []string{"f.yaml"}},
		"fleet: duplicate cluster":   {"f.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {kubeContext: staging}\n    a: {kubeContext: production-eu}\n", []string{"f.yaml:6"}},
		"kubeconfig of another kind": {"kubeconfig", strings.Repeat("{a: ", 20_000), []string{"kubeconfig"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.write("b.yaml", bundle)
			s.write("m/ok.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n")
			s.write(tt.file, tt.text)
			args := []string{"plan", "-f", "b.yaml", "--kube-context", "staging"}
			switch tt.file {
			case "b.cue":
				args[2] = "b.cue"
			case "f.yaml":
				args = []string{"plan", "-f", "b.yaml", "--fleet", "f.yaml"}
			}
			r := s.run(args...)
			if r.Code != 1 || r.Elapsed > 5*time.Minute {
				t.Fatalf("want an error in time, got %.4000s", r.String())
			}
			if len(r.Stderr) > 20_000 {
				t.Errorf("the error has %d bytes", len(r.Stderr))
			}
			if strings.Contains(r.Stderr, "goroutine ") {
				t.Fatalf("a panic: %.4000s", r.Stderr)
			}
			s.has(fmt.Sprintf("%.4000s", r.Stderr), tt.says...)
		})
	}
}

// CRLF line ends and a byte order mark are no faults.
func TestFault21Harmless(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	s.write("m/a.yaml", "\ufeffapiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\ndata:\r\n  v: \"1\"\r\n")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.wantData("staging", "a", "v", "1")
}

// An evaluation that does not end is ended by the watchdog, for time and for memory, before anything is written.
func TestFault21EndlessEvaluation(t *testing.T) {
	t.Parallel()
	const bundle = `
bundle: {apiVersion: "v1alpha1", name: "endless", instances: all: {manifests: paths: ["m"], namespace: "endless", values: n: len(_big)}}
`
	for name, tt := range map[string]struct{ limit, says, text string }{
		"time": {"2s,8GiB", "2s", `
import "list"
_n: list.Range(0, 100000, 1)
_big: [for a in _n for b in _n for c in _n {a + b + c}]
`},
		"memory": {"10m,200MiB", "200 MiB", `
import ("list", "strings")
_text: strings.Repeat("0123456789", 1_000_000)
_big: [for i in list.Range(0, 10000, 1) {"\(i) \(_text)"}]
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(faultBundle)
			s.write("b.cue", tt.text+bundle)
			s.env = append(s.env, evaluationLimitEnv+"="+tt.limit)
			s.mark()
			r := s.run("apply", "-y", "-f", "b.cue", "--kube-context", "staging")
			if r.Code != 1 || r.Elapsed > 5*time.Minute {
				t.Fatalf("want an end, got %s", r)
			}
			s.has(r.Stderr, "nothing was written", tt.says)
			s.untouched("staging")
		})
	}
}

// TestEndlessFleet: a fleet that is read apart from a bundle (for completion, comparisons, the policy of signatures) is watched as well.
func TestEndlessFleet(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"completion": {"__complete", "plan", "--fleet", "f.cue", "--cluster", ""},
		"comparison": {"diff", "--between", "a,b", "--fleet", "f.cue"},
		"module":     {"module", "pull", "oci://registry.invalid/m", "-o", "m", "--fleet", "f.cue"},
		"artifact":   {"artifact", "pull", "oci://registry.invalid/m", "-o", "m", "--fleet", "f.cue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("f.cue", `import "list"
_n: list.Range(0, 100000, 1)
fleet: {apiVersion: "v1alpha1", clusters: a: {context: "a", vars: x: "\(len([for a in _n for b in _n for c in _n {a + b + c}]))"}}
`)
			b.env = append(b.env, evaluationLimitEnv+"=2s,8GiB")
			if r := b.want(1, args...); !strings.Contains(r.Stderr, "takes longer than 2s") {
				t.Error(r)
			}
		})
	}
}
