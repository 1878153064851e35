package engine

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/plan"
)

// A digest of a value that is known only after another instance was applied is as unknown as the value: the plan shows no
// digest of what stands in for it.
func TestDigestOfALateValue(t *testing.T) {
	t.Parallel()
	r := chartRig(t, `apiVersion: v1
kind: ConfigMap
metadata: {name: computed, annotations: {checksum/values: {{ .Values | toJson | sha256sum }}}}
data: {own: {{ .Values.own | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {digest: {{ .Values.own | sha256sum }}}
`)
	r.write("db.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: conn}\nstringData: {uri: \"postgres://db\"}\n")
	bundle := r.read("bundle.yaml")
	bundle = strings.Replace(bundle, "text: one", "own: here, uri: {from: {instance: db, object: v1/Secret/conn, path: data.uri}}", 1)
	r.write("bundle.yaml", bundle+"    db:\n      namespace: "+r.name+"\n      manifests: {paths: [db.yaml]}\n")
	r.applied(r.request())
	if fp := r.plan(r.request()); !fp.settled() {
		t.Fatalf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
	if err := r.admin.CoreV1().Secrets(r.name).Delete(t.Context(), "conn", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, asking := range []bool{true, false} {
		req := r.request()
		req.ShowDiff, req.ShowFields = asking, true
		changes := r.plan(req).Clusters[0].Plan.Changes
		i := slices.IndexFunc(changes, func(ch plan.Change) bool { return ch.Ref.Name == "computed" })
		if i < 0 || !slices.Equal(changes[i].After, []string{"db"}) {
			t.Fatalf("asking %v: %+v", asking, changes)
		}
		if f := changes[i].Fields; len(f) != 1 || f[0].New != `"known after db"` {
			t.Errorf("asking %v: %+v", asking, f)
		}
		if slices.ContainsFunc(changes, func(ch plan.Change) bool { return ch.Ref.Name == "own" }) {
			t.Errorf("asking %v: what does not depend on it is planned: %+v", asking, changes)
		}
	}
	r.applied(r.request())
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}
