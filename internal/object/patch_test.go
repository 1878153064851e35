package object

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUnmarked(t *testing.T) {
	ours := map[string]string{LabelOwner: "me", LabelBundle: "shop", LabelInstance: "web", LabelManagedBy: "hawser", "app": "web"}
	const owner = `{"op":"remove","path":"/metadata/labels/hawser.dev~1owner"},`
	labels := owner + `{"op":"remove","path":"/metadata/labels/hawser.dev~1bundle"},` +
		`{"op":"remove","path":"/metadata/labels/hawser.dev~1instance"}`
	managedBy := `,{"op":"remove","path":"/metadata/labels/app.kubernetes.io~1managed-by"}`
	own, handover, theirs := entry("hawser:me", "Apply", `{}`), entry(HandoverManager, "Apply", `{}`), entry("kubectl", "Update", `{}`)
	other := entry("hawser:other", "Apply", `{}`)
	for name, c := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"nothing of ours":     {metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, ManagedFields: []metav1.ManagedFieldsEntry{theirs}}, "null"},
		"all of it":           {metav1.ObjectMeta{Labels: ours, ManagedFields: []metav1.ManagedFieldsEntry{own, handover}}, "[" + labels + managedBy + `,{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`},
		"another's label":     {metav1.ObjectMeta{Labels: map[string]string{LabelOwner: "other", LabelManagedBy: "hawser"}, ManagedFields: []metav1.ManagedFieldsEntry{other}}, "null"},
		"managed by somebody": {metav1.ObjectMeta{Labels: map[string]string{LabelOwner: "me", LabelBundle: "shop", LabelInstance: "web", LabelManagedBy: "Helm"}}, "[" + labels + "]"},
		"no owner any more":   {metav1.ObjectMeta{Labels: map[string]string{LabelBundle: "shop", LabelInstance: "web", LabelManagedBy: "hawser"}}, "[" + strings.TrimPrefix(labels, owner) + managedBy + "]"},
		"an instance's alone": {metav1.ObjectMeta{Labels: map[string]string{LabelInstance: "web"}}, `[{"op":"remove","path":"/metadata/labels/hawser.dev~1instance"}]`},
		"no owner, another's": {metav1.ObjectMeta{Labels: map[string]string{LabelBundle: "other", LabelInstance: "web", LabelManagedBy: "hawser"}}, "null"},
		"others' entries stay": {metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{own, theirs, other}},
			`[{"op":"replace","path":"/metadata/managedFields","value":` + jsonOf(t, []metav1.ManagedFieldsEntry{theirs, other}) + `}]`},
	} {
		t.Run(name, func(t *testing.T) {
			before := jsonOf(t, c.meta)
			if got := jsonOf(t, Unmarked(c.meta, "shop", "hawser:me")); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if jsonOf(t, c.meta) != before {
				t.Error("what was given has changed")
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
