package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
)

func compile(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	text, err := v1alpha1.Schema(kind, "json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid says what the JSON Schema and the CUE schema think of one YAML document; both must agree.
func valid(t *testing.T, kind, doc string) error {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	data, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, kind).Validate(data)
}

func validCUE(t *testing.T, kind, doc string) error {
	t.Helper()
	text, err := v1alpha1.Schema(kind, "cue")
	if err != nil {
		t.Fatal(err)
	}
	b, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	ctx := cuecontext.New()
	schema := ctx.CompileString(text)
	if schema.Err() != nil {
		t.Fatal(schema.Err())
	}
	return schema.Unify(ctx.CompileBytes(b)).Validate(cue.Concrete(true))
}

// TestSchemaTable: the two schemas agree with each other.
func TestSchemaTable(t *testing.T) {
	bundle := func(instance string) string {
		return "bundle: {apiVersion: v1alpha1, name: b, instances: {a: " + instance + "}}"
	}
	fleet := func(cluster string) string {
		return "fleet: {apiVersion: v1alpha1, name: f, clusters: {a: " + cluster + "}}"
	}
	for _, c := range []struct {
		kind, doc string
		ok        bool
		reason    string
	}{
		{"bundle", bundle(`{manifests: {paths: [a]}}`), true, "the smallest"},
		{"bundle", bundle(`{module: {url: "file://./m"}, namespace: x, values: {a: [1, {b: null}]}, dependsOn: [b]}`), true, "a module"},
		{"bundle", bundle(`{module: {url: "m"}, namespace: x}`), false, "url without scheme"},
		{"bundle", bundle(`{module: {url: "file://./m", url2: x}, namespace: x}`), false, "misspelled field"},
		{"bundle", bundle(`{manifests: {paths: []}}`), false, "no paths"},
		{"bundle", bundle(`{manifests: {paths: [a]}, namespace: A_b}`), false, "namespace"},
		{"bundle", bundle(`{manifests: {paths: [a]}, valuesFor: {p: {groups: [p], values: {a: 1}}}}`), true, "valuesFor"},
		{"bundle", bundle(`{manifests: {paths: [a]}, valuesFor: {p: {group: [p], values: {a: 1}}}}`), false, "misspelled selector"},
		{"bundle", bundle(`{manifests: {paths: [a]}, placement: {clusters: [], tolerations: [{operator: Exists}]}}`), true, "placement"},
		{"bundle", bundle(`{manifests: {paths: [a]}, placement: {tolerations: [{operator: Is}]}}`), false, "toleration"},
		{"bundle", bundle(`{manifests: {paths: [a]}, runOnce: true}`), false, "of a later version"},
		{"bundle", "bundle: {apiVersion: v1, name: b, instances: {}}", false, "version"},
		{"bundle", "bundle: {apiVersion: v1alpha1, name: B, instances: {}}", false, "name"},
		{"bundle", "bundles: {b: {apiVersion: v1alpha1, name: b, instances: {}}}", true, "several"},
		{"bundle", bundle(`{helm: {chart: podinfo, repo: "https://x", version: 2.x, releaseName: p, skipCRDs: true}, namespace: x}`), true, "a chart"},
		{"bundle", bundle(`{helm: {version: 2.x}, namespace: x}`), false, "no chart"},
		{"bundle", bundle(`{helm: {chart: a, repo: "oci://x"}, namespace: x}`), false, "repo of another scheme"},
		{"bundle", bundle(`{kustomize: {path: ./a, root: ., digest: "sha256:` + strings.Repeat("0", 64) + `"}}`), true, "a kustomization"},
		{"bundle", bundle(`{kustomize: {paths: [a]}}`), false, "kustomize paths"},
		{"bundle", bundle(`{manifests: {url: "oci://x/y", version: "1"}}`), true, "manifests by url"},
		{"bundle", bundle(`{manifests: {url: "http://x/y", version: "1"}}`), false, "manifests by http"},
		{"bundle", bundle(`{manifests: {paths: [a]}, wait: false, timeout: 90s, suspend: true}`), true, "waiting"},
		{"bundle", bundle(`{manifests: {paths: [a]}, timeout: soon}`), false, "timeout"},
		{"bundle", bundle(`{manifests: {paths: [a]}, health: [{kind: Job, ready: "true"}], ignore: [{kind: Job, paths: [a.b]}]}`), true, "rules"},
		{"bundle", bundle(`{manifests: {paths: [a]}, health: [{ready: "true"}]}`), false, "rule without kind"},
		{"bundle", bundle(`{manifests: {paths: [a]}, ignore: [{path: a}]}`), false, "misspelled paths"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, secretStores: {default: {env: {}}, k: {kube: {namespace: x}}, s: {sops: {age: {keyEnv: K}}}, f: {file: {path: x}}}}", true, "stores"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, secretStores: {default: {kube: {}}}}", false, "store without namespace"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, secretStores: {default: {keyring: {}}}}", false, "unknown store"},
		{"fleet", fleet(`{kubeContext: x}`), true, "the smallest"},
		{"fleet", fleet(`{kubecontext: x}`), false, "misspelled field"},
		{"fleet", fleet(`{kubeconfig: {path: x}, labels: {a: b}, vars: {z: 3}, taints: [{key: a, effect: NoSchedule}], uid: u}`), true, "all fields"},
		{"fleet", fleet(`{kubeconfig: {path: x}, labels: {a: 1}}`), false, "label of another type"},
		{"fleet", fleet(`{kubeContext: x, group: "a*"}`), false, "glob as group"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, values: [{query: 'k8s:v1:Namespace:x', for: {A: obj.x}}]}", true, "query"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, values: [{query: 'v1:Namespace:x', for: {A: obj.x}}]}", false, "no query"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, rollout: {waves: [{groups: [a], soak: 2m30s, canary: 1}]}}", true, "wave"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, rollout: {waves: [{groups: [a], soak: soon}]}}", false, "duration"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, rollout: {waves: []}}", false, "no waves"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, signatures: {trustedRoot: t, required: [{sources: [a/**], except: [], by: [{key: k, transparencyLog: true}]}]}}", true, "signatures"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, signatures: {required: [{sources: [a], by: [{keys: k}]}]}}", false, "misspelled key"},
		{"fleet", "fleet: {apiVersion: v1alpha1, name: f, signatures: {required: [{sources: [], by: [{key: k}]}]}}", false, "no sources"},
		{"runtime", "runtime: {apiVersion: v1alpha1, name: f, clusters: {a: {kubeContext: x}}}", false, "runtime without group"},
		{"runtime", "runtime: {apiVersion: v1alpha1, name: f, clusters: {a: {kubeContext: x, group: g}}}", true, "runtime"},
	} {
		t.Run(c.kind+" "+c.reason, func(t *testing.T) {
			if err := valid(t, c.kind, c.doc); (err == nil) != c.ok {
				t.Errorf("JSON Schema: %v", err)
			}
			if err := validCUE(t, c.kind, c.doc); (err == nil) != c.ok {
				t.Errorf("CUE: %v", err)
			}
		})
	}
}

