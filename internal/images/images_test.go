package images

import (
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
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
	})
	want := map[string][]string{"web": {"a:1", "init:1", "web:2"}, "db": {"db:1", "debug:1"}, "tpl": {"tpl:1"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Of([]object.Object{parse("cm", "kind: ConfigMap")}); got != nil {
		t.Errorf("%v of an object without a container", got)
	}
}
