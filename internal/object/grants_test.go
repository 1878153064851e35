package object

import (
	"slices"
	"testing"
)

// TestClaimed: what was kept hides its own texts and numbers, one by one, and nothing that gives rights or says as whom a pod runs.
func TestClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		claims []string
		want   []string
	}{
		"a value":    {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {pw: x, b: y}}", []string{"data.pw", "data.pw", "data", "data.gone"}, []string{"data.pw"}},
		"a binding":  {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a, annotations: {pw: x}}, roleRef: {name: cluster-admin}, subjects: [{kind: User, name: mallory}]}", []string{"roleRef", "roleRef.name", "subjects", `subjects[name="mallory"].name`, "metadata.annotations.pw", ""}, []string{"metadata.annotations.pw"}},
		"a webhook":  {"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: w, clientConfig: {url: 'https://x/?t=1'}, rules: [{operations: ['*']}]}]}", []string{"webhooks", `webhooks[name="w"].clientConfig.url`, `webhooks[name="w"].rules[0].operations[0]`}, []string{`webhooks[name="w"].clientConfig.url`}},
		"a workload": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {serviceAccountName: root, containers: [{name: c, image: evil, env: [{name: PW, value: x}], securityContext: {runAsUser: 0}}], volumes: [{name: h, hostPath: {path: /}}]}}}}", []string{"spec", "spec.template.spec.serviceAccountName", `spec.template.spec.containers[name="c"].image`, `spec.template.spec.containers[name="c"].env[name="PW"].value`, `spec.template.spec.containers[name="c"].securityContext.runAsUser`, `spec.template.spec.volumes[name="h"].hostPath.path`}, []string{`spec.template.spec.containers[name="c"].env[name="PW"].value`}},
	} {
		o := Object{Body: yamlMap(t, c.body), Sensitive: c.claims}
		if got := o.Claimed().Sensitive; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	o := Object{Body: yamlMap(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: n}, roleRef: {name: admin}}")}
	if got := o.Granting(); !slices.Contains(got, "admin") || !slices.Contains(got, "a") {
		t.Errorf("%q", got)
	}
}
