package object

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func liveOf(t *testing.T, body map[string]any, entries ...metav1.ManagedFieldsEntry) map[string]any {
	t.Helper()
	u := unstructured.Unstructured{Object: body}
	u.SetManagedFields(entries)
	return u.Object
}

func written(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func namesOf(fields []ForeignField) []string {
	var out []string
	for _, f := range fields {
		out = append(out, strings.TrimSpace(f.Path+" "+f.By))
	}
	slices.Sort(out)
	return out
}

// What an apply with force writes over: values and absences that are not as declared, and nothing beside the declaration.
// The values count, not when and by whom they were written, and what is masked is told apart all the same.
func TestOverwritten(t *testing.T) {
	secret := func(a, b any) map[string]any {
		data := map[string]any{"c": "same"}
		for k, v := range map[string]any{"a": a, "b": b} {
			if v != nil {
				data[k] = v
			}
		}
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "x"}, "data": data}
	}
	o := Object{Body: secret("1", "1")}
	live := liveOf(t, secret("2", nil), written("alice", "", `{"f:data":{"f:a":{}}}`))
	live["data"].(map[string]any)["hers"] = "3"
	was := o.Overwritten(live, o.Body, "hawser:me")
	if got := namesOf(was); !slices.Equal(got, []string{"data.a alice", "data.b"}) {
		t.Fatalf("%v", got)
	}
	live["data"].(map[string]any)["hers"] = "4"
	later := liveOf(t, live, written("bob", "", `{"f:data":{"f:a":{},"f:hers":{}}}`), written("controller", "status", `{"f:status":{}}`))
	if again := o.Overwritten(later, o.Body, "hawser:me"); Unforeseen(was, again) != nil || DigestForeign(was) != DigestForeign(again) {
		t.Errorf("the same values: %v, before %v", again, was)
	}
	for reason, now := range map[string]map[string]any{"another value": secret("9", nil), "one more": secret("2", "7"), "none": secret(nil, nil)} {
		again := o.Overwritten(liveOf(t, now), o.Body, "hawser:me")
		if Unforeseen(was, again) == nil || DigestForeign(was) == DigestForeign(again) {
			t.Errorf("%s: %v, before %v", reason, again, was)
		}
	}
	if less := o.Overwritten(liveOf(t, secret("1", nil)), o.Body, "hawser:me"); Unforeseen(was, less) != nil || DigestForeign(was) == DigestForeign(less) {
		t.Errorf("less: %v", less)
	}
	masked := Object{Body: o.Body, Sensitive: []string{"data"}}
	if Unforeseen(was, masked.Overwritten(live, o.Body, "hawser:me")) != nil {
		t.Error("what is masked decides about what is the same")
	}
	if o.Overwritten(nil, o.Body, "hawser:me") != nil {
		t.Error("nothing is there")
	}
}

// What others have in an object that goes: fields of people, tools and operators with their values; not ours, not the
// status, not the bookkeeping of Kubernetes, nothing that is left to others.
func TestForeignFields(t *testing.T) {
	body := func(note, finalizer string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x",
			"annotations": map[string]any{"example.com/note": note, "sys": "1"}, "finalizers": []any{finalizer}},
			"data": map[string]any{"a": "ours", "b": "hers", "left": "1"}, "status": map[string]any{"x": note}, "spec": map[string]any{"replicas": int64(3)}}
	}
	entries := []metav1.ManagedFieldsEntry{
		written("hawser:me", "", `{"f:data":{"f:a":{}}}`),
		written("alice", "", `{"f:data":{"f:b":{}},"f:status":{"f:x":{}}}`),
		written("bob", "", `{"f:metadata":{"f:annotations":{".":{},"f:example.com/note":{}},"f:finalizers":{".":{},"v:\"example.com/hold\"":{}}}}`),
		written("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`),
		written("kube-controller-manager", "", `{"f:metadata":{"f:annotations":{"f:sys":{}}}}`),
		written("operator", "status", `{"f:status":{"f:x":{}}}`),
		written("tuner", "", `{"f:data":{"f:left":{}}}`),
	}
	was := ForeignFields(liveOf(t, body("1", "example.com/hold"), entries...), "hawser:me", &Ignore{Managers: []string{"tun*"}})
	want := []string{"data.b alice", "metadata.annotations.example.com/note bob", `metadata.finalizers[="example.com/hold"] bob`, "spec.replicas kubectl"}
	if got := namesOf(was); !slices.Equal(got, want) {
		t.Fatalf("%v\nwant %v", got, want)
	}
	if all := ForeignFields(liveOf(t, body("1", "example.com/hold"), entries...), "hawser:me", nil); len(all) != 5 {
		t.Errorf("%v", namesOf(all))
	}
	left := &Ignore{Paths: []string{"data.left", "metadata.annotations"}}
	if got := namesOf(ForeignFields(liveOf(t, body("1", "example.com/hold"), entries...), "hawser:me", left)); len(got) != 3 {
		t.Errorf("%v", got)
	}
	now := ForeignFields(liveOf(t, body("2", "example.com/hold"), entries...), "hawser:me", left)
	if Unforeseen(was, now) != nil {
		t.Errorf("what is left to others counts: %v", Unforeseen(was, now))
	}
	if f := Unforeseen(was, ForeignFields(liveOf(t, body("2", "example.com/hold"), entries...), "hawser:me", nil)); f == nil || f.Since() != "metadata.annotations.example.com/note was changed by bob since" {
		t.Errorf("%v", f)
	}
}
