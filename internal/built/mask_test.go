package built

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
)

// TestBuildMasksEveryKind: build --mask-secrets hides texts and numbers, whatever form they have, for the instances that take
// them, all of a Secret, and no key and no name.
func TestBuildMasksEveryKind(t *testing.T) {
	r := &redact.Redactor{}
	r.AddFor("web", "4711")
	r.AddFor("web", "1.5e6")
	r.AddFor("web", "spec")
	r.AddFor("web", "kX93-pass-word")
	r.AddFor("web", "ConfigMap")
	body := func(kind string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "spec", "namespace": "spec", "labels": map[string]any{"a": "spec"}},
			"spec": map[string]any{"int": 4711, "int64": int64(1500000), "float": 4711.0, "large": 1.5e6, "other": int64(4712), "flag": true,
				"text": "pin=4711 of spec", "deep": []any{"x kX93-pass-word", map[string]any{"kX93-pass-word": "v"}}}}
	}
	build := func(instance, kind string) string {
		var b bytes.Buffer
		o := object.Object{Body: body(kind)}
		if kind == "Secret" {
			o.Body["data"] = map[string]any{"a": "eHg=", "b": true, "c": 7}
		}
		res := &fleetplan.BuildResult{Items: []fleetplan.BuildItem{{Instance: instance, Objects: []object.Object{o}}}, Mask: r}
		if err := Stream(&b, res, true); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := build("web", "ConfigMap")
	for _, want := range []string{"kind: ConfigMap", "name: spec", "namespace: spec", "a: '***'", "\nspec:", "int: '***'", "int64: '***'", "float: '***'", "large: '***'", "other: 4712",
		"flag: true", "text: pin=*** of ***", "- x ***", "'***': v"} {
		if !strings.Contains(got, want) {
			t.Errorf("not %q:\n%s", want, got)
		}
	}
	got = build("other", "ConfigMap")
	for _, want := range []string{"kind: ConfigMap", "int: 4711", "int64: 1500000", "text: pin=4711 of spec", "- x ***"} {
		if !strings.Contains(got, want) {
			t.Errorf("of another instance not %q:\n%s", want, got)
		}
	}
	for _, want := range []string{"a: '***'", "b: '***'", "c: '***'"} {
		if got := build("other", "Secret"); !strings.Contains(got, want) {
			t.Errorf("a Secret shows %s:\n%s", want, got)
		}
	}
	applied := object.Object{Sensitive: []string{"spec.pin"}, Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "spec": map[string]any{"pin": 12},
		"metadata": map[string]any{"name": "x", "annotations": map[string]any{object.LastApplied: `{"data":{"a":"eHg="}}`}}}}
	for _, hidden := range []string{"eHg=", "12"} {
		if text, err := YAML(Masked(applied, r)); err != nil || strings.Contains(string(text), hidden) {
			t.Errorf("%q is shown:\n%s (%v)", hidden, text, err)
		}
	}
}
