package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
)

func TestVersionIsTheOneBuilt(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "helm.sh/helm/v4 "+Version+"\n") {
		t.Errorf("Version %s is not the version in go.mod", Version)
	}
	if caps, err := (&loaded{}).capabilitiesOf(render.Request{}); err != nil || caps.HelmVersion.Version != Version {
		t.Errorf("charts are told %+v, %v", caps, err)
	}
}

// TestTwiceAndShuffled: one renderer or several, files in any order, the output is byte-equal.
func TestTwiceAndShuffled(t *testing.T) {
	for _, file := range goldens(t) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		get := filesOf(a)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			req := request(t, get)
			facts, objects := outcome(t, req)
			req.Content.Files = slices.Clone(req.Content.Files)
			slices.Reverse(req.Content.Files)
			slices.Reverse(req.APIs)
			defer slices.Reverse(req.APIs)
			for range 3 {
				facts2, objects2 := outcome(t, req)
				if facts2 != facts || objects2 != objects {
					t.Fatalf("another output:\n%s%s", facts2, objects2)
				}
			}
		})
	}
}

// TestParallel: 32 renders of one renderer at once give what one gives.
func TestParallel(t *testing.T) {
	a, err := txtar.ParseFile("testdata/golden/dependencies.txtar")
	if err != nil {
		t.Fatal(err)
	}
	get := filesOf(a)
	req := request(t, get)
	r := New(Options{Watch: cuelang.Watch(cuelang.WatchLimits{}, func(f diag.Finding) { t.Error(f) })})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			mine := req
			mine.Instance.Name = fmt.Sprintf("api%d", i)
			res, err := r.Render(context.Background(), mine)
			if err != nil {
				t.Error(err)
				return
			}
			var b bytes.Buffer
			if err := render.WriteYAML(&b, res.Objects); err != nil {
				t.Error(err)
			}
			if got := strings.ReplaceAll(b.String(), mine.Instance.Name+"-", "api-"); got != get["objects.yaml"] {
				t.Errorf("render %d:\n%s", i, got)
			}
		})
	}
	wg.Wait()
}

const plainChart = `
-- chart/Chart.yaml --
apiVersion: v2
name: app
version: 1.2.3
-- chart/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
`

func chartWith(extra string) map[string]string {
	return filesOf(txtar.Parse([]byte(plainChart + extra)))
}

