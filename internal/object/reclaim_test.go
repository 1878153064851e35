package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReclaim(t *testing.T) {
	base := yamlMap(t, "{data: {a.b: x, k: x}, spec: {c: [{name: a, image: x, env: x}, {name: gone}]}}")
	declared := yamlMap(t, "{data: {k: z}, spec: {c: [{name: a, image: x}]}}")
	entries := []metav1.ManagedFieldsEntry{
		entry("us", "Apply", `{"f:data":{"f:k":{}}}`),
		entry(BeforeFirst, "Update", `{"f:data":{".":{},"f:a.b":{},"f:k":{},"f:theirs":{}},"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:image":{},"f:env":{}},"k:{\"name\":\"gone\"}":{".":{},"f:name":{}}}}}`),
		entry(BeforeFirst, "Update", `{"f:data":{"f:a.b":{}}}`, "status"),
	}
	left := Left(entries, base, declared)
	if want := `{"f:data":{"f:a.b":{}},"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{"f:env":{}},"k:{\"name\":\"gone\"}":{".":{},"f:name":{}}}}}`; left != want {
		t.Fatalf("left: %s", left)
	}
	if got := Left(entries, nil, declared) + Left(entries[:1], base, declared) + Left(entries, declared, declared); got != "" {
		t.Errorf("nothing known, nothing taken, nothing dropped: %s", got)
	}
	out, changed, err := Reclaim(entries, "us", left)
	if err != nil || !changed || len(out) != 3 {
		t.Fatalf("%v %v %v", out, changed, err)
	}
	if got, want := string(out[0].FieldsV1.GetRawBytes()), `{"f:data":{"f:a.b":{},"f:k":{}},"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{"f:env":{}},"k:{\"name\":\"gone\"}":{".":{},"f:name":{}}}}}`; got != want {
		t.Errorf("ours: %s", got)
	}
	if got, want := string(out[1].FieldsV1.GetRawBytes()), `{"f:data":{".":{},"f:k":{},"f:theirs":{}},"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}`; got != want {
		t.Errorf("the rest: %s", got)
	}
	if _, changed, _ := Reclaim(entries[:1], "us", left); changed {
		t.Error("nothing is there to move")
	}
	if _, _, err := Reclaim(entries, "us", "{"); err == nil {
		t.Error("what cannot be read is an error")
	}
	if diff := cmp.Diff(yamlMap(t, "{data: {k: x}, spec: {c: [{name: a, image: x}, {}]}}"), WithoutFields(base, left)); diff != "" {
		t.Error(diff)
	}
}
