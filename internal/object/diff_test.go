package object

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func yamlMap(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func printed(diffs []FieldDiff) []string {
	var out []string
	for _, d := range diffs {
		show := func(v any, there bool) string {
			if !there {
				return "-"
			}
			if d.Hidden {
				return "***"
			}
			raw, _ := json.Marshal(v)
			return string(raw)
		}
		out = append(out, fmt.Sprintf("%s: %s -> %s", d.Path, show(d.Old, d.HasOld), show(d.New, d.HasNew)))
	}
	return out
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, old, new, reason string
		want                   []string
	}{
		{"equal", "{a: 1}", "{a: 1}", "nothing to say", nil},
		{"server fields", "{metadata: {name: x, uid: a, resourceVersion: '1', generation: 1, managedFields: [{}], creationTimestamp: x}, status: {a: 1}}",
			"{metadata: {name: x}, status: {a: 2}}", "what the server adds is no difference", nil},
		{"values", "{spec: {a: 1, b: x, c: true}}", "{spec: {a: 2, b: x, d: null}}", "each field by itself, sorted",
			[]string{"spec.a: 1 -> 2", "spec.c: true -> -", "spec.d: - -> null"}},
		{"structure added", "{spec: {}}", "{spec: {a: {b: 1, c: [1]}}}", "each new field is named", []string{"spec.a.b: - -> 1", "spec.a.c: - -> [1]"}},
		{"structure emptied", "{spec: {a: {b: 1}}}", "{spec: {a: {}}}", "each dropped field is named", []string{"spec.a.b: 1 -> -"}},
		{"empty structure added", "{spec: {}}", "{spec: {emptyDir: {}}}", "an empty structure says something too", []string{"spec.emptyDir: - -> {}"}},
		{"kind of value", "{a: {b: 1}}", "{a: x}", "a structure became a value", []string{`a: {"b":1} -> "x"`}},
		{"quoted names", "{metadata: {labels: {app.kubernetes.io/name: a}}}", "{metadata: {labels: {app.kubernetes.io/name: b}}}",
			"names with dots are quoted", []string{`metadata.labels."app.kubernetes.io/name": "a" -> "b"`}},
		{"containers by name", "{c: [{name: a, image: x}, {name: b, image: w}]}", "{c: [{name: b, image: z}, {name: a, image: x}]}",
			"matched by name; order alone is no difference", []string{`c[b].image: "w" -> "z"`}},
		{"items come and go", "{c: [{name: a, v: 1}]}", "{c: [{name: b, v: 1}]}", "whole items", []string{`c[a]: {"name":"a","v":1} -> -`, `c[b]: - -> {"name":"b","v":1}`}},
		{"ports by number", "{ports: [{port: 80, name: http}, {port: 53, protocol: UDP}]}", "{ports: [{port: 80, name: web, protocol: TCP}, {port: 53, protocol: UDP, name: dns}]}",
			"by port and protocol", []string{`ports[80].name: "http" -> "web"`, `ports[80].protocol: - -> "TCP"`, `ports[53/UDP].name: - -> "dns"`}},
		{"mounts", "{m: [{mountPath: /a, ro: true}]}", "{m: [{mountPath: /a, ro: false}]}", "by path", []string{"m[/a].ro: true -> false"}},
		{"lists without a key", "{l: [{a: 1, b: 1}, {a: 2}]}", "{l: [{a: 1, b: 2}, {a: 2}]}", "by position", []string{"l[0].b: 1 -> 2"}},
		{"lists without a key that grow", "{l: [{a: 1}]}", "{l: [{a: 1}, {a: 2}]}", "as a whole", []string{`l: [{"a":1}] -> [{"a":1},{"a":2}]`}},
		{"duplicate keys", "{l: [{name: a, v: 1}, {name: a, v: 2}]}", "{l: [{name: a, v: 1}, {name: a, v: 3}]}", "not a key then", []string{"l[1].v: 2 -> 3"}},
		{"plain lists", "{args: [a, b]}", "{args: [a, c]}", "one field", []string{`args: ["a","b"] -> ["a","c"]`}},
		{"numbers", "{a: 1, b: 1.0}", "{a: 1, b: 1}", "1.0 is 1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, printed(Diff(yamlMap(t, c.old), yamlMap(t, c.new), Mask{}))); diff != "" {
				t.Errorf("%s\n%s", c.reason, diff)
			}
		})
	}
}

func TestDiffHides(t *testing.T) {
	secret := "{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {" + LastApplied + ": %s}}, data: {a: %s}, type: %s}"
	o := Object{Body: yamlMap(t, fmt.Sprintf(secret, "x", "x", "x"))}
	got := printed(Diff(yamlMap(t, fmt.Sprintf(secret, "x", "x", "x")), yamlMap(t, fmt.Sprintf(secret, "z", "z", "z")), o.Mask()))
	want := []string{"data.a: *** -> ***", `metadata.annotations."` + LastApplied + `": *** -> ***`, `type: "x" -> "z"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	deployment := "{apiVersion: apps/v1, kind: Deployment, spec: {containers: [{name: api, env: [{name: PASSWORD, value: %s}, {name: PLAIN, value: %s}]}]}}"
	o = Object{Body: yamlMap(t, fmt.Sprintf(deployment, "x", "x")), Sensitive: []string{`spec.containers[name="api"].env[name="PASSWORD"].value`}}
	got = printed(Diff(yamlMap(t, fmt.Sprintf(deployment, "x", "x")), yamlMap(t, fmt.Sprintf(deployment, "z", "z")), o.Mask()))
	want = []string{"spec.containers[api].env[PASSWORD].value: *** -> ***", `spec.containers[api].env[PLAIN].value: "x" -> "z"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("a value is hidden by where it came from, not by its name:", diff)
	}
	added := "{apiVersion: apps/v1, kind: Deployment, spec: {containers: []}}"
	for _, line := range printed(Diff(yamlMap(t, added), o.Body, o.Mask())) {
		if !strings.Contains(line, "***") {
			t.Errorf("an added structure with a sensitive value inside is shown: %s", line)
		}
	}
}

