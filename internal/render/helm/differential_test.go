package helm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	jsonutil "k8s.io/apimachinery/pkg/util/json"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// helmTemplate is what `helm template` does: an installation that stays on the client.
func helmTemplate(t *testing.T, req render.Request, valuesFile string) (objects []map[string]any, hooks []string) {
	t.Helper()
	rel, err := helmRelease(t, req, valuesFile)
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	objects, err = parsed(rel.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range rel.Hooks {
		list, err := parsed(h.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			hooks = append(hooks, hookText(object.Object{Body: o}, fmt.Sprint(h.Events), h.Weight, fmt.Sprint(h.DeletePolicies)))
		}
	}
	return objects, hooks
}

// helmRelease is the release that Helm would install.
func helmRelease(t *testing.T, req render.Request, valuesFile string) (*release.Release, error) {
	t.Helper()
	c, err := loader.LoadDir(req.Content.Root)
	if err != nil {
		return nil, err
	}
	vals, err := loader.LoadValues(strings.NewReader(valuesFile))
	if err != nil {
		return nil, err
	}
	in := action.NewInstall(&action.Configuration{})
	in.DryRunStrategy, in.Replace = action.DryRunClient, true
	in.ReleaseName, in.Namespace = releaseName(req), req.Instance.Namespace
	src := source(req)
	in.IncludeCRDs, in.DisableHooks, in.SkipSchemaValidation = !src.SkipCRDs, src.SkipHooks, src.SkipSchema
	if in.KubeVersion, err = common.ParseKubeVersion(req.KubeVersion); err != nil {
		return nil, err
	}
	in.APIVersions = apiVersions(req.APIs)
	out, err := in.RunWithContext(t.Context(), c, vals)
	if err != nil {
		return nil, err
	}
	return out.(*release.Release), nil
}

func hookText(o object.Object, events string, weight int, policies string) string {
	return fmt.Sprintf("%s %s %s %d %s", o.Ref(), o.Digest(), events, weight, policies)
}

// parsed are the objects of a manifest, Lists taken apart.
func parsed(text string) ([]map[string]any, error) {
	docs := releaseutil.SplitManifests(text)
	var out []map[string]any
	for i := range len(docs) {
		data, err := yaml.YAMLToJSON([]byte(docs[fmt.Sprintf("manifest-%d", i)]))
		if err != nil {
			return nil, err
		}
		var body map[string]any
		if err := jsonutil.Unmarshal(data, &body); err != nil {
			return nil, err
		}
		if body != nil {
			out = append(out, items(body)...)
		}
	}
	return out, nil
}

// compare renders with both and wants the same objects in the same order, and the same hooks. Helm lists tests always and
// hooks of rollbacks too.
//
// Helm sorts a List as a kind of its own: with lists the order is not compared.
func compare(t *testing.T, req render.Request, valuesFile string, lists bool) {
	t.Helper()
	req.Tests = true
	res, err := New(Options{}).Render(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	var hooks []string
	for _, o := range res.Objects {
		if o.Hook == nil {
			objects = append(objects, o.Body)
			continue
		}
		hooks = append(hooks, hookText(o, fmt.Sprint(o.Hook.Events), o.Hook.Weight, fmt.Sprint(o.Hook.Delete)))
	}
	wantObjects, wantHooks := helmTemplate(t, req, valuesFile)
	if source(req).SkipHooks { // helm template --no-hooks does not print what the release holds
		wantHooks = nil
	}
	if lists {
		byRef := func(a, b map[string]any) int {
			return object.Object{Body: a}.Ref().Compare(object.Object{Body: b}.Ref())
		}
		slices.SortFunc(wantObjects, byRef)
		slices.SortFunc(objects, byRef)
	}
	if diff := cmp.Diff(wantObjects, objects); diff != "" {
		t.Errorf("objects: -helm +hawser\n%s", diff)
	}
	wantHooks = slices.DeleteFunc(wantHooks, func(h string) bool { return strings.Contains(h, "sometimes") })
	hooks = slices.DeleteFunc(hooks, func(h string) bool { return strings.Contains(h, "Job after") })
	if diff := cmp.Diff(wantHooks, hooks); diff != "" {
		t.Errorf("hooks: -helm +hawser\n%s", diff)
	}
	if len(objects)+len(hooks) == 0 {
		t.Error("nothing was rendered")
	}
}

// TestEqualsHelm: the output is that of `helm template` with the same capabilities, for a chart of every feature.
func TestEqualsHelm(t *testing.T) {
	for _, file := range goldens(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if strings.HasPrefix(name, "err-") {
			continue
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		get := filesOf(a)
		if strings.Contains(get["flags"], "notHelm") {
			continue
		}
		t.Run(name, func(t *testing.T) { compare(t, request(t, get), get["values.yaml"], name == "order") })
	}
}

// TestEqualsHelmOnItsStarter uses the chart that `helm create` makes.
func TestEqualsHelmOnItsStarter(t *testing.T) {
	files := starter(t)
	for name, text := range map[string]string{
		"defaults": "",
		"much":     "replicaCount: 3\nautoscaling: {enabled: true}\ningress: {enabled: true, className: nginx, annotations: {a: b}}\nimage: {tag: 1.2.3}\n",
		"nulls":    "livenessProbe: null\nresources: {limits: {cpu: 100m, memory: 128Mi}}\nserviceAccount: {create: false, name: x}\n",
	} {
		t.Run(name, func(t *testing.T) {
			get := map[string]string{"values.yaml": text}
			for k, v := range files {
				get[k] = v
			}
			compare(t, request(t, get), text, false)
		})
	}
}

// starter is the chart that `helm create app` makes, as files of a golden test.
func starter(t testing.TB) map[string]string {
	t.Helper()
	dir, err := chartutil.Create("app", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files["chart/"+filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPackedDependencies: a chart in charts/ may be a directory or packed, at every depth.
func TestPackedDependencies(t *testing.T) {
	a, err := txtar.ParseFile("testdata/golden/dependencies.txtar")
	if err != nil {
		t.Fatal(err)
	}
	get := filesOf(a)
	get["chart/charts/db/charts/deep/Chart.yaml"] = "apiVersion: v2\nname: deep\nversion: 1.0.0\n"
	get["chart/charts/db/charts/deep/templates/cm.yaml"] =
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Template.BasePath | replace \"/\" \".\" }}}\n"
	_, want := outcome(t, request(t, get))

	req := request(t, get)
	for _, name := range []string{"charts/db/charts/deep", "charts/db", "charts/cache", "charts/lib"} {
		packChart(t, &req.Content, name)
	}
	_, got := outcome(t, req)
	if got == "" || got != want {
		t.Errorf("packed: -directories +packed\n%s", cmp.Diff(want, got))
	}
	compare(t, req, get["values.yaml"], false)
}

// packChart replaces a directory of the content with NAME.tgz.
func packChart(t *testing.T, c *module.Content, dir string) {
	t.Helper()
	sub, err := loader.LoadDir(filepath.Join(c.Root, dir))
	if err != nil {
		t.Fatal(err)
	}
	saved, err := chartutil.Save(sub, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(c.Root, dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Root, dir+".tgz"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	c.Files = slices.DeleteFunc(c.Files, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
	c.Files = append(c.Files, dir+".tgz")
	c.Digest += "+" + dir
}
