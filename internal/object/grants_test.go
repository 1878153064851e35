package object

import (
	"slices"
	"strings"
	"testing"
)

// TestClaimed: what was kept hides its own texts and numbers, one by one, and nothing that gives rights or says as whom a pod runs; an image
// with a secret in it it does hide.
func TestClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		claims []string
		want   []string
	}{
		"a value":       {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {pw: x, b: y}}", []string{"data.pw", "data.pw", "data", "data.gone"}, []string{"data.pw"}},
		"a binding":     {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a, annotations: {pw: x}}, roleRef: {name: cluster-admin}, subjects: [{kind: User, name: mallory}]}", []string{"roleRef", "roleRef.name", "subjects", `subjects[name="mallory"].name`, "metadata.annotations.pw", ""}, []string{"metadata.annotations.pw"}},
		"a webhook":     {"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: w, clientConfig: {url: 'https://x/?t=1'}, rules: [{operations: ['*']}]}]}", []string{"webhooks", `webhooks[name="w"].clientConfig.url`, `webhooks[name="w"].rules[0].operations[0]`}, []string{`webhooks[name="w"].clientConfig.url`}},
		"a namespace":   {"{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {pod-security.kubernetes.io/enforce: privileged}}}", []string{`metadata.labels."pod-security.kubernetes.io/enforce"`, "metadata.labels.pod-security.kubernetes.io/enforce"}, nil},
		"a label":       {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}}", []string{"metadata.labels.rbac.authorization.k8s.io/aggregate-to-view", "metadata.labels"}, nil},
		"a custom kind": {"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: i, envFrom: [{secretRef: {name: root}}], env: [{name: PW, value: x}]}]}}}}", []string{`spec.template.spec.containers[name="c"].image`, `spec.template.spec.containers[name="c"].envFrom[0].secretRef.name`, `spec.template.spec.containers[name="c"].env[name="PW"].value`}, []string{`spec.template.spec.containers[name="c"].env[name="PW"].value`, `spec.template.spec.containers[name="c"].image`}},
		"a workload":    {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {serviceAccountName: root, containers: [{name: c, image: i, env: [{name: PW, value: x}], securityContext: {runAsUser: 0}}], volumes: [{name: h, hostPath: {path: /}}]}}}}", []string{"spec", "spec.template.spec.serviceAccountName", `spec.template.spec.containers[name="c"].image`, `spec.template.spec.containers[name="c"].env[name="PW"].value`, `spec.template.spec.containers[name="c"].securityContext.runAsUser`, `spec.template.spec.volumes[name="h"].hostPath.path`}, []string{`spec.template.spec.containers[name="c"].env[name="PW"].value`, `spec.template.spec.containers[name="c"].image`}},
	} {
		o := Object{Body: yamlMap(t, c.body), Sensitive: c.claims}
		if got := o.Claimed().Sensitive; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for text, c := range map[string]struct {
		body  string
		wants []string
		hides []string
	}{
		"a custom kind":  {"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a, labels: {team: t}}, spec: {template: {spec: {containers: [{name: c, image: i, command: [sh, evil], env: [{name: PW, value: x}]}]}}}}", []string{"a", "t", "i", "sh"}, []string{`spec.template.spec.containers[name="c"].command[1]`}},
		"an image":       {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {serviceAccountName: s, containers: [{name: d, image: x, command: [sh]}, {name: c, image: i}]}}}}", []string{"a", "s", "sh", "x"}, []string{`spec.template.spec.containers[name="c"].image`}},
		"what is data":   {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {image: x}}", []string{"a"}, nil},
		"a role's label": {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}}", []string{"a", "true", "ClusterRole", "rbac.authorization.k8s.io/v1"}, nil},
	} {
		o := Object{Body: yamlMap(t, c.body), Sensitive: []string{`spec.template.spec.containers[name="c"].command[1]`, "data.image"}}
		if text == "an image" {
			o.Sensitive = []string{`spec.template.spec.containers[name="c"].image`}
		}
		slices.Sort(c.wants)
		never, runs, hidden := o.Open()
		open := slices.Concat(never, runs)
		if slices.Sort(open); !slices.Equal(slices.Compact(open), c.wants) || !slices.Equal(hidden, c.hides) {
			t.Errorf("%s: shows %q, want %q, hides %q, want %q", text, open, c.wants, hidden, c.hides)
		}
	}
	named := Object{Body: yamlMap(t, "{apiVersion: x.io/v1, kind: W, metadata: {name: a}, spec: {containers: [{name: hush, image: hush}], users: {hush: {command: [x, hush]}}}}")}
	hush := func(text string) string { return strings.ReplaceAll(text, "hush", "***") }
	named.Sensitive = named.MarkSecrets(hush, hush, func(key string) bool { return key == "hush" }).Sensitive
	if _, _, hidden := named.Open(); !slices.Equal(hidden, []string{"spec.containers[0].image", "spec.users[0].command[1]"}) {
		t.Errorf("a secret names what runs: %q", hidden)
	}
	for body, want := range map[string]bool{
		"{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {pod-security.kubernetes.io/enforce: privileged}}}": true,
		"{apiVersion: v1, kind: Namespace, metadata: {name: a}}":                                                           false,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a, namespace: n}}":                        true,
	} {
		if got := (Object{Body: yamlMap(t, body)}).Grants(); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
	o := Object{Body: yamlMap(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: n}, roleRef: {name: admin}}")}
	if got, _, _ := o.Open(); !slices.Contains(got, "admin") || !slices.Contains(got, "a") {
		t.Errorf("%q", got)
	}
}