func TestSetters(t *testing.T) {
	old := yamlMap(t, "{metadata: {labels: {a.b/c: x}}, spec: {replicas: 1, ports: [{port: 80, name: a}], l: [{name: i, v: 1}], whole: {a: 1}}}")
	new := yamlMap(t, "{metadata: {labels: {a.b/c: z}}, spec: {replicas: 2, ports: [{port: 80, name: b}], l: [{name: i, v: 2}], whole: {a: 2}}}")
	s := SettersOf([]metav1.ManagedFieldsEntry{
		entry("hawser:me", "Apply", `{"f:spec":{"f:replicas":{}}}`),
		entry("kubectl-edit", "Update", `{"f:spec":{"f:replicas":{},"f:l":{"k:{\"name\":\"i\"}":{"f:v":{}}},"f:whole":{}},"f:metadata":{"f:labels":{"f:a.b/c":{}}}}`),
		entry("svc", "Update", `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}}}}`),
	}, "hawser:me")
	want := map[string]string{"spec.replicas": "kubectl-edit", "spec.ports[80].name": "svc", "spec.l[i].v": "kubectl-edit",
		`metadata.labels."a.b/c"`: "kubectl-edit", "spec.whole.a": "kubectl-edit"}
	got := map[string]string{}
	for _, d := range Diff(old, new, Mask{}) {
		m, since := s.Of(d)
		if m != "" && since == "" {
			t.Errorf("%s: no time", d.Path)
		}
		got[d.Path] = m
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutPathsAndRestrict(t *testing.T) {
	body := yamlMap(t, "{spec: {replicas: 1, a: {b: 1}}, x: 1}")
	got := WithoutPaths(body, []string{"spec.replicas", "spec.a.b", "no.such", "x.y"})
	if diff := cmp.Diff(yamlMap(t, "{spec: {a: {}}, x: 1}"), got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(yamlMap(t, "{spec: {replicas: 1, a: {b: 1}}, x: 1}"), body); diff != "" {
		t.Error("the original was changed", diff)
	}
	live := yamlMap(t, "{a: 1, b: 2, c: [{name: x, v: 1, w: 2}, {name: z, v: 3}], d: [1, 2]}")
	declared := yamlMap(t, "{a: 9, c: [{name: x, v: 9}], d: [1], e: 1}")
	if diff := cmp.Diff(yamlMap(t, "{a: 1, c: [{name: x, v: 1}], d: [1, 2]}"), Restrict(live, declared)); diff != "" {
		t.Error(diff)
	}
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		ref  Ref
		want Class
	}{
		{Ref{Kind: "Namespace"}, ClassFoundation}, {Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, ClassFoundation},
		{Ref{Group: "rbac.authorization.k8s.io", Kind: "Role"}, ClassConfig}, {Ref{Kind: "Secret"}, ClassConfig},
		{Ref{Group: "storage.k8s.io", Kind: "StorageClass"}, ClassConfig}, {Ref{Group: "networking.k8s.io", Kind: "NetworkPolicy"}, ClassConfig},
		{Ref{Kind: "Service"}, ClassService}, {Ref{Group: "serving.knative.dev", Kind: "Service"}, ClassWorkload},
		{Ref{Group: "apps", Kind: "Deployment"}, ClassWorkload}, {Ref{Group: "networking.k8s.io", Kind: "Ingress"}, ClassWorkload},
		{Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, ClassWorkload}, {Ref{Group: "example.com", Kind: "Widget"}, ClassWorkload},
		{Ref{Group: "apiregistration.k8s.io", Kind: "APIService"}, ClassAdmission},
		{Ref{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}, ClassAdmission},
		{Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}, ClassConfig},
	} {
		if got := ClassOf(c.ref); got != c.want {
			t.Errorf("%s of %q: %d, want %d", c.ref.Kind, c.ref.Group, got, c.want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(`{"a":[{"name":"x"}]}`, `{"a":[{"name":"x","v":1}]}`)
	f.Add(`{"data":{"a":"x"}}`, `{"data":null}`)
	f.Add(`{"ports":[{"port":80},{"port":80,"protocol":"UDP"}]}`, `{"ports":[]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var x, y map[string]any
		if utiljson.Unmarshal([]byte(a), &x) != nil || utiljson.Unmarshal([]byte(b), &y) != nil {
			return
		}
		if d := Diff(x, x, Mask{}); len(d) > 0 {
			t.Errorf("%s differs from itself: %v", a, printed(d))
		}
		Diff(x, y, Mask{secret: true})
		Restrict(x, y)
	})
}

// TestDiffIsBounded: what differs in more fields than anybody reads, far below, takes no memory for their paths.
func TestDiffIsBounded(t *testing.T) {
	deep := func(value string) map[string]any {
		fields := map[string]any{}
		for i := range 10_000 {
			fields[fmt.Sprint("f", i)] = value
		}
		for range 300 {
			fields = map[string]any{"a": fields}
		}
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{LastApplied: "secret-" + value, "x": value}}, "a": fields, "z": map[string]any{"y": map[string]any{"w": map[string]any{"q": value}}}}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	diffs := Diff(deep("one"), deep("two"), Mask{})
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
		t.Errorf("%d MiB", took)
	}
	text := fmt.Sprint(printed(diffs))
	if strings.Contains(text, "secret-") || !strings.Contains(text, "z.y") {
		t.Errorf("%.300s", text)
	}
}
