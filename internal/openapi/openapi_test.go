package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/diag"
)

// apps is what an API server publishes of Deployments, Services and Secrets, cut down to the forms that occur.
const apps = `{"openapi":"3.0.0","components":{"schemas":{
"io.k8s.api.apps.v1.Deployment":{"type":"object","x-kubernetes-group-version-kind":[{"group":"apps","kind":"Deployment","version":"v1"}],
 "properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},
  "metadata":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
  "spec":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}]},
  "status":{"type":"object"}}},
"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object","properties":{"name":{"type":"string"},"namespace":{"type":"string"},
  "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
  "labels":{"type":"object","additionalProperties":{"type":"string","default":""}},"creationTimestamp":{"type":"string","format":"date-time"}}},
"io.k8s.api.apps.v1.DeploymentSpec":{"type":"object","required":["template","serviceName"],
 "properties":{"replicas":{"type":"integer","format":"int32"},"paused":{"type":"boolean"},"serviceName":{"type":"string","default":""},
  "template":{"allOf":[{"$ref":"#/components/schemas/PodSpec"}]}}},
"PodSpec":{"type":"object","required":["containers"],"properties":{
  "containers":{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"}]},
   "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]},
  "nodeSelector":{"type":"object","additionalProperties":{"type":"string"}}}},
"io.k8s.api.core.v1.Container":{"type":"object","required":["name"],"properties":{
  "name":{"type":"string","default":""},"image":{"type":"string"},
  "imagePullPolicy":{"type":"string","enum":["Always","IfNotPresent","Never"]},
  "command":{"type":"array","items":{"type":"string"}},
  "env":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}},
   "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]},
  "ports":{"type":"array","items":{"type":"object","required":["containerPort"],"properties":{"containerPort":{"type":"integer"},
    "protocol":{"type":"string","default":"TCP"},"hostPort":{"type":"integer","format":"int32"}}},
   "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["containerPort","protocol"]},
  "limits":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Quantity"}},
  "port":{"$ref":"#/components/schemas/IntOrString"}}},
"Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},
"IntOrString":{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]},
"Secret":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"Secret","version":"v1"}],
 "properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
  "data":{"type":"object","additionalProperties":{"type":"string","format":"byte"}}}},
"DeleteOptions":{"x-kubernetes-group-version-kind":[{"group":"","kind":"DeleteOptions","version":"v1"},{"group":"apps","kind":"DeleteOptions","version":"v1"}]}
}}}`

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 8}}}
          spec:
            type: object
            required: [size, mode]
            properties:
              size: {type: integer, minimum: 1, maximum: 9}
              mode: {type: string, default: fast, pattern: "^[a-z]+$", maxLength: 5}
              names: {type: array, minItems: 1, maxItems: 2, items: {type: string, minLength: 2}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              inner: {type: object, x-kubernetes-embedded-resource: true, properties: {data: {type: object}}}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
  - name: v1alpha1
`

func manifest(t *testing.T, text string) (schema.GroupVersionKind, map[string]any) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := utiljson.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	return schema.FromAPIVersionAndKind(body["apiVersion"].(string), body["kind"].(string)), body
}

func lines(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		text := p.Path.String() + ": " + p.Text
		if p.Fix != "" {
			text += " (" + p.Fix + ")"
		}
		out = append(out, text)
	}
	return out
}

func TestCheck(t *testing.T) {
	published, err := Parse([]byte(apps))
	if err != nil {
		t.Fatal(err)
	}
	_, crd := manifest(t, widgets)
	defined := Definition(crd)
	deployment := func(spec string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: " + spec + "}"
	}
	container := func(fields string) string {
		return deployment("{template: {containers: [{name: web, " + fields + "}]}}")
	}
	widget := func(spec string) string { return "{apiVersion: example.com/v1, kind: Widget, spec: " + spec + "}" }
	for name, c := range map[string]struct {
		text    string
		changed bool
		want    []string
	}{
		"as it should be": {text: container("image: nginx, ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}], limits: {cpu: 1, memory: 1Gi}, port: http")},
		"unknown field": {text: container("imagee: nginx"),
			want: []string{"spec.template.containers[name=web].imagee: is not a field that Deployment has (did you mean image?)"}},
		"unknown at the top": {text: "{apiVersion: apps/v1, kind: Deployment, spce: {}, spec: {template: {containers: []}}, status: {x: 1}}",
			want: []string{"spce: is not a field that Deployment has (did you mean spec?)"}},
		"encrypted by SOPS": {text: "{apiVersion: apps/v1, kind: Deployment, sops: {mac: x}, spec: {template: {containers: []}}}",
			want: []string{"sops: is not a field that Deployment has (" + diag.FixEncrypted + ")"}},
		"a definition that restricts the name": {text: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: web, namespace: x, labels: {a: b}, finalizers: [a/b]}, spec: {size: 1, mode: a}}"},
		"and a name that is too long": {text: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: web-of-much, labels: {a: b}}, spec: {size: 1, mode: a}}",
			want: []string{"metadata.name: has 11 characters, at most 8 are allowed"}},
		"text for a number": {text: deployment(`{replicas: "3", template: {containers: []}}`),
			want: []string{"spec.replicas: wants a whole number, and is a text (leave out the quotes)"}},
		"half a replica":                    {text: deployment(`{replicas: 1.5, template: {containers: []}}`), want: []string{"spec.replicas: wants a whole number, and is a number"}},
		"too many bits":                     {text: deployment(`{replicas: 3000000000, template: {containers: []}}`), want: []string{"spec.replicas: does not fit into 32 bits"}},
		"whole number written with a point": {text: deployment(`{replicas: 3.0, template: {containers: []}}`)},
		"boolean in an environment": {text: container("env: [{name: A, value: true}]"),
			want: []string{"spec.template.containers[name=web].env[name=A].value: wants a text, and is true or false (put it in quotes)"}},
		"text for a list": {text: container("command: sleep"),
			want: []string{"spec.template.containers[name=web].command: wants a list, and is a text (make it a list with one entry)"}},
		"enumeration": {text: container("imagePullPolicy: always"),
			want: []string{`spec.template.containers[name=web].imagePullPolicy: "always" is none of Always, IfNotPresent, Never (did you mean Always?)`}},
		"the same port twice, once by its default": {text: container("ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]"),
			want: []string{"spec.template.containers[name=web].ports[1]: stands twice: containerPort=80,protocol=TCP is entry 1 already (remove one)"}},
		"missing": {text: deployment("{}"), want: []string{"spec.template: is missing"}},
		"missing below, and what is no error to leave out": {text: container("ports: [{protocol: TCP}]"),
			want: []string{"spec.template.containers[name=web].ports[0].containerPort: is missing"}},
		"somebody else may have what is missing": {text: deployment("{}"), changed: true},
		"null is nothing":                        {text: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, creationTimestamp: null}, spec: {replicas: null, template: {containers: []}}}"},
		"another kind":                           {text: "{apiVersion: v1, kind: ConfigMap, data: 1}"},
		"options of every group":                 {text: "{apiVersion: apps/v1, kind: DeleteOptions, data: 1}"},
		"secret that is not encoded": {text: "{apiVersion: v1, kind: Secret, data: {good: aGVsbG8=, bad: hello!}}",
			want: []string{"data.bad: wants base64, and is not (encode it, or give it as it is in stringData where the kind has that)"}},
		"labels with dots": {text: "{apiVersion: v1, kind: Secret, metadata: {labels: {a.b/c: 1}}}",
			want: []string{`metadata.labels["a.b/c"]: wants a text, and is a number (put it in quotes)`}},
		"custom": {text: widget("{size: 3, names: [ab], free: {a: {b: 1}}, inner: {apiVersion: v1, kind: X, data: {}}, port: 80}")},
		"custom, out of bounds": {text: widget("{size: 10, mode: Slow, names: [a, bc, de]}"), want: []string{
			`spec.mode: "Slow" does not match ^[a-z]+$`, "spec.names: has 3 entries, at most 2 are allowed",
			"spec.names[0]: has 1 characters, at least 2 are wanted", "spec.size: 10 is too big: the maximum is 9"}},
		"custom, missing but for what has a default": {text: widget("{}"), want: []string{"spec.size: is missing"}},
		"custom, a version without a schema":         {text: "{apiVersion: example.com/v1alpha1, kind: Widget, x: 1}"},
	} {
		t.Run(name, func(t *testing.T) {
			kind, body := manifest(t, c.text)
			doc := published
			if kind.Group == "example.com" {
				doc = defined
			}
			if strings.Contains(c.text, "kind: Deployment") { // the exception is for StatefulSets alone
				optional["Deployment serviceName"] = true
				defer delete(optional, "Deployment serviceName")
			}
			got := lines(doc.Check(kind, body, Options{Whole: !c.changed}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTwice: an entry that stands twice is named by its keys, in the order of the list, and so is one of a set.
func TestTwice(t *testing.T) {
	published, err := Parse([]byte(apps))
	if err != nil {
		t.Fatal(err)
	}
	var twelve []string
	for i := 1; i < 12; i++ {
		twelve = append(twelve, fmt.Sprintf("spec.template.containers[name=web].ports[%d]: stands twice: containerPort=80,protocol=TCP is entry 1 already (remove one)", i))
	}
	pod := func(containers string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {containers: [" + containers + "]}}}"
	}
	for text, want := range map[string][]string{
		pod("{name: web, ports: [" + strings.Repeat("{containerPort: 80}, ", 12) + "]}"): twelve,
		pod("{name: web}, {name: api}, {name: web}"): {
			"spec.template.containers[name=web]: stands twice: it has the same name as entry 1 (remove one)"},
		"{apiVersion: v1, kind: Secret, metadata: {finalizers: [a/b, c/d, a/b]}}": {
			`metadata.finalizers[2]: stands twice: "a/b" is entry 1 already (remove one)`},
	} {
		kind, body := manifest(t, text)
		if diff := cmp.Diff(want, lines(published.Check(kind, body, Options{}))); diff != "" {
			t.Error(diff)
		}
		for _, line := range lines(published.Check(kind, body, Options{Hide: func(Path) bool { return true }})) {
			if strings.Contains(line, "=80") || strings.Contains(line, "a/b") || strings.Contains(line, "=web]: ") {
				t.Errorf("hidden: %s", line)
			}
		}
	}
}

// A value that must not be seen is in no message, whatever is wrong with it.
func TestCheckHides(t *testing.T) {
	_, crd := manifest(t, widgets)
	kind, body := manifest(t, "{apiVersion: example.com/v1, kind: Widget, spec: {size: 4711, mode: HUNTER2, names: []}}")
	problems := Definition(crd).Check(kind, body, Options{Whole: true, Hide: func(Path) bool { return true }})
	if len(problems) != 3 {
		t.Errorf("%d problems: %v", len(problems), lines(problems))
	}
	if text := strings.Join(lines(problems), "\n"); strings.Contains(text, "HUNTER2") || strings.Contains(text, "4711") {
		t.Error(text)
	}
}

// TestCheckCutsNothing: a long value is not quoted in part, as nobody would know the part of a secret.
func TestCheckCutsNothing(t *testing.T) {
	text := new(checker).shown(nil, strings.Repeat("x", 55)+"c4nary-password")
	if text != "a value of 72 characters" || new(checker).shown(nil, "short") != `"short"` {
		t.Error(text)
	}
}

// A hundred mistakes are twenty problems, and a document that refers to itself ends.
// TestPatternsAreBounded: a pattern is compiled once, whatever it is; what would take too long is left to the server, as what is no pattern is.
func TestPatternsAreBounded(t *testing.T) {
	const n = 2000
	fields, body := []string{`"ok":{"type":"string","pattern":"^[a-z]+$"}`}, map[string]any{"apiVersion": "v1", "kind": "A", "ok": "1"}
	for i := range n {
		fields = append(fields, fmt.Sprintf(`"p%d":{"type":"array","items":{"type":"string","pattern":".{1000}.{1000}.{1000}.{1000}.{1000}%d"}}`, i, i))
		body[fmt.Sprint("p", i)] = []any{"x", "y", "z", strings.Repeat("x", 10_000)}
	}
	fields = append(fields, `"class":{"type":"string","pattern":"[`+strings.Repeat(`\\pL`, 200_000)+`]"}`, `"none":{"type":"string","pattern":"("}`)
	body["class"], body["none"] = "x", "x"
	doc, err := Parse([]byte(`{"openapi":"3.0.0","components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v1"}],"properties":{` + strings.Join(fields, ",") + `}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got := strings.Join(lines(doc.Check(schema.GroupVersionKind{Version: "v1", Kind: "A"}, body, Options{})), "\n")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(got, "does not match") || strings.Contains(got, "class") || strings.Contains(got, "none") {
		t.Errorf("%.1000s", got)
	}
}