func keyOf(t *testing.T, r *Renderer, req render.Request) string {
	t.Helper()
	key, err := r.Key(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKey(t *testing.T) {
	files := chartWith("-- chart/templates/caps.yaml --\n{{ .Capabilities.KubeVersion }}\n")
	base := request(t, files)
	r := New(Options{})
	key := keyOf(t, r, base)
	if again := keyOf(t, New(Options{}), request(t, files)); again != key {
		t.Error("the key changes with the place of the chart or the renderer")
	}
	for name, change := range map[string]func(*render.Request){
		"content":      func(q *render.Request) { q.Content = request(t, chartWith("-- chart/x --\nCapabilities\n")).Content },
		"release name": func(q *render.Request) { q.Instance.Helm.ReleaseName = "other" },
		"instance":     func(q *render.Request) { q.Instance.Name = "other" },
		"namespace":    func(q *render.Request) { q.Instance.Namespace = "other" },
		"values":       func(q *render.Request) { q.Instance.Values = valuesOf(t, "a: 1") },
		"skipCRDs":     func(q *render.Request) { q.Instance.Helm.SkipCRDs = true },
		"skipHooks":    func(q *render.Request) { q.Instance.Helm.SkipHooks = true },
		"skipSchema":   func(q *render.Request) { q.Instance.Helm.SkipSchema = true },
		"tests":        func(q *render.Request) { q.Tests = true },
		"version":      func(q *render.Request) { q.KubeVersion = "1.35.0" },
		"kinds":        func(q *render.Request) { q.APIs = q.APIs[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			q := request(t, files)
			change(&q)
			if keyOf(t, r, q) == key {
				t.Error("the key does not change")
			}
		})
	}
}

// TestKeyWithoutCapabilities: what a chart does not ask for plays no part in its key, nor in its output.
func TestKeyWithoutCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		extra, values string
		depends       bool
	}{
		"nothing asked":      {},
		"in a template":      {extra: "-- chart/templates/a.tpl --\n{{ .Capabilities.APIVersions }}\n", depends: true},
		"in a file for tpl":  {extra: "-- chart/files/x --\n{{ .Capabilities }}\n", depends: true},
		"in default values":  {extra: "-- chart/values.yaml --\na: '{{ .Capabilities }}'\n", depends: true},
		"in values":          {values: "a: '{{ $.Capabilities.KubeVersion }}'", depends: true},
		"in a name of value": {values: "Capabilities: 1", depends: true},
		"kubeVersion":        {extra: "-- chart/Chart.yaml --\napiVersion: v2\nname: app\nversion: 1.2.3\nkubeVersion: '>=1'\n", depends: true},
		"everything dumped":  {extra: "-- chart/templates/b.yaml --\n{{ toYaml $ | sha256sum }}\n", depends: true},
		"in a subchart": {extra: "-- chart/charts/sub/Chart.yaml --\napiVersion: v2\nname: sub\nversion: 1.2.3\n-- chart/charts/sub/templates/_x.tpl --\n{{ .Capabilities }}\n",
			depends: true},
	} {
		t.Run(name, func(t *testing.T) {
			files := chartWith(c.extra)
			files["values.yaml"] = c.values
			a, b := request(t, files), request(t, files)
			b.KubeVersion, b.APIs = "1.30.0", []string{"example.dev/v1/New"}
			r := New(Options{})
			if depends := keyOf(t, r, a) != keyOf(t, r, b); depends != c.depends {
				t.Errorf("the key depends on the cluster: %v, want %v", depends, c.depends)
			}
		})
	}
	packed := request(t, chartWith("-- chart/charts/sub/Chart.yaml --\napiVersion: v2\nname: sub\nversion: 1.2.3\n"+
		"-- chart/charts/sub/templates/x.yaml --\n{{ .Capabilities }}\n"))
	packChart(t, &packed.Content, "charts/sub")
	other := packed
	other.KubeVersion = "1.30.0"
	r := New(Options{})
	if keyOf(t, r, packed) == keyOf(t, r, other) {
		t.Error("a packed chart's use of capabilities is not seen")
	}
}

// TestNothingOutside: no link, name or archive leads out of the chart.
func TestNothingOutside(t *testing.T) {
	const canary = "canary-outside"
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	show := "-- chart/templates/show.yaml --\n" +
		"{{ range tuple \"files/link\" \"" + outside + "\" \"../secret.txt\" \"files/../../secret.txt\" }}# {{ $.Files.Get . }}\n{{ end }}"
	for name, plant := range map[string]func(t *testing.T, c *module.Content){
		"a link": func(t *testing.T, c *module.Content) {
			if err := os.MkdirAll(filepath.Join(c.Root, "files"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(c.Root, "files", "link")); err != nil {
				t.Fatal(err)
			}
			c.Files = append(c.Files, "files/link")
		},
		"a linked directory": func(t *testing.T, c *module.Content) {
			if err := os.Symlink(filepath.Dir(outside), filepath.Join(c.Root, "dir")); err != nil {
				t.Fatal(err)
			}
			c.Files = append(c.Files, "dir/secret.txt")
		},
		"a name": func(_ *testing.T, c *module.Content) { c.Files = append(c.Files, "../secret.txt") },
		"a path": func(_ *testing.T, c *module.Content) { c.Files = append(c.Files, outside) },
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, chartWith(show))
			plant(t, &req.Content)
			facts, objects := outcome(t, req)
			if !strings.Contains(facts, "error chart-unreadable") || strings.Contains(facts+objects, canary) {
				t.Errorf("got %s%s", facts, objects)
			}
		})
	}
	t.Run("templates alone", func(t *testing.T) {
		facts, objects := outcome(t, request(t, chartWith(show)))
		if strings.Contains(facts, "error") || strings.Contains(facts+objects, canary) {
			t.Errorf("got %s%s", facts, objects)
		}
	})
}

