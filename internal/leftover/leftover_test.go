package leftover

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func body(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func entry(manager, operation, fields string, subresource ...string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(fields)}
	for _, s := range subresource {
		e.Subresource = s
	}
	return e
}

// managed is an object with nothing but whose fields there are.
func managed(e metav1.ManagedFieldsEntry) map[string]any {
	u := unstructured.Unstructured{Object: map[string]any{}}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{e})
	return u.Object
}

// What is declared no longer stays with who changed it, or applies it too; what is left to others on purpose, handed over, or
// another one's from the beginning is not among it.
func TestFields(t *testing.T) {
	base := body(t, "{data: {a: x, b: x, c: x}, spec: {replicas: 2, c: [{name: gone, image: x}]}}")
	declared := body(t, "{data: {c: z}}")
	all := `{"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{},"f:theirs":{}}}`
	for name, c := range map[string]struct {
		entry metav1.ManagedFieldsEntry
		leave *object.Ignore
		want  string
	}{
		"changed by hand":                        {entry: entry("kubectl-edit", "Update", all), want: `{"f:data":{"f:a":{},"f:b":{}}}`},
		"applied by another one too":             {entry: entry("helm", "Apply", all), want: `{"f:data":{"f:a":{},"f:b":{}}}`},
		"a field that somebody put into an item": {entry: entry("injector", "Update", `{"f:spec":{"f:c":{"k:{\"name\":\"gone\"}":{"f:env":{}}}}}`), want: `{"f:spec":{"f:c":{"k:{\"name\":\"gone\"}":{"f:env":{}}}}}`},
		"ours":                                   {entry: entry("us", "Apply", all)},
		"taken for somebody's by the server":     {entry: entry(object.BeforeFirst, "Update", all)},
		"handed over":                            {entry: entry(object.HandoverManager, "Apply", `{"f:spec":{"f:replicas":{}}}`)},
		"scaled":                                 {entry: entry("hpa", "Update", `{"f:spec":{"f:replicas":{}}}`, "scale")},
		"left to others by its path":             {entry: entry("kubectl-edit", "Update", all), leave: &object.Ignore{Paths: []string{"data.a"}}, want: `{"f:data":{"f:b":{}}}`},
		"left to its manager":                    {entry: entry("kubectl-edit", "Update", all), leave: &object.Ignore{Managers: []string{"kubectl-*"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fields(managed(c.entry), base, declared, "us", plan.Change{Ignore: c.leave}); got != c.want {
				t.Errorf("stays %q, want %q", got, c.want)
			}
		})
	}
	if got := Fields(managed(entry("kubectl-edit", "Update", all)), nil, declared, "us", plan.Change{}); got != "" {
		t.Errorf("of a declaration that is not known: %s", got)
	}
}

// What stayed is told as long as somebody else has it, by what an object's metadata say: until nobody has it, or it is ours again.
func TestStays(t *testing.T) {
	const stays = `{"f:data":{"f:a":{},"f:b":{}}}`
	theirs := entry("kubectl-edit", "Update", `{"f:data":{"f:a":{},"f:c":{}}}`)
	both := entry("helm", "Apply", `{"f:data":{"f:a":{},"f:b":{}}}`)
	for name, c := range map[string]struct {
		entries  []metav1.ManagedFieldsEntry
		leave    *object.Ignore
		want, by string
	}{
		"one of them is gone":  {entries: []metav1.ManagedFieldsEntry{theirs}, want: `{"f:data":{"f:a":{}}}`, by: "kubectl-edit"},
		"two have it":          {entries: []metav1.ManagedFieldsEntry{theirs, both}, want: stays, by: "helm, kubectl-edit"},
		"it is ours again":     {entries: []metav1.ManagedFieldsEntry{theirs, entry("us", "Apply", `{"f:data":{"f:a":{}}}`)}},
		"nobody has it":        {entries: []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:data":{"f:c":{}}}`)}},
		"left to who has it":   {entries: []metav1.ManagedFieldsEntry{theirs}, leave: &object.Ignore{Managers: []string{"kubectl-*"}}},
		"of its status":        {entries: []metav1.ManagedFieldsEntry{entry("kubelet", "Update", stays, "status")}},
		"somebody before us":   {entries: []metav1.ManagedFieldsEntry{entry(object.BeforeFirst, "Update", stays)}},
		"nothing is in there":  {entries: []metav1.ManagedFieldsEntry{{Manager: "x"}}},
		"nothing has an entry": {},
	} {
		l := Seen(plan.Live{Found: true}, stays, c.entries, "us", c.leave)
		if l.Stays != c.want || l.StaysBy != c.by || !l.Found {
			t.Errorf("%s: %s by %q", name, l.Stays, l.StaysBy)
		}
	}
	if l := Seen(plan.Live{}, "", []metav1.ManagedFieldsEntry{both}, "us", nil); l.Stays != "" {
		t.Error("what nobody dropped stays")
	}
	before := Fields(managed(both), map[string]any{"data": map[string]any{}}, map[string]any{}, "us", plan.Change{Stays: stays})
	if before != stays {
		t.Errorf("what stayed before is forgotten by the next change: %s", before)
	}
	ref, other := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "b"}
	live := map[object.Ref]plan.Live{ref: {Stays: stays, StaysBy: "helm"}, other: {}}
	p := &plan.Plan{Kept: []plan.InventoryEntry{{Ref: ref, Instance: "api", Stays: stays}, {Ref: other}}}
	fs := Still(p, live, func(s string) string { return s })
	if len(fs) != 1 || fs[0].Code != Code || fs[0].Object != ref.String() || fs[0].What != "data.a, data.b: declared no longer, and not removed" || fs[0].Instance != "api" {
		t.Errorf("%+v", fs)
	}
	changes := &plan.Plan{Changes: []plan.Change{{Ref: ref, Stays: stays, Checked: true}, {Ref: ref, Stays: stays}, {Ref: other}}}
	if fs := Still(changes, live, func(s string) string { return s }); len(fs) != 1 {
		t.Errorf("one that was asked about tells it by itself: %+v", fs)
	}
}
