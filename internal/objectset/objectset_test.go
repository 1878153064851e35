package objectset

import (
	"fmt"
	"testing"

	"hawser.dev/hawser/internal/object"
)

func config(name, value string) object.Object {
	return object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"k": value}}}
}

// TestSets: what is the same, what is among which, and which objects differ.
func TestSets(t *testing.T) {
	a, b := []object.Object{config("x", "1"), config("y", "1")}, []object.Object{config("x", "1"), config("y", "2"), config("z", "1")}
	if !Same(a, a) || Same(a, b) || Same(a, a[:1]) || !HoldsAll(b, a) || HoldsAll(a, b) {
		t.Error("not as it should be")
	}
	for _, sets := range [][2][]object.Object{{a, b}, {b, a}} {
		if got := fmt.Sprint(Differing(sets[0], sets[1])); got != "map[ConfigMap y:true ConfigMap z:true]" {
			t.Error(got)
		}
	}
	if differ := Differing(a, b); !Differing(a[:1], a).Within(differ) || differ.Within(Differing(a[:1], a)) {
		t.Error("not within")
	}
	if got := Differing(a, a); len(got) > 0 {
		t.Error(got)
	}
}

// TestHeld: what a Secret holds, texts over what is encoded.
func TestHeld(t *testing.T) {
	o := object.Object{Body: map[string]any{"data": map[string]any{"a": "eA==", "b": "eQ=="}, "stringData": map[string]any{"b": "z"}}}
	if got := fmt.Sprint(Held(o)); got != "map[a:eA== b:eg==]" {
		t.Error(got)
	}
}
