package render_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

func objectOf(t testing.TB, text string) object.Object {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return object.Object{Body: m, Instance: "i", Pos: diag.Pos{File: "a.yaml", Line: 7}}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns}
spec: {template: {spec: {containers: [{name: c, CONTAINER}]}}}
`

func TestVetObject(t *testing.T) {
	head := func(version, kind, name string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: \"" + name + "\"}\n"
	}
	container := func(s string) string { return strings.Replace(deployment, "CONTAINER", s, 1) }
	for name, c := range map[string]struct{ in, code, path string }{
		"good":              {head("v1", "ConfigMap", "a.b-c"), "", ""},
		"no kind":           {"apiVersion: v1\nmetadata: {name: x}", "metadata", ""},
		"name is a number":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}", "metadata", "metadata.name"},
		"generateName":      {"apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}", "generate-name", "metadata.generateName"},
		"name is a boolean": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n}", "metadata", "metadata.namespace"},
		"upper case":        {head("v1", "ConfigMap", "Ab"), "name", "metadata.name"},
		"rbac":              {head("rbac.authorization.k8s.io/v1", "ClusterRole", "system:Ab"), "", ""},
		"rbac slash":        {head("rbac.authorization.k8s.io/v1", "ClusterRole", "a/b"), "name", "metadata.name"},
		"dotted service":    {head("v1", "Service", "a.b"), "name", "metadata.name"},
		"service digit":     {head("v1", "Service", "1a"), "name", "metadata.name"},
		"dotted namespace":  {head("v1", "Namespace", "a.b"), "name", "metadata.name"},
		"cron job":          {head("batch/v1", "CronJob", strings.Repeat("a", 53)), "name", "metadata.name"},
		"namespace":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: A_b}", "name", "metadata.namespace"},
		"crd": {head("apiextensions.k8s.io/v1", "CustomResourceDefinition", "xs.y.z") + "spec: {group: y.zz, names: {plural: xs}}",
			"name", "metadata.name"},
		"label value":      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {a: \"b c\"}}", "label", "metadata.labels.a"},
		"label number":     {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {a: 1}}", "metadata", "metadata.labels.a"},
		"annotation key":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {\"a b\": c}}", "annotation", "metadata.annotations.a b"},
		"annotation case":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {\"Ex.com/A\": c}}", "", ""},
		"annotation size":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {a: " + strings.Repeat("x", 256<<10) + "}}", "too-large", "metadata.annotations"},
		"secret size":      {head("v1", "Secret", "x") + "stringData: {a: " + strings.Repeat("x", 1<<20+1) + "}", "too-large", ""},
		"secret base64":    {head("v1", "Secret", "x") + "data: {a: \"*\"}", "data", "data.a"},
		"secret encrypted": {head("v1", "Secret", "x") + "data: {a: \"ENC[AES256_GCM,data:eA==]\"}", "data", "data.a"},
		"secret number":    {head("v1", "Secret", "x") + "stringData: {a: 5}", "data", "stringData.a"},
		"config map size":  {head("v1", "ConfigMap", "x") + "data: {a: " + strings.Repeat("x", 1<<20+1) + "}", "too-large", ""},
		"config map key":   {head("v1", "ConfigMap", "x") + "data: {a/b: x}", "data", "data.a/b"},
		"secret key":       {head("v1", "Secret", "x") + "stringData: {..: x}", "data", "stringData"},
		"key twice":        {head("v1", "ConfigMap", "x") + "data: {a: x}\nbinaryData: {a: eA==}", "data", "binaryData.a"},
		"env":              {container("env: [{name: A}, {name: B}, {name: A}]"), "duplicate-list-key", "spec.template.spec.containers.0.env.2"},
		"ports":            {container("ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]"), "duplicate-list-key", "spec.template.spec.containers.0.ports.1"},
		"ports, protocols": {container("ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]"), "", ""},
		"mounts":           {container("volumeMounts: [{mountPath: /a}, {mountPath: /a}]"), "duplicate-list-key", "spec.template.spec.containers.0.volumeMounts.1"},
		"containers":       {container("x: 1}, {name: c"), "duplicate-list-key", "spec.template.spec.containers.1"},
		"service ports":    {head("v1", "Service", "x") + "spec: {ports: [{port: 80}, {port: 81}, {port: 80}]}", "duplicate-list-key", "spec.ports.2"},
		"service udp":      {head("v1", "Service", "x") + "spec: {ports: [{port: 80}, {port: 80, protocol: UDP}]}", "", ""},
		"other kind":       {head("x.y/v1", "Deployment", "x") + "spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}", "", ""},
		"odd shapes":       {head("apps/v1", "Deployment", "x") + "spec: [1]", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fs := render.VetObject(objectOf(t, c.in))
			if c.code == "" {
				if len(fs) > 0 {
					t.Fatalf("got %v", fs)
				}
				return
			}
			if len(fs) != 1 || fs[0].Code != c.code || fs[0].Path != c.path || fs[0].Pos.Line != 7 || fs[0].Instance != "i" {
				t.Fatalf("got %+v", fs)
			}
		})
	}
}

// TestDuplicateKeyHasAWayOut: entries of a list with one key are told with both items and what makes them differ.
func TestDuplicateKeyHasAWayOut(t *testing.T) {
	o := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "x"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}, map[string]any{"port": int64(80)}}}}}
	got := render.VetObject(o)
	if len(got) != 1 || got[0].Fix != "remove item 0 or item 1 of ports, or give one another port or protocol" {
		t.Errorf("%+v", got)
	}
}

func TestVetIdentity(t *testing.T) {
	a := objectOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: ns}")
	b := objectOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: ns}")
	b.Pos = diag.Pos{File: "b.yaml", Line: 3}
	c := objectOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}")
	fs := render.VetIdentity([]object.Object{a, c, b})
	if len(fs) != 1 || fs[0].Pos.File != "b.yaml" || !strings.Contains(fs[0].Why, "a.yaml:7") || fs[0].Object != "ConfigMap ns/x" {
		t.Errorf("got %+v", fs)
	}
	b.Instance = "other"
	if fs = render.VetIdentity([]object.Object{a, b}); len(fs) != 1 || !strings.Contains(fs[0].What, "instances i and other") {
		t.Errorf("got %+v", fs)
	}
	d := objectOf(t, "apiVersion: v2\nkind: ConfigMap\nmetadata: {name: x, namespace: ns}")
	d.Body = maps.Clone(d.Body)
	if fs = render.VetIdentity([]object.Object{a, d}); len(fs) != 0 && d.Ref() != a.Ref() {
		t.Errorf("got %+v", fs)
	}
}

// What is no text where one is wanted is told with how it is written.
func TestNoTextHasAWayOut(t *testing.T) {
	for text, want := range map[string]string{"kind: Secret\nstringData: {a: 5432}": "put the value in quotes", "kind: ConfigMap\ndata: {a: true}": "put the value in quotes",
		"kind: Secret\ndata: {a: 5432}": "under stringData", "kind: ConfigMap\ndata: {a: {b: c}}": "write it as one text", "kind: ConfigMap\ndata: {a: [b]}": "write it as one text"} {
		fs := render.VetObject(objectOf(t, "apiVersion: v1\nmetadata: {name: x}\n"+text))
		if len(fs) != 1 || fs[0].What != "must be a string" || !strings.HasPrefix(fs[0].Fix, want) {
			t.Errorf("%s: %v %q", text, fs, fs[0].Fix)
		}
	}
}

func TestVetHoldsNoSecrets(t *testing.T) {
	for _, text := range []string{"data: {a: hunter2!}", "stringData: {a: {b: hunter2}}"} {
		for _, f := range render.VetObject(objectOf(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"+text)) {
			if strings.Contains(f.String(), "hunter2") {
				t.Errorf("the secret is shown: %s", f)
			}
		}
	}
}

func TestWriteYAML(t *testing.T) {
	objs := []object.Object{
		objectOf(t, "spec: {b: 1, a: [x, 1.5, null]}\nkind: K\napiVersion: v1\nmetadata: {name: x}\ndata: {k: \"<&>\\n\"}"),
		objectOf(t, "metadata: {name: yy}\nkind: K\napiVersion: v1"),
	}
	var b bytes.Buffer
	if err := render.WriteYAML(&b, objs); err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
kind: K
metadata:
  name: x
data:
  k: |
    <&>
spec:
  a:
  - x
  - 1.5
  - null
  b: 1
---
apiVersion: v1
kind: K
metadata:
  name: yy
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := render.WriteYAML(failing{}, objs); err == nil {
		t.Error("an error of the writer is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }
