package images

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
)

func TestImages(t *testing.T) {
	parse := func(instance, text string) object.Object {
		var body map[string]any
		if err := yaml.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		return object.Object{Instance: instance, Body: body}
	}
	hook := parse("web", "kind: Job\nspec: {template: {spec: {containers: [{image: 'migrate:1'}]}}}")
	hook.Hook = &object.Hook{}
	got := Of([]object.Object{
		parse("web", "kind: Deployment\nspec: {template: {spec: {initContainers: [{image: 'init:1'}], containers: [{image: 'web:2'}, {name: none}, 7]}}}"),
		parse("web", "kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{image: 'web:2'}, {image: 'a:1'}]}}}}}"),
		parse("db", "kind: Pod\nspec: {containers: [{image: 'db:1'}], ephemeralContainers: [{image: 'debug:1'}]}"),
		parse("tpl", "kind: PodTemplate\ntemplate: {spec: {containers: [{image: 'tpl:1'}]}}"),
		parse("cm", "kind: ConfigMap\ndata: {containers: image}"),
		hook,
	}, func(_, text string) string { return text })
	want := map[string][]string{"web": {"a:1", "init:1", "web:2"}, "db": {"db:1", "debug:1"}, "tpl": {"tpl:1"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Of([]object.Object{parse("cm", "kind: ConfigMap")}, nil); got != nil {
		t.Errorf("%v of an object without a container", got)
	}
}

// TestSecretImages: of a secret in an image nothing is kept in the clear, whether the run knows it or the object alone says so.
func TestSecretImages(t *testing.T) {
	pod := func(instance, image string, sensitive ...string) object.Object {
		return object.Object{Instance: instance, Sensitive: sensitive, Body: map[string]any{"kind": "Pod", "apiVersion": "v1",
			"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": image}}}}}
	}
	const at = `spec.containers[name="a"].image`
	own := func(instance, text string) string {
		if instance == "web" {
			return strings.ReplaceAll(text, "t0ken-9x", redact.Mask)
		}
		return text
	}
	got := Of([]object.Object{pod("web", "web:t0ken-9x"), pod("web", "b:t0ken-9x", at), pod("web", "c:1", "spec.containers[0].env"), pod("db", "db:t0ken-9x"), pod("kept", "old:s3cret", at)}, own)
	want := map[string][]string{"web": {"b:***", "c:1", "web:***"}, "db": {"db:t0ken-9x"}, "kept": {"***"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
