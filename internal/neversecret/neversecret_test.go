package neversecret

import (
	"slices"
	"strings"
	"testing"
)

// TestPlace: what says what runs, as whom, with whose secrets, and who may do what is never secret, in any kind; data may be.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		kind, path string // a path's items of lists are []
		never      bool
		runs       bool
	}{
		{"rbac.authorization.k8s.io/ClusterRole", "metadata labels rbac.authorization.k8s.io/aggregate-to-view", true, false},
		{"rbac.authorization.k8s.io/ClusterRole", "metadata annotations pw", false, false},
		{"rbac.authorization.k8s.io/ClusterRole", "rules [] verbs []", true, false},
		{"admissionregistration.k8s.io/MutatingWebhookConfiguration", "webhooks [] clientConfig url", false, false},
		{"/Namespace", "metadata labels pod-security.kubernetes.io/enforce", true, false},
		{"/ServiceAccount", "metadata annotations eks.amazonaws.com/role-arn", true, false},
		{"/ServiceAccount", "metadata annotations note", false, false},
		{"/ServiceAccount", "imagePullSecrets [] name", true, false},
		{"networking.k8s.io/NetworkPolicy", "spec ingress [] from [] ipBlock cidr", true, false},
		{"/ConfigMap", "metadata name", true, false},
		{"/ConfigMap", "data image", false, false},
		{"/ConfigMap", "data command", false, false},
		{"/Secret", "stringData secretName", false, false},
		{"apps/Deployment", "spec template spec containers [] envFrom [] secretRef name", true, false},
		{"apps/Deployment", "spec template spec containers [] env [] valueFrom secretKeyRef name", true, false},
		{"apps/Deployment", "spec template spec containers [] env [] value", false, false},
		{"apps/Deployment", "spec template spec containers [] env [] name", false, false},
		{"apps/Deployment", "spec template spec volumes [] secret secretName", true, false},
		{"apps/Deployment", "spec template spec volumes [] hostPath path", true, false},
		{"apps/Deployment", "spec template metadata annotations container.apparmor.security.beta.kubernetes.io/web", false, false},
		{"/Pod", "metadata annotations container.apparmor.security.beta.kubernetes.io/web", true, false},
		{"apps/Deployment", "spec template spec containers [] command []", false, true},
		{"apps/Deployment", "spec template spec containers [] livenessProbe exec command []", false, true},
		{"argoproj.io/Rollout", "spec template spec containers [] image", true, false},
		{"serving.knative.dev/Service", "spec template spec containers [] securityContext runAsUser", true, false},
		{"serving.knative.dev/Service", "spec template spec containers [] args []", false, true},
		{"example.com/Widget", "spec password", false, false},
		{"example.com/Widget", "", false, false},
		{"example.com/Widget", "metadata", false, false},
	} {
		group, kind, _ := strings.Cut(c.kind, "/")
		var path []string
		for _, step := range strings.Fields(c.path) {
			path = append(path, strings.TrimSuffix(step, "[]"))
		}
		if got := Place(group, kind, path); got != c.never {
			t.Errorf("%s %s: never secret %t", c.kind, c.path, got)
		}
		if got := Runs(group, kind, path); got != c.runs {
			t.Errorf("%s %s: runs %t", c.kind, c.path, got)
		}
	}
	privileged := map[string]any{"pod-security.kubernetes.io/enforce": "privileged"}
	if !Admits("", "Namespace", privileged) || Admits("", "Namespace", map[string]any{"team": "a"}) || Admits("", "ConfigMap", privileged) {
		t.Error("what labels of a Namespace let run is not told")
	}
}

// TestNamed: names, labels, selectors, keys of references and ports are no secret by what they are; values, data and annotations may be one.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		kind, path string
		named      bool
	}{
		{"apps/Deployment", "metadata labels app", true},
		{"apps/Deployment", "metadata annotations note", false},
		{"apps/Deployment", "spec selector matchLabels app", true},
		{"apps/Deployment", "spec template metadata labels app", true},
		{"apps/Deployment", "spec template metadata annotations labels", false},
		{"apps/Deployment", "spec template spec containers [] name", true},
		{"apps/Deployment", "spec template spec containers [] image", true},
		{"apps/Deployment", "spec template spec containers [] ports [] containerPort", true},
		{"apps/Deployment", "spec template spec containers [] ports [] name", true},
		{"apps/Deployment", "spec template spec containers [] env [] valueFrom secretKeyRef key", true},
		{"apps/Deployment", "spec template spec volumes [] secret items [] key", true},
		{"apps/Deployment", "spec template spec containers [] env [] value", false},
		{"apps/Deployment", "spec template spec containers [] args []", false},
		{"/Service", "spec selector app", true},
		{"/Service", "spec ports [] targetPort", true},
		{"networking.k8s.io/Ingress", "spec rules [] http paths [] backend service port number", true},
		{"networking.k8s.io/Ingress", "spec rules [] host", false},
		{"example.com/Widget", "spec key", false},
		{"example.com/Widget", "spec number", false},
		{"/ConfigMap", "data name", false},
		{"/Secret", "data port", false},
		{"example.com/Widget", "", false},
	} {
		group, kind, _ := strings.Cut(c.kind, "/")
		var path []string
		for _, step := range strings.Fields(c.path) {
			path = append(path, strings.TrimSuffix(step, "[]"))
		}
		if got := Named(group, kind, path); got != c.named {
			t.Errorf("%s %s: named %t", c.kind, c.path, got)
		}
	}
}

// TestAt: a path is read as plans write it.
func TestAt(t *testing.T) {
	for path, want := range map[string]bool{
		"spec.template.spec.containers[web].image":                     true,
		"spec.template.spec.containers[web].env[PW].value":             false,
		"spec.template.spec.containers[a.b].envFrom[0].secretRef.name": true,
		`metadata.labels."app.kubernetes.io/name"`:                     true,
		`metadata.annotations."example.com/image"`:                     false,
		`metadata.annotations."open`:                                   false,
		"spec.containers[open":                                         false,
		"":                                                             false,
		"..image":                                                      true,
	} {
		if got := At("apps", "Deployment", path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// Steps reads a path as it is written: what is in quotes is one name, whatever is in it, and what is in brackets one item.
func TestStepsOfQuotes(t *testing.T) {
	for path, want := range map[string][]string{
		`spec."a\".hostPath.b"`:                    {"spec", `a".hostPath.b`},
		`spec.containers["x].hostPath.y"].env`:     {"spec", "containers", "", "env"},
		`spec.containers["x\"].image"].env[A]`:     {"spec", "containers", "", "env", ""},
		`metadata.labels."app.kubernetes.io/name"`: {"metadata", "labels", "app.kubernetes.io/name"},
		`spec."open.image`:                         {"spec", `"open.image`},
		`spec.args[`:                               {"spec", "args", ""},
	} {
		if got := Steps(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
