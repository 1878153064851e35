package document

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// TestSmallInputsStaySmall: no small file makes reading, evaluating and binding it take much memory or time, whatever is
// nested in it.
func TestSmallInputsStaySmall(t *testing.T) {
	head := `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: `
	yamlHead := "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a:\n      module: {url: 'file:///m'}\n      namespace: x\n      values:\n"
	block := func(n int, key string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", 8+i) + key + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct{ file, text string }{
		"colons":              {"b.cue", head + strings.Repeat("a: ", 20000) + "1}}"},
		"colons over lines":   {"b.cue", head + strings.Repeat("a:\n", 20000) + "1}}"},
		"colons, fleet":       {"b.cue", "fleet: " + strings.Repeat("a: ", 20000) + "1"},
		"colons, root":        {"b.cue", strings.Repeat("a: ", 20000) + "1"},
		"just allowed":        {"b.cue", head + strings.Repeat("a: ", 480) + "1}}"},
		"allowed, many":       {"b.cue", head + "{" + strings.Repeat(strings.Repeat("a: ", 400)+"1\n", 50) + "}}}"},
		"mixed brackets":      {"b.cue", head + strings.Repeat("a: [{b: ", 5000) + "1"},
		"YAML flow":           {"b.yaml", yamlHead + "        a: " + strings.Repeat("{a: ", 20000)},
		"YAML flow lists":     {"b.yaml", yamlHead + "        a: " + strings.Repeat("[", 50000)},
		"YAML block":          {"b.yaml", yamlHead + block(480, "a:")},
		"YAML block, allowed": {"b.yaml", yamlHead + block(300, "a:")},
		"YAML dashes":         {"b.yaml", yamlHead + "        a:\n        " + strings.Repeat("- ", 30000) + "x\n"},
		"YAML questions":      {"b.yaml", yamlHead + "        " + strings.Repeat("? ", 30000) + "x\n"},
		"YAML many":           {"b.yaml", yamlHead + strings.Repeat("        - x\n", 20000)},
		"YAML wide":           {"b.yaml", yamlHead + "        l:\n" + strings.Repeat("        - {a: 1, b: {c: 2}}\n", 15000)},
		"JSON":                {"b.json", `{"bundle": ` + strings.Repeat(`{"a": `, 20000)},
		"JSON lists":          {"b.json", `{"bundle": ` + strings.Repeat(`[`, 50000)},
	} {
		if len(c.text) > 1<<20 {
			t.Fatalf("%s: %d bytes are no small input", name, len(c.text))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		p, fs := loadText(t, c.file, c.text)
		if p != nil && !fs.HasErrors() {
			specs, _ := p.Evaluate(implicit(nil))
			for _, s := range specs {
				_, _ = bind.Spec(s, nil)
			}
		}
		runtime.ReadMemStats(&after)
		if used, took := (after.TotalAlloc-before.TotalAlloc)>>20, time.Since(start); used > 1024 || took > 10*time.Minute {
			t.Errorf("%s: %d MiB in %s (%v)", name, used, took, len(fs))
		} else {
			t.Logf("%s: %d MiB in %s", name, used, took)
		}
	}
}

// TestFleetIsWatched: the evaluation of a fleet that does not end is ended.
func TestFleetIsWatched(t *testing.T) {
	text := "_l: [for i in [1,2,3,4,5,6,7,8,9,10] for j in [1,2,3,4,5,6,7,8,9,10] for k in [1,2,3,4,5,6,7,8,9,10] for m in [1,2,3,4,5,6,7,8,9,10] {i+j+k+m}]\n" +
		`fleet: {apiVersion: "v1alpha1", name: "f", clusters: a: {kubeContext: "x", vars: l: _l}}`
	got := make(chan diag.Finding, 1)
	dir := t.TempDir()
	write(t, dir, map[string]string{"f.cue": text})
	dog := cuelang.Watch(cuelang.WatchLimits{Deadline: time.Millisecond}, func(f diag.Finding) { got <- f })
	_, _ = Load(t.Context(), Options{Fleet: []string{dir + "/f.cue"}, Workdir: dir, Watchdog: dog})
	select {
	case f := <-got:
		if !strings.Contains(f.What, "the fleet") {
			t.Error(f)
		}
	case <-time.After(2 * time.Minute):
		t.Error("nobody watches the evaluation of the fleet")
	}
}