func TestCheckIsBounded(t *testing.T) {
	doc, err := Parse([]byte(`{"openapi":"3.0.0","components":{"schemas":{
		"A":{"$ref":"#/components/schemas/B","x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v1"}]},
		"B":{"properties":{"a":{"$ref":"#/components/schemas/C"}}},"C":{"$ref":"#/components/schemas/C"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	kind, body := manifest(t, "{apiVersion: v1, kind: A, a: {a: {a: 1}}}")
	if got := doc.Check(kind, body, Options{}); got != nil {
		t.Error(lines(got))
	}
	full, _ := Parse([]byte(apps))
	labels := map[string]any{}
	for i := range 100 {
		labels[strings.Repeat("x", i+1)] = true
	}
	kind, body = manifest(t, "{apiVersion: v1, kind: Secret, metadata: {}}")
	body["metadata"].(map[string]any)["labels"] = labels
	if got := full.Check(kind, body, Options{}); len(got) != maxProblems {
		t.Errorf("%d problems", len(got))
	}
}

func TestIndex(t *testing.T) {
	index, err := Index([]byte(`{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=AB"},"apis/apps/v1":{"serverRelativeURL":"/x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := index[IndexKey(schema.GroupVersion{Version: "v1"})]; got != (Location{"/openapi/v3/api/v1?hash=AB", "ab"}) {
		t.Error(got)
	}
	if got := index[IndexKey(schema.GroupVersion{Group: "apps", Version: "v1"})]; got != (Location{URL: "/x"}) {
		t.Error(got)
	}
}

// Whatever the schemas and the object are: the same is said each time, not more than a reader bears, the object stays as it
// is, and of a value that is hidden nothing is shown.
func FuzzCheck(f *testing.F) {
	f.Add(apps, `{"apiVersion":"v1","kind":"Secret","data":{"a":"b"}}`)
	f.Add(`{"openapi":"3.0.0","components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v1"}],"items":{"oneOf":[null]}}}}}`, `{"apiVersion":"v1","kind":"A","a":[1]}`)
	f.Add(`{"openapi":"3.0.0","components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v1"}],"properties":{"a":{"enum":["x"]},"b":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","l"]},"c":{"pattern":"^x"}}}}}}`,
		`{"apiVersion":"v1","kind":"A","a":"y","b":[{"k":"v","l":"w"},{"k":"v","l":"w"}],"c":"z"}`)
	f.Fuzz(func(t *testing.T, doc, obj string) {
		const mark = "c4nary"
		d, err := Parse([]byte(doc))
		var body map[string]any
		if err != nil || strings.Contains(doc, mark) || json.Unmarshal([]byte(obj), &body) != nil {
			return
		}
		version, _ := body["apiVersion"].(string)
		kind, _ := body["kind"].(string)
		judge := func(d *Document, k schema.GroupVersionKind, body map[string]any, o Options) string {
			before := fmt.Sprint(body)
			found := d.Check(k, body, o)
			if again := d.Check(k, body, o); len(found) > maxProblems || !cmp.Equal(found, again) {
				t.Errorf("%d problems, %v, then %v", len(found), lines(found), lines(again))
			}
			if after := fmt.Sprint(body); after != before {
				t.Errorf("%s became %s", before, after)
			}
			var text string
			for _, p := range found {
				text += p.Text + p.Fix + "\n"
			}
			return text
		}
		judge(d, schema.FromAPIVersionAndKind(version, kind), body, Options{Whole: true})
		if crd := Definition(body); crd != nil {
			for k := range crd.kinds {
				judge(crd, k, body, Options{Whole: true})
			}
		}
		secret, _ := marked(body, mark).(map[string]any)
		if text := judge(d, schema.FromAPIVersionAndKind(version, kind), secret, Options{Whole: true, Hide: func(Path) bool { return true }}); strings.Contains(text, mark) {
			t.Errorf("a value is shown: %s", text)
		}
	})
}

// marked is a value in which every text begins with the mark.
func marked(v any, mark string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = marked(x, mark)
		}
		return out
	case []any:
		var out []any
		for _, x := range v {
			out = append(out, marked(x, mark))
		}
		return out
	case string:
		return mark + v
	}
	return v
}