// TestArchivesInCharts: what is packed below charts/ is bounded and stays inside.
func TestArchivesInCharts(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no archive": {map[string]string{"chart/charts/sub.tgz": "not gzip"}, "sub.tgz is not a .tgz"},
		"traversal":  {map[string]string{"chart/charts/sub.tgz": tgz(t, "sub/../../evil", []byte("x"))}, "sub.tgz:"},
		"a bomb":     {map[string]string{"chart/charts/sub.tgz": tgz(t, "sub/big", make([]byte, maxChartBytes+1))}, "more than 100 MiB"},
		"many bombs": {manyBombs(t), "more than 100 MiB"},
		"nested":     {map[string]string{"chart/charts/sub.tgz": nested(t, maxChartDepth+3)}, "nested more than 16 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			files := chartWith("")
			maps.Copy(files, c.files)
			facts, _ := outcome(t, request(t, files))
			if !strings.Contains(facts, "error chart-") || !strings.Contains(facts, c.want) {
				t.Errorf("got %s, want %q", facts, c.want)
			}
		})
	}
}

func TestRedaction(t *testing.T) {
	const canary = "canary-value"
	redact := func(s string) string { return strings.ReplaceAll(s, canary, "***") }
	for name, extra := range map[string]string{
		"fail":   "-- chart/templates/a.yaml --\n{{ fail .Values.secret }}\n",
		"tpl":    "-- chart/templates/a.yaml --\n{{ tpl (printf \"{{ %s\" .Values.secret) . }}\n",
		"index":  "-- chart/templates/a.yaml --\n{{ index (list 1) .Values.secret }}\n",
		"yaml":   "-- chart/templates/a.yaml --\na: *{{ .Values.secret }}\n",
		"schema": "-- chart/values.schema.json --\n{\"properties\": {\"secret\": {\"enum\": [\"a\"], \"pattern\": \"^[0-9]$\"}}}\n",
		"name":   "-- chart/templates/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Values.secret }} _\"}\n",
		"random": "-- chart/templates/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Values.secret }}\", annotations: {a: \"{{ uuidv4 }}\", b: {{ randAlpha 1 | repeat -1 }} ]\"}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := chartWith(extra)
			files["values.yaml"] = "secret: " + canary + "\n"
			_, err := New(Options{Redact: redact}).Render(t.Context(), request(t, files))
			if err == nil {
				t.Fatal("no error")
			}
			for _, f := range diag.From(err, "") {
				if strings.Contains(fmt.Sprintf("%+v", f), canary) {
					t.Errorf("the value is shown: %+v", f)
				}
			}
		})
	}
}

// TestParsersQuoteNothing: what a parser says of a secret value, it says twice: the whole, and what it could not read of it.
func TestParsersQuoteNothing(t *testing.T) {
	for template, secret := range map[string]string{
		`{{ mustToDate "2006-01-02" .Values.secret }}`:                                             "2021-Zebra9x-Kappa77-Q",
		`{{ mustDateModify .Values.secret now }}`:                                                  "17Zebra9xKappa77",
		`{{ urlParse (printf "http://u:%s@h" .Values.secret) }}`:                                   "Zebra9x%qqKappa77",
		`{{ include "i" . }}{{ define "i" }}{{ mustToDate "2006-01-02" .Values.secret }}{{ end }}`: "2021-Zebra9x-Kappa77-Q",
	} {
		redact := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
		files := chartWith("-- chart/templates/a.yaml --\n" + template + "\n")
		files["values.yaml"] = "secret: " + secret + "\n"
		_, err := New(Options{Redact: redact}).Render(t.Context(), request(t, files))
		if err == nil {
			t.Fatalf("%s: no error", template)
		}
		if text := err.Error(); strings.Contains(text, "Zebra") || strings.Contains(text, "Kappa") || strings.Contains(text, "%qq") || !strings.Contains(text, "fails for a value that is secret") {
			t.Errorf("%s: %s", template, text)
		}
	}
	files := chartWith("-- chart/templates/a.yaml --\n{{ fail (printf \"%s is no port\" .Values.secret) }}\n")
	files["values.yaml"] = "secret: canary-value\n"
	_, err := New(Options{Redact: func(s string) string { return strings.ReplaceAll(s, "canary-value", "***") }}).Render(t.Context(), request(t, files))
	if err == nil || !strings.Contains(err.Error(), "*** is no port") {
		t.Errorf("what the author wrote is kept: %v", err)
	}
}

