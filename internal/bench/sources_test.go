//go:build bench

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/helm"
	"hawser.dev/hawser/internal/render/kustomize"
)

// TestDistinctInputs is row 8: what a hundred clusters in three groups cost beyond three clusters with the same inputs.
// Facts come from a file, so that nothing but loading, rendering and checking is measured.
func TestDistinctInputs(t *testing.T) {
	u := newUser(t, os.DevNull)
	u.module()
	u.write("bundle.yaml", strings.ReplaceAll(moduleBundle("many", "many", instances, true), "$cluster: name", "$cluster: group"))
	var few, many []time.Duration
	for range reps() {
		for _, n := range []int{3, 100} {
			u.write("fleet.yaml", groupedFleet(n))
			u.write("facts.json", factsFile(n))
			ran := u.hawser("vet", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--facts", "facts.json")
			if n == 3 {
				few = append(few, ran.Wall)
			} else {
				many = append(many, ran.Wall)
			}
		}
	}
	noted(t, 8, "20 instances on 3 clusters, 60 distinct inputs: vet", spread(few))
	ratio := float64(median(many)) / float64(median(few))
	timed(t, 8, "the same on 100 clusters in 3 groups", fmt.Sprintf("%.2f x (%s)", ratio, spread(many)), "1.50 x", ratio <= 1.5)
}

func groupedFleet(n int) string {
	var b strings.Builder
	b.WriteString("fleet:\n  apiVersion: v1alpha1\n  name: bench\n  clusters:\n")
	for i := range n {
		fmt.Fprintf(&b, "    c%03d: {group: g%d, kubeContext: c%03d}\n", i, i%3, i)
	}
	return b.String()
}

func factsFile(n int) string {
	var b strings.Builder
	b.WriteString(`{"v": 1, "fleet": "bench", "clusters": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name": "c%03d", "group": "g%d", "version": "1.36.3", "uid": "%d"}`, i, i%3, i)
	}
	return b.String() + "]}\n"
}

