package object

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/builtin"
)

func TestFixed(t *testing.T) {
	of := func(text string) string { return Fixed(Object{Body: yamlMap(t, text)}) }
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"an image", "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {a: x}, template: {image: 1}}}", "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {a: x}, template: {image: 2}}}", true},
		{"a selector", "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {a: x}}}", "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {a: z}}}", false},
		{"another version", "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {a: x}}}", "{apiVersion: apps/v1beta1, kind: Deployment, spec: {selector: {a: x}}}", true},
		{"a StatefulSet's template", "{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a, template: 1, replicas: 1}}", "{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a, template: 2, replicas: 2}}", true},
		{"a StatefulSet's claims", "{apiVersion: apps/v1, kind: StatefulSet, spec: {volumeClaimTemplates: [1]}}", "{apiVersion: apps/v1, kind: StatefulSet, spec: {volumeClaimTemplates: [2]}}", false},
		{"a StatefulSet's new field", "{apiVersion: apps/v1, kind: StatefulSet, spec: {}}", "{apiVersion: apps/v1, kind: StatefulSet, spec: {somethingNew: 1}}", false},
		{"data", "{apiVersion: v1, kind: ConfigMap, data: {a: 1}}", "{apiVersion: v1, kind: ConfigMap, data: {a: 2}}", true},
		{"data that may not change", "{apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: 1}}", "{apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: 2}}", false},
		{"data that may change again", "{apiVersion: v1, kind: Secret, immutable: true, data: {a: 1}}", "{apiVersion: v1, kind: Secret, data: {a: 1}}", false},
		{"a Secret's type", "{apiVersion: v1, kind: Secret, type: a}", "{apiVersion: v1, kind: Secret, type: b}", false},
		{"a Job's image", "{apiVersion: batch/v1, kind: Job, spec: {template: 1}}", "{apiVersion: batch/v1, kind: Job, spec: {template: 2}}", false},
		{"a Job's label", "{apiVersion: batch/v1, kind: Job, metadata: {labels: {a: x}}, spec: {template: 1}}", "{apiVersion: batch/v1, kind: Job, spec: {template: 1}}", true},
		{"a role", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {name: a}, subjects: [1]}", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {name: b}, subjects: [1]}", false},
		{"its subjects", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {name: a}, subjects: [1]}", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {name: a}, subjects: [2]}", true},
		{"a custom resource's spec", "{apiVersion: example.com/v1, kind: X, spec: {a: 1}}", "{apiVersion: example.com/v1, kind: X, spec: {a: 2}}", false},
		{"a custom resource's labels", "{apiVersion: example.com/v1, kind: X, metadata: {labels: {a: x}}, spec: {a: 1}}", "{apiVersion: example.com/v1, kind: X, spec: {a: 1}}", true},
		{"moved between fields", "{apiVersion: v1, kind: Service, spec: {clusterIP: a}}", "{apiVersion: v1, kind: Service, spec: {healthCheckNodePort: a}}", false},
	} {
		if a, b := of(c.a), of(c.b); (a == b) != c.same {
			t.Errorf("%s: same %v, want %v", c.name, a == b, c.same)
		}
	}
	if of("{apiVersion: v1, kind: ConfigMap, data: {a: 1}}") != "" {
		t.Error("a ConfigMap can change as a whole")
	}
	for _, id := range builtin.Kinds() { // the kinds of the table are those that are no custom ones
		group, _, _ := strings.Cut(id, "/")
		if (Ref{Group: group}).Custom() {
			t.Errorf("%s is never looked up", id)
		}
	}
}