func TestNoContentAndCancelled(t *testing.T) {
	req := request(t, chartWith(""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := New(Options{})
	if _, err := r.Render(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := r.Render(t.Context(), req); err != nil {
		t.Errorf("after a cancelled render: %v", err)
	}
	req.Content = module.Content{}
	if _, err := r.Key(t.Context(), req); err == nil {
		t.Error("a chart that was not fetched has a key")
	}
}

// TestEndless: a template that does not end in time is reported to the watchdog, by the instance's name.
func TestEndless(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- chart/templates/_t.tpl --\n{{ define \"t0\" }}x{{ end }}\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "{{ define \"t%d\" }}{{ include \"t%d\" . | trunc 0 }}{{ include \"t%d\" . | trunc 0 }}{{ end }}\n", i, i-1, i-1)
	}
	// Long enough for any watchdog, and over by itself: each level doubles the time.
	b.WriteString("-- chart/templates/x.yaml --\n# {{ range until 16 }}{{ if not $.Values.stop }}{{ include (printf \"t%d\" .) $ }}{{ end }}{{ end }}\n")
	seen := make(chan diag.Finding, 1)
	watch := cuelang.Watch(cuelang.WatchLimits{Deadline: time.Millisecond}, func(f diag.Finding) { seen <- f })
	r := New(Options{Watch: watch})
	if _, err := r.Render(t.Context(), request(t, chartWith(b.String()))); err != nil {
		t.Fatal(err)
	}
	select {
	case f := <-seen:
		if !strings.Contains(f.What, "instance api") {
			t.Errorf("got %s", f)
		}
	case <-time.After(time.Minute):
		t.Error("nobody was told")
	}
}

// TestOutputIsBounded: what is rendered has a limit.
func TestOutputIsBounded(t *testing.T) {
	req := request(t, chartWith("-- chart/templates/x.yaml --\n{{ range until 100 }}# {{ repeat 1000 \"x\" }}\n{{ end }}\n"))
	r := New(Options{Limits: cuelang.Limits{OutputBytes: 50_000}})
	_, err := r.Render(t.Context(), req)
	if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Code != "output-too-large" {
		t.Errorf("got %v", err)
	}
}

// FuzzValues: whatever the values are, a render ends with objects or findings, twice the same.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{
		"", "a: 1", "global: 1", "db: null", "db: [1]", "tags: x", "cache: {enabled: maybe}", "replica: {size: 1.5e300}", "imported: {interval: [null]}",
		"global: {color: {a: b}}", "exporter: {exports: 1, settings: x}", "a: 99999999999999999999", "db: {enabled: \"{{ fail 1 }}\"}",
	} {
		f.Add(seed)
	}
	a, err := txtar.ParseFile("testdata/golden/dependencies.txtar")
	if err != nil {
		f.Fatal(err)
	}
	base := request(f, filesOf(a))
	r := New(Options{})
	f.Fuzz(func(t *testing.T, text string) {
		file, err := cuelang.FromYAML("values.yaml", []byte(text))
		if err != nil || len(text) > 1<<12 {
			return
		}
		req := base
		req.Instance.Values = v1alpha1.Values{Struct: structOf(file)}
		res, err := r.Render(context.Background(), req)
		again, err2 := r.Render(context.Background(), req)
		if fmt.Sprint(err) != fmt.Sprint(err2) || len(res.Objects) != len(again.Objects) {
			t.Errorf("%v and %v", err, err2)
		}
		if _, ok := errors.AsType[*diag.FindingsError](err); err != nil && !ok {
			t.Errorf("no finding: %v", err)
		}
	})
}
