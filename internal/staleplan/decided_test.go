package staleplan

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
)

// What values decide about is what a plan would not allow them: objects more or less, fields more or less, and none that are shown as not known.
func TestDecided(t *testing.T) {
	objects := func(text string, unknown ...string) (out []object.Object) {
		var all []map[string]any
		if err := yaml.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		for _, data := range all {
			o := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": data["name"]}, "data": data["data"]}, Unknown: map[string]bool{}}
			for _, path := range unknown {
				o.Unknown["data."+path] = true
			}
			out = append(out, o)
		}
		return out
	}
	shown := objects("[{name: x, data: {a: known after m, sum: known after m, own: b}}]", "a", "sum")
	for text, want := range map[string][]string{
		"[{name: x, data: {a: v, sum: abc, own: b}}]":                               nil,
		"[{name: x, data: {a: v, sum: abc, own: c}}]":                               {"data.own of ConfigMap x"},
		"[{name: x, data: {a: v, sum: abc, own: b, more: c}}]":                      {"data.more of ConfigMap x"},
		"[{name: x, data: {a: v, sum: abc, own: b}}, {name: z, data: {}}]":          {"ConfigMap z"},
		"[{name: v, data: {a: v, sum: abc, own: b}}]":                               {"ConfigMap v", "ConfigMap x"},
		"[{name: x, data: {a: v, sum: [1], own: b}}, {name: a, data: {k: [v, v]}}]": {"ConfigMap a", "data.sum of ConfigMap x"},
	} {
		if got := Decided(shown, objects(text), map[string]any{"v": "known after m"}, map[string]any{"v": "v"}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
