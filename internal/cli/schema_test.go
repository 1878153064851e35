package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// generatable rewrites what CUE's generator of JSON Schema leaves out: constraints on names, and a runtime's further
// demands on the fields of a fleet. The JSON schemas are looser there; hawser vet checks.
var generatable = strings.NewReplacer("{...}", "{[string]: _}", "[#Name]:", "[string]:", `[=~"^[A-Za-z0-9_-]+$"]:`, "[string]:", "runtime?: #Runtime", "runtime?: #Fleet")

// generated is the JSON Schema of a document, made from its CUE schema.
func generated(t *testing.T, kind string) []byte {
	t.Helper()
	ctx := cuecontext.New()
	v := ctx.CompileString(generatable.Replace(cueSchema(kind)))
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	expr, err := cuejson.Generate(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := ctx.BuildExpr(expr, cue.InferBuiltins(true)).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc["$id"] = "https://hawser.dev/schema/" + kind + ".json"
	doc["title"] = "A file with a " + kind + ", as Hawser reads it"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDocumentSchemas: the JSON schemas follow from the CUE ones, here and in docs/schema.
func TestDocumentSchemas(t *testing.T) {
	for _, kind := range schemaKinds {
		want := generated(t, kind)
		for _, file := range []string{filepath.Join("schema", kind+".json"), filepath.Join("../../docs/schema", kind+".json")} {
			if *update {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
				t.Errorf("%s is stale (%v): run make docs", file, err)
			}
		}
	}
}

func TestDocumentSchemasDecide(t *testing.T) {
	for _, c := range []struct {
		reason, kind, text string
		ok                 bool
	}{
		{"a bundle", "bundle", "bundle: {apiVersion: v1alpha1, name: shop, instances: {web: {module: {url: 'oci://r/m', version: '1.0.0'}, namespace: shop, values: {a: {b: 1}}}}}", true},
		{"several bundles", "bundle", "bundles: {shop: {apiVersion: v1alpha1, name: shop, instances: {}}}", true},
		{"manifests", "bundle", "bundle: {apiVersion: v1alpha1, name: shop, instances: {crds: {manifests: {paths: ['./crds/*.yaml']}}}}", true},
		{"a misspelled field", "bundle", "bundle: {apiVersion: v1alpha1, name: shop, instances: {web: {modul: {url: 'oci://r/m'}}}}", false},
		{"a wrong type", "bundle", "bundle: {apiVersion: v1alpha1, name: 5, instances: {}}", false},
		{"a fleet", "fleet", "fleet: {apiVersion: v1alpha1, name: shop, clusters: {eu: {group: prod, kubeContext: x}}, rollout: {waves: [{groups: [prod], canary: 1, soak: 2m}]}}", true},
		{"a runtime", "fleet", "runtime: {apiVersion: v1alpha1, name: shop, clusters: {eu: {group: prod, kubeContext: x}}}", true},
		{"a negative canary", "fleet", "fleet: {apiVersion: v1alpha1, name: shop, rollout: {waves: [{canary: -1}]}}", false},
		{"a misspelled cluster field", "fleet", "fleet: {apiVersion: v1alpha1, name: shop, clusters: {eu: {kubecontext: x}}}", false},
	} {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join("schema", c.kind+".json"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}
