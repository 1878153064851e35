package values

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/redact"
)

// TestShown: CUE text stays CUE; fields keep their names, values are masked for the instance that they belong to.
func TestShown(t *testing.T) {
	r := &redact.Redactor{}
	r.AddFor("web", "delete")
	r.AddFor("web", "4711")
	r.AddFor("web", "kX93-pass")
	for text, want := range map[string]string{
		"bundle: instances: {\n\tdelete: values: mode: \"delete\"\n\tweb: values: {\n\t\tdelete: \"delete\"\n\t\tpin:    4711\n\t\tuse:    47.11e2 // kX93-pass\n\t\ttext:   \"pin=4711\"\n\t}\n}\n": "bundle: instances: {\n\tdelete: values: mode: \"delete\"\n\tweb: values: {\n\t\tdelete: \"***\"\n\t\tpin:    \"***\"\n\t\tuse:    47.11e2 // ***\n\t\ttext:   \"pin=***\"\n\t}\n}\n",
		"bundle: name: \"kX93-pass\"\n": "bundle: name: \"***\"\n",
		"bundle: name: \"delete\"\n":    "bundle: name: \"delete\"\n",
		"no: [CUE kX93-pass":            "no: [CUE ***",
	} {
		if got := Shown(text, "", r.Value); got != strings.Replace(want, "47.11e2", "\"***\"", 1) {
			t.Errorf("%s became %s", text, got)
		}
	}
	for text, want := range map[string]string{`"delete"`: `"***"`, "4711": `"***"`, `{delete: "delete", a: [4711, 4712]}`: `{delete: "***", a: ["***", 4712]}`, "true": "true"} {
		ex := Explained([]place.Explanation{{Instance: "web", Value: text, Layers: []place.LayerValue{{Value: text}, {Value: ""}}}, {Instance: "other", Value: text}}, r.Value)
		if ex[0].Value != want || ex[0].Layers[0].Value != want || ex[1].Value != text {
			t.Errorf("%s is explained as %q, %q, of others %q", text, ex[0].Value, ex[0].Layers[0].Value, ex[1].Value)
		}
	}
}

// TestRuntimeValuesBelongToInstances: a secret runtime value is secret for the instances that it went to.
func TestRuntimeValuesBelongToInstances(t *testing.T) {
	redactor := redact.New()
	r := New(Options{Redactor: redactor})
	instances := []v1alpha1.Instance{
		{Name: "takes", Values: valuesOf(t, "mode: delete\npin: 4711.0\n")},
		{Name: "listens", Values: valuesOf(t, "a: 1\n"), Namespace: "delete"},
		{Name: "other", Values: valuesOf(t, "mode: \"keep\"\n")},
	}
	values := map[string]fleet.Value{"MODE": {Value: "delete", Secret: true}, "PIN": {Value: "4711", Secret: true}, "OPEN": {Value: "keep"}, "UNUSED": {Value: "keep", Secret: true}}
	r.Runtime(values, func(name string) bool { return name != "UNUSED" }, instances...)
	for instance, want := range map[string]string{"takes": "*** and ***, keep", "listens": "*** and 4711, keep", "other": "delete and 4711, keep", "": "delete and 4711, keep"} {
		if got := redactor.Value(instance, "delete and 4711, keep"); got != want {
			t.Errorf("%s: %s, want %s", instance, got, want)
		}
	}
}