// TestKustomize is row 9: a kustomization of a hundred objects, by the room in this process and by the library alone.
func TestKustomize(t *testing.T) {
	dir := t.TempDir()
	kustomization(t, dir, 50)
	r := kustomize.New(kustomize.Options{})
	req := render.Request{Instance: v1alpha1.Instance{Name: "web", Namespace: "web",
		Kustomize: &v1alpha1.KustomizeSource{Path: "overlay", Dir: dir}}}
	var ours, library []time.Duration
	for range max(reps(), 5) {
		start := time.Now()
		o := krusty.MakeDefaultOptions()
		o.Reorder = krusty.ReorderOptionUnspecified
		m, err := krusty.MakeKustomizer(o).Run(filesys.MakeFsOnDisk(), filepath.Join(dir, "overlay"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := m.AsYaml()
		if err != nil || len(text) == 0 {
			t.Fatal(err)
		}
		library = append(library, time.Since(start))
		start = time.Now()
		if _, err := r.Key(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		res, err := r.Render(t.Context(), req)
		if err != nil || len(res.Objects) != 100 {
			t.Fatalf("%d objects, %v", len(res.Objects), err)
		}
		ours = append(ours, time.Since(start))
	}
	ratio := float64(median(ours)) / float64(median(library))
	timed(t, 9, "a kustomization of 100 objects, by the library on the same machine",
		fmt.Sprintf("%.2f x (%s; library %s)", ratio, spread(ours), spread(library)), "1.20 x", ratio <= 1.2)
}

// kustomization writes an overlay over a base of n Deployments and as many Services.
func kustomization(t *testing.T, dir string, n int) {
	t.Helper()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, "- app-%d.yaml\n", i)
		write(fmt.Sprintf("base/app-%d.yaml", i), strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata: {name: app-N, labels: {app: app-N}}
spec:
  selector: {matchLabels: {app: app-N}}
  template:
    metadata: {labels: {app: app-N}}
    spec:
      containers:
      - {name: app, image: "registry.example/app:1", ports: [{containerPort: 8080}], env: [{name: N, value: "N"}]}
---
apiVersion: v1
kind: Service
metadata: {name: app-N}
spec: {selector: {app: app-N}, ports: [{port: 80, targetPort: 8080}]}
`, "N", fmt.Sprint(i)))
	}
	write("base/kustomization.yaml", "resources:\n"+names.String())
	write("overlay/kustomization.yaml", `namePrefix: eu-
labels: [{pairs: {team: shop}}]
resources: [../base]
images: [{name: registry.example/app, newTag: "2"}]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/replicas, value: 3}
`)
}

// TestHelm is row 10: a chart of a hundred objects, by the room in this process and by the library alone.
func TestHelm(t *testing.T) {
	dir := t.TempDir()
	chartOf(t, dir, 50)
	fetcher := chartdir.New(cache.Open(cache.Options{}))
	content, err := fetcher.Fetch(t.Context(), module.Reference{URL: module.ChartScheme + "file://" + dir})
	if err != nil {
		t.Fatal(err)
	}
	req := render.Request{KubeVersion: "1.36.3", Content: content, Instance: v1alpha1.Instance{Name: "web", Namespace: "web",
		Helm: &v1alpha1.HelmSource{Chart: dir}}}
	var ours, library []time.Duration
	for range max(reps(), 5) {
		start := time.Now()
		if n := byHelm(t, dir); n != 100 {
			t.Fatalf("the library renders %d objects", n)
		}
		library = append(library, time.Since(start))
		r := helm.New(helm.Options{}) // reads the chart anew, as the library does
		start = time.Now()
		if _, err := r.Key(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		res, err := r.Render(t.Context(), req)
		if err != nil || len(res.Objects) != 100 {
			t.Fatalf("%d objects, %v", len(res.Objects), err)
		}
		ours = append(ours, time.Since(start))
	}
	ratio := float64(median(ours)) / float64(median(library))
	timed(t, 10, "a chart of 100 objects, by the library on the same machine",
		fmt.Sprintf("%.2f x (%s; library %s)", ratio, spread(ours), spread(library)), "1.20 x", ratio <= 1.2)
}

// byHelm renders with the library alone, up to objects, and counts them.
func byHelm(t *testing.T, dir string) int {
	t.Helper()
	c, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependencies(c, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	top, err := util.ToRenderValues(c, map[string]any{}, common.ReleaseOptions{Name: "web", Namespace: "web", Revision: 1, IsInstall: true},
		common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, top)
	if err != nil {
		t.Fatal(err)
	}
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		var body map[string]any
		if err := yaml.Unmarshal([]byte(m.Content), &body); err != nil {
			t.Fatal(err)
		}
	}
	return len(manifests)
}

// chartOf writes a chart of n Deployments and as many Services, made as charts make them: named templates and toYaml.
func chartOf(t *testing.T, dir string, n int) {
	t.Helper()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	write("values.yaml", "image: {repository: web, tag: \"1\"}\nresources: {limits: {cpu: 100m, memory: 128Mi}}\n")
	write("templates/_helpers.tpl", "{{- define \"web.labels\" -}}\napp: {{ .name }}\nrelease: {{ .root.Release.Name }}\nversion: {{ .root.Chart.Version | quote }}\n{{- end -}}\n")
	for i := range n {
		head := fmt.Sprintf("{{- $x := dict \"name\" \"app-%d\" \"root\" . }}\n", i)
		write(fmt.Sprintf("templates/app-%d.yaml", i), head+`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-{{ $x.name }}
  labels: {{- include "web.labels" $x | nindent 4 }}
spec:
  replicas: 1
  selector:
    matchLabels: {{- include "web.labels" $x | nindent 6 }}
  template:
    metadata:
      labels: {{- include "web.labels" $x | nindent 8 }}
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
        resources: {{- toYaml .Values.resources | nindent 10 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-{{ $x.name }}
  labels: {{- include "web.labels" $x | nindent 4 }}
spec:
  selector: {{- include "web.labels" $x | nindent 4 }}
  ports: [{port: 80}]
`)
	}
}
