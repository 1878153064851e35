package release

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func TestDeclared(t *testing.T) {
	body := func(name, value string) object.Scoped {
		return object.Scoped{Namespaced: true, Object: object.Object{Instance: "app", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": "shop", "name": name}, "data": map[string]any{"key": value}}}}
	}
	hook := body("migrate", "1")
	hook.Hook = &object.Hook{Events: []object.HookPhase{object.PreUpgrade}}
	a, b := body("a", "1"), body("b", "1")
	owned := func(o object.Scoped) plan.InventoryEntry {
		return plan.InventoryEntry{Ref: o.Ref(), Version: "v1", Instance: "app", UID: "u", Digest: o.Digest(), NoWait: true, Ignore: &object.Ignore{Paths: []string{"data.key"}}}
	}
	unwritten := owned(b)
	unwritten.UID = ""
	lives := map[string]plan.HookState{"app": {Hooks: []plan.Hook{{Ref: hook.Ref(), Version: "v1", Digest: hook.Digest(), Hook: *hook.Hook}}}}
	for name, c := range map[string]struct {
		record  Record
		objects []object.Scoped
		want    string
		refused bool
	}{
		"as it was":                         {Record{Phase: Succeeded, Inventory: []plan.InventoryEntry{owned(a), owned(b)}}, []object.Scoped{a, b}, "a b", false},
		"nobody waited":                     {Record{Phase: Written, Inventory: []plan.InventoryEntry{owned(a)}}, []object.Scoped{a}, "a", false},
		"a body is not kept":                {Record{Phase: Succeeded, Inventory: []plan.InventoryEntry{owned(a), owned(b)}}, []object.Scoped{a}, "a b", false},
		"nothing is kept":                   {Record{Phase: Succeeded, Inventory: []plan.InventoryEntry{owned(a)}}, nil, "a", false},
		"what was let go":                   {Record{Phase: Succeeded, Inventory: []plan.InventoryEntry{owned(a)}}, []object.Scoped{a, b}, "a", false},
		"hooks, and not what they left":     {Record{Phase: Succeeded, Inventory: []plan.InventoryEntry{owned(a), {Ref: hook.Ref(), Hook: &plan.HookRun{}}}, Hooks: lives}, []object.Scoped{a, hook}, "a migrate", false},
		"it failed when all was there":      {Record{Phase: Failed, Inventory: []plan.InventoryEntry{owned(a), owned(b)}}, []object.Scoped{a, b}, "a b", false},
		"it failed and b was never written": {Record{Phase: Failed, Inventory: []plan.InventoryEntry{owned(a)}}, []object.Scoped{a, b}, "", true},
		"it failed and b was intended":      {Record{Phase: Failed, Inventory: []plan.InventoryEntry{owned(a), unwritten}}, []object.Scoped{a, b}, "", true},
		"it failed and b is from before":    {Record{Phase: Failed, Inventory: []plan.InventoryEntry{owned(a), owned(b)}}, []object.Scoped{a}, "", true},
		"it failed and a is from before":    {Record{Phase: Failed, Inventory: []plan.InventoryEntry{owned(body("a", "0"))}}, []object.Scoped{a}, "", true},
		"it failed and nothing is kept":     {Record{Phase: Failed}, nil, "", true},
	} {
		got, fs := c.record.Declared(c.objects)
		var names []string
		for _, d := range got {
			names = append(names, d.Ref.Name)
			if d.Hook == nil && (!d.NoWait || d.Ignore == nil || d.Digest == "" || !d.Namespaced) {
				t.Errorf("%s: %+v lost what the inventory says", name, d)
			}
		}
		if strings.Join(names, " ") != c.want || fs.HasErrors() != c.refused {
			t.Errorf("%s: %q %v, want %q", name, names, fs, c.want)
		}
	}
}

func TestNotKept(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "shop", Name: "token"}
	desired := []plan.Desired{{Ref: ref}}
	kept := map[object.Ref]object.Object{ref: {}}
	for name, c := range map[string]struct {
		action  plan.Action
		desired []plan.Desired
		bodies  map[object.Ref]object.Object
		want    int
	}{
		"it would have to be written": {plan.Update, desired, nil, 1},
		"it would have to come back":  {plan.Create, desired, nil, 1},
		"it is as it was":             {plan.Unchanged, desired, nil, 0},
		"it is kept":                  {plan.Update, desired, kept, 0},
		"it goes":                     {plan.Delete, nil, nil, 0},
	} {
		if got := NotKept(&plan.Plan{Changes: []plan.Change{{Action: c.action, Ref: ref, Why: "changed"}}}, c.desired, c.bodies); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
