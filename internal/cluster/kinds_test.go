package cluster_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

// kindCase is one row of the table of what server-side apply does to kinds: how an object of a kind moves without being changed, and how it is
// changed. The rest of the object follows its apiVersion, kind and metadata.
type kindCase struct {
	kind, apiVersion, resource, rest string
	global                           bool
	// status is written as its controller would; "" where there is none.
	status string
	// edit changes a value of ours.
	edit string
}

const podTemplate = `
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: x, image: registry.example/x}], nodeSelector: {none: such}}`

var kindCases = []kindCase{
	{"ConfigMap", "v1", "configmaps", "data: {a: '1'}", false, "", `{"data":{"a":"2"}}`},
	{"Secret", "v1", "secrets", "data: {a: aGlkZGVu}", false, "", `{"data":{"a":"b3RoZXI="}}`},
	{"ServiceAccount", "v1", "serviceaccounts", "automountServiceAccountToken: false", false, "", `{"automountServiceAccountToken":true}`},
	{"ResourceQuota", "v1", "resourcequotas", "spec: {hard: {count/jobs.batch: '3'}}", false, `{"status":{"hard":{"count/jobs.batch":"7"}}}`, `{"spec":{"hard":{"count/jobs.batch":"4"}}}`},
	{"LimitRange", "v1", "limitranges", "spec: {limits: [{type: Container, max: {memory: 4Gi}}]}", false, "", `{"spec":{"limits":[{"type":"Container","max":{"memory":"5Gi"}}]}}`},
	{"Role", "rbac.authorization.k8s.io/v1", "roles", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", false, "", `{"rules":[]}`},
	{"ClusterRole", "rbac.authorization.k8s.io/v1", "clusterroles", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", true, "", `{"rules":[]}`},
	{"RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: x}\nsubjects: [{kind: ServiceAccount, name: x, namespace: NS}]", false, "", `{"subjects":[]}`},
	{"StorageClass", "storage.k8s.io/v1", "storageclasses", "provisioner: example.com/none\nallowVolumeExpansion: false", true, "", `{"allowVolumeExpansion":true}`},
	{"Service", "v1", "services", "spec: {ports: [{port: 80}], selector: {app: one}}", false, `{"status":{"conditions":[{"type":"Example","status":"True","reason":"Example","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, `{"spec":{"selector":{"app":"z"}}}`},
	{"PersistentVolumeClaim", "v1", "persistentvolumeclaims", "spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}", false, `{"status":{"phase":"Lost"}}`, `{"metadata":{"labels":{"ours":"theirs"}}}`},
	{"Namespace", "v1", "namespaces", "", true, `{"status":{"conditions":[{"type":"Example","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, `{"metadata":{"labels":{"ours":"theirs"}}}`},
	{"HorizontalPodAutoscaler", "autoscaling/v2", "horizontalpodautoscalers", "spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}", false, `{"status":{"currentReplicas":2,"desiredReplicas":2}}`, `{"spec":{"maxReplicas":5}}`},
	{"Deployment", "apps/v1", "deployments", "spec:\n  replicas: 0" + podTemplate, false, `{"status":{"collisionCount":3}}`, `{"spec":{"replicas":1}}`},
	{"StatefulSet", "apps/v1", "statefulsets", "spec:\n  replicas: 0\n  serviceName: x" + podTemplate, false, `{"status":{"collisionCount":3}}`, `{"spec":{"replicas":1}}`},
	{"DaemonSet", "apps/v1", "daemonsets", "spec:\n  minReadySeconds: 1" + podTemplate, false, `{"status":{"collisionCount":3}}`, `{"spec":{"minReadySeconds":2}}`},
	{"CronJob", "batch/v1", "cronjobs", "spec: {schedule: '0 0 1 1 *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: x, image: x}]}}}}}", false, `{"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}}`, `{"spec":{"suspend":false}}`},
	{"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", "spec: {minAvailable: 1, selector: {matchLabels: {app: none}}}", false, `{"status":{"currentHealthy":0,"desiredHealthy":1,"disruptionsAllowed":0,"expectedPods":5}}`, `{"spec":{"minAvailable":2}}`},
	{"Ingress", "networking.k8s.io/v1", "ingresses", "spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}", false, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`, `{"spec":{"defaultBackend":{"service":{"name":"y"}}}}`},
	{"NetworkPolicy", "networking.k8s.io/v1", "networkpolicies", "spec: {podSelector: {}, policyTypes: [Ingress]}", false, "", `{"spec":{"policyTypes":["Egress"]}}`},
	{"IngressClass", "networking.k8s.io/v1", "ingressclasses", "spec: {controller: example.com/x}", true, "", `{"metadata":{"labels":{"ours":"theirs"}}}`},
	{"PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", "value: 7\ndescription: ours", true, "", `{"description":"theirs"}`},
	{"CSIDriver", "storage.k8s.io/v1", "csidrivers", "spec: {requiresRepublish: false, attachRequired: false}", true, "", `{"spec":{"requiresRepublish":true}}`},
	{"RuntimeClass", "node.k8s.io/v1", "runtimeclasses", "handler: x", true, "", `{"metadata":{"labels":{"ours":"theirs"}}}`},
	{"ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "webhooks: []", true, "", `{"metadata":{"labels":{"ours":"theirs"}}}`},
}

// For every kind: what somebody else writes beside ours (status, annotations) is unchanged and costs no dry run; a
// value of ours that somebody changed is drift, however the kind counts generations. Facts F1, the table by kind.
func TestUnchangedAndDriftByKind(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	for _, c := range kindCases {
		t.Run(c.kind, func(t *testing.T) {
			gv, err := schema.ParseGroupVersion(c.apiVersion)
			if err != nil {
				t.Fatal(err)
			}
			gvr := gv.WithResource(c.resource)
			name, in := "x", ns
			where := ", namespace: NS"
			if c.global {
				name, in, where = ns+"-x", "", ""
			}
			all := objs(t, ns, "apiVersion: "+c.apiVersion+"\nkind: "+c.kind+"\nmetadata: {name: "+name+where+", labels: {ours: ours}}\n"+c.rest+"\n")
			b := newBundle(t)
			b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
			b.apply(t, s, all...)
			t.Cleanup(func() { b.delete(t, s) })
			quiet := func(when string) {
				t.Helper()
				from := f.AuditOffset(t, one)
				b.unchanged(t, s, all...)
				for _, e := range mine(f.Audit(t, one, from)) {
					if e.Method != "GET" {
						t.Errorf("%s: asked with a %s", when, e.Method)
					}
				}
			}
			quiet("as written")
			patch(t, "someone", gvr, in, name, `{"metadata":{"annotations":{"theirs":"1"}}}`)
			quiet("a foreign annotation")
			if c.status != "" {
				patch(t, "controller", gvr, in, name, c.status, "status")
				quiet("a status write")
			}
			patch(t, "kubectl-edit", gvr, in, name, c.edit)
			p, bodies := b.plan(t, s, all)
			if ch := only(t, p); ch.Action != plan.Update || ch.Code != plan.CodeDrift || !ch.Force {
				t.Fatalf("a value of ours was changed: %s %s, force %t", ch.Action, ch.Code, ch.Force)
			}
			mustOK(t, b.execute(t.Context(), s, p, bodies))
			quiet("after the correction")
		})
	}
}

// A custom resource without a status subresource: its status moves generation and resourceVersion, and is not ours.
func TestStatusOfACustomResourceWithoutSubresource(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	crd := strings.Replace(crontabs, "        type: object\n", "        type: object\n        x-kubernetes-preserve-unknown-fields: true\n", 1)
	all := objs(t, ns, crd+crontab)
	b := newBundle(t)
	b.apply(t, s, all...)
	t.Cleanup(func() { b.delete(t, s) })
	gvr := schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "crontabs"}
	before := get(t, gvr, ns, "one").GetGeneration()
	after := patch(t, "controller", gvr, ns, "one", `{"status":{"seen":1}}`).GetGeneration()
	if after == before {
		t.Fatalf("the generation did not move (%d): this shows nothing", after)
	}
	b.unchanged(t, s, all...)
	patch(t, "someone", gvr, ns, "one", `{"spec":{"schedule":"never"}}`)
	p, _ := b.plan(t, s, all)
	if ch := only(t, p); ch.Code != plan.CodeDrift {
		t.Errorf("%+v", ch)
	}
}