// TestSchemaExamples: the project's own YAML examples fit the JSON Schema.
func TestSchemaExamples(t *testing.T) {
	paths, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples")
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kind := "bundle"
		if !strings.Contains(string(b), "\nbundle:") && !strings.HasPrefix(string(b), "bundle:") {
			kind = "fleet"
		}
		if kind == "fleet" && !strings.Contains(string(b), "apiVersion:") {
			continue // a part of a fleet
		}
		if err := valid(t, kind, string(b)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, name := range []string{"spec_fleet", "refs"} {
		ar, err := txtar.ParseFile("../../internal/document/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			kind := "bundle"
			if strings.HasPrefix(string(f.Data), "fleet:") {
				kind = "fleet"
			}
			if !strings.HasSuffix(f.Name, ".yaml") {
				continue
			}
			if err := valid(t, kind, string(f.Data)); err != nil {
				t.Errorf("%s %s: %v", name, f.Name, err)
			}
		}
	}
}

func TestSchemaUnknown(t *testing.T) {
	for want, ask := range map[string][2]string{`there is no schema of kind "module"; there is: bundle, fleet`: {"module", "json"}, `there is no schema in format "xml"; there is: cue, json`: {"Bundle", "xml"}} {
		if _, err := v1alpha1.Schema(ask[0], ask[1]); err == nil || err.Error() != want {
			t.Errorf("%v: %v", ask, err)
		}
	}
}
