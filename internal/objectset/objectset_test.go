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
	if !Same(a, a) || Same(a, b) || Same(a, a[:1]) {
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

// TestWith: what is missing is added where it is not needed, and what is more is left out then.
func TestWith(t *testing.T) {
	x, y, z := config("x", "1"), config("y", "1"), config("z", "1")
	before, after := config("h", "1"), config("h", "2")
	before.Hook, after.Hook = &object.Hook{Weight: 1}, &object.Hook{Weight: 2}
	for name, c := range map[string]struct {
		objs, others []object.Object
		needed       Refs
		want         []object.Object
		there        bool
	}{
		"all, and more":     {[]object.Object{x, config("y", "2"), z}, []object.Object{x, y}, Refs{x.Ref(): true}, []object.Object{x, config("y", "2"), z}, true},
		"one is missing":    {[]object.Object{config("y", "2"), z}, []object.Object{x, y}, Refs{y.Ref(): true}, []object.Object{x, config("y", "2")}, true},
		"and it was needed": {[]object.Object{y}, []object.Object{x, y}, Refs{x.Ref(): true}, []object.Object{x, y}, false},
		"hooks of one name": {[]object.Object{before, after}, []object.Object{before, x, after}, nil, []object.Object{before, x, after}, true},
		"nothing to add":    {[]object.Object{x}, nil, nil, []object.Object{x}, true},
	} {
		if got, there := With(c.objs, c.others, c.needed); !Same(got, c.want) || there != c.there {
			t.Errorf("%s: %v %t", name, got, there)
		}
	}
}

// TestHeld: what a Secret holds, texts over what is encoded.
func TestHeld(t *testing.T) {
	o := object.Object{Body: map[string]any{"data": map[string]any{"a": "eA==", "b": "eQ=="}, "stringData": map[string]any{"b": "z"}}}
	if got := fmt.Sprint(Held(o)); got != "map[a:eA== b:eg==]" {
		t.Error(got)
	}
}
