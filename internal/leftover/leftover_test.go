package leftover

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
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
			if got := Fields(managed(c.entry), base, declared, "us", c.leave); got != c.want {
				t.Errorf("stays %q, want %q", got, c.want)
			}
		})
	}
	if got := Fields(managed(entry("kubectl-edit", "Update", all)), nil, declared, "us", nil); got != "" {
		t.Errorf("of a declaration that is not known: %s", got)
	}
}
