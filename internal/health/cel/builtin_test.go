package cel

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/health"
)

// status is an object of a kind with a status, as its controller writes it.
func status(group, kind, rest string) string {
	return "apiVersion: " + group + "/v1\nkind: " + kind + "\nmetadata: {name: x, namespace: y, generation: 2}\n" + rest
}

const (
	readyTrue  = "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True', reason: Ok, message: fine}]}"
	readyFalse = "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: Bad, message: not so}]}"
	readyOld   = "status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True', reason: Ok, message: fine}]}"
	notSeen    = "its controller has not seen the change yet"
)

// builtInCases are statuses as the controllers' documentation shows them.
var builtInCases = []struct {
	group, kind, rest string
	state             health.State
	reason            string
}{
	{"cert-manager.io", "Certificate", "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2, reason: Ready}]}", health.Ready, ""},
	{"cert-manager.io", "Certificate", "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1, reason: Ready}]}", health.Progressing, notSeen},
	{"cert-manager.io", "Certificate", "status: {conditions: [{type: Issuing, status: 'True'}, {type: Ready, status: 'False', reason: DoesNotExist, message: Issuing certificate as Secret does not exist}]}",
		health.Progressing, "Issuing certificate as Secret does not exist"},
	{"cert-manager.io", "Certificate", "status: {conditions: [{type: Issuing, status: 'False', reason: Failed, message: denied by policy}, {type: Ready, status: 'False'}]}", health.Failed, "denied by policy"},
	{"cert-manager.io", "CertificateRequest", "status: {conditions: [{type: Ready, status: 'False', reason: Denied, message: not allowed}]}", health.Failed, "not allowed"},
	{"cert-manager.io", "ClusterIssuer", readyFalse, health.Progressing, "not so"},
	{"acme.cert-manager.io", "Order", "status: {state: pending}", health.Progressing, "not ready yet"},
	{"acme.cert-manager.io", "Challenge", "status: {state: invalid, reason: wrong status code 404}", health.Failed, "wrong status code 404"},
	{"external-secrets.io", "ExternalSecret", "status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get secret}]}", health.Progressing, "could not get secret"},
	{"external-secrets.io", "SecretStore", readyTrue, health.Ready, ""},
	{"bitnami.com", "SealedSecret", "status: {observedGeneration: 2, conditions: [{type: Synced, status: 'False', message: no key could decrypt secret}]}", health.Failed, "no key could decrypt secret"},
	{"argoproj.io", "Rollout", "status: {phase: Healthy, observedGeneration: '2'}", health.Ready, ""},
	{"argoproj.io", "Rollout", "status: {phase: Healthy, observedGeneration: '1'}", health.Progressing, "not ready yet"},
	{"argoproj.io", "Rollout", "status: {phase: Degraded, observedGeneration: '2', message: 'ProgressDeadlineExceeded'}", health.Failed, "Degraded: ProgressDeadlineExceeded"},
	{"argoproj.io", "Application", "status: {health: {status: Healthy}, sync: {status: OutOfSync}}", health.Progressing, "health Healthy, sync OutOfSync"},
	{"argoproj.io", "Workflow", "status: {phase: Failed, message: child failed}", health.Failed, "Failed: child failed"},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", readyTrue, health.Ready, ""},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", readyOld, health.Progressing, notSeen},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", "spec: {suspend: true}\nstatus: {observedGeneration: 1}", health.Ready, ""},
	{"helm.toolkit.fluxcd.io", "HelmRelease", "status: {observedGeneration: 2, conditions: [{type: Stalled, status: 'True'}, {type: Ready, status: 'False', message: retries exhausted}]}", health.Failed, "retries exhausted"},
	{"source.toolkit.fluxcd.io", "HelmRepository", "spec: {type: oci}", health.Ready, ""},
	{"source.toolkit.fluxcd.io", "OCIRepository", readyFalse, health.Progressing, "not so"},
	{"serving.knative.dev", "Service", "status: {observedGeneration: 2, conditions: [{type: Ready, status: Unknown, message: deploying}]}", health.Progressing, "deploying"},
	{"serving.knative.dev", "Service", readyFalse, health.Failed, "not so"},
	{"gateway.networking.k8s.io", "Gateway", "status: {conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: Programmed, status: 'False', observedGeneration: 2, message: no address}]}", health.Progressing, "no address"},
	{"gateway.networking.k8s.io", "Gateway", "status: {conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: Programmed, status: 'True', observedGeneration: 2}]}", health.Ready, ""},
	{"gateway.networking.k8s.io", "HTTPRoute", "status: {parents: [{conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: ResolvedRefs, status: 'True', observedGeneration: 2}]}]}", health.Ready, ""},
	{"gateway.networking.k8s.io", "HTTPRoute", "status: {parents: [{conditions: [{type: Accepted, status: 'True', observedGeneration: 1}, {type: ResolvedRefs, status: 'True', observedGeneration: 1}]}]}", health.Progressing, "not every parent has accepted the route"},
	{"gateway.networking.k8s.io", "HTTPRoute", "status: {parents: []}", health.Progressing, "not every parent has accepted the route"},
	{"pkg.crossplane.io", "Provider", "status: {conditions: [{type: Installed, status: 'True'}, {type: Healthy, status: 'False', message: unpacking}]}", health.Progressing, "unpacking"},
	{"s3.aws.upbound.io", "Bucket", "status: {conditions: [{type: Synced, status: 'True'}, {type: Ready, status: 'True'}]}", health.Ready, ""},
	{"s3.aws.upbound.io", "Bucket", "status: {conditions: [{type: Synced, status: 'False', message: cannot resolve references}, {type: Ready, status: 'False', message: creating}]}", health.Progressing, "cannot resolve references"},
	{"aws.upbound.io", "ProviderConfig", "spec: {}", health.Ready, ""},
	{"cluster.x-k8s.io", "Cluster", "status: {phase: Provisioned, conditions: [{type: Ready, status: 'True'}]}", health.Ready, ""},
	{"cluster.x-k8s.io", "Cluster", "status: {phase: Provisioning, conditions: [{type: Available, status: 'False'}, {type: Ready, status: 'True'}]}", health.Progressing, "not ready yet"},
	{"cluster.x-k8s.io", "Machine", "status: {phase: Failed, conditions: [{type: Ready, status: 'False', message: no capacity}]}", health.Failed, "no capacity"},
	{"kafka.strimzi.io", "Kafka", readyTrue, health.Ready, ""},
	{"kafka.strimzi.io", "KafkaTopic", "status: {observedGeneration: 2, conditions: [{type: NotReady, status: 'True', message: replication factor too big}]}", health.Progressing, "replication factor too big"},
	{"postgresql.cnpg.io", "Cluster", "spec: {instances: 3}\nstatus: {phase: Setting up primary, readyInstances: 0, conditions: [{type: Ready, status: 'False'}]}", health.Progressing, "Setting up primary"},
	{"postgresql.cnpg.io", "Cluster", "spec: {instances: 3}\nstatus: {phase: Cluster in healthy state, readyInstances: 3, conditions: [{type: Ready, status: 'True'}]}", health.Ready, ""},
	{"acid.zalan.do", "postgresql", "status: {PostgresClusterStatus: CreateFailed}", health.Failed, "CreateFailed"},
	{"postgres-operator.crunchydata.com", "PostgresCluster", "status: {observedGeneration: 2, instances: [{name: a, replicas: 2, readyReplicas: 2, updatedReplicas: 2}]}", health.Ready, ""},
	{"pxc.percona.com", "PerconaXtraDBCluster", "status: {state: initializing}", health.Progressing, "state initializing"},
	{"rabbitmq.com", "RabbitmqCluster", "status: {conditions: [{type: AllReplicasReady, status: 'True'}, {type: ReconcileSuccess, status: 'True'}]}", health.Ready, ""},
	{"elasticsearch.k8s.elastic.co", "Elasticsearch", "status: {phase: ApplyingChanges, health: yellow, observedGeneration: 2}", health.Progressing, "phase ApplyingChanges, health yellow"},
	{"elasticsearch.k8s.elastic.co", "Elasticsearch", "status: {phase: Ready, health: green, observedGeneration: 2}", health.Ready, ""},
	{"kibana.k8s.elastic.co", "Kibana", "status: {health: red}", health.Progressing, "health red"},
	{"monitoring.coreos.com", "Prometheus", "status: {conditions: [{type: Available, status: 'True'}, {type: Reconciled, status: 'False', message: bad rule}]}", health.Progressing, "bad rule"},
	{"monitoring.coreos.com", "ServiceMonitor", "spec: {}", health.Ready, ""},
	{"keda.sh", "ScaledObject", readyFalse, health.Progressing, "not so"},
	{"snapshot.storage.k8s.io", "VolumeSnapshot", "status: {readyToUse: false, error: {message: no class}}", health.Progressing, "no class"},
	{"snapshot.storage.k8s.io", "VolumeSnapshot", "status: {readyToUse: true}", health.Ready, ""},
	{"ceph.rook.io", "CephCluster", "status: {phase: Progressing}", health.Progressing, "phase Progressing"},
	{"velero.io", "Backup", "status: {phase: PartiallyFailed}", health.Failed, "phase PartiallyFailed"},
	{"cdi.kubevirt.io", "DataVolume", "status: {phase: ImportInProgress}", health.Progressing, "phase ImportInProgress"},
	{"kubevirt.io", "VirtualMachine", "status: {printableStatus: Stopped}", health.Ready, ""},
	{"tekton.dev", "PipelineRun", "status: {conditions: [{type: Succeeded, status: Unknown, reason: Running, message: 'Tasks Completed: 1'}]}", health.Progressing, "Tasks Completed: 1"},
	{"tekton.dev", "TaskRun", "status: {conditions: [{type: Succeeded, status: 'False', message: exit 1}]}", health.Failed, "exit 1"},
	{"operators.coreos.com", "ClusterServiceVersion", "status: {phase: Succeeded}", health.Ready, ""},
	{"ray.io", "RayJob", "status: {jobDeploymentStatus: Running}", health.Progressing, "not ready yet"},
	{"tekton.dev", "TaskRun", "spec: {}", health.Progressing, "not ready yet"},
	{"argoproj.io", "Application", "spec: {}", health.Progressing, "not known yet: no such key: status"},
}

func TestBuiltIns(t *testing.T) {
	checker := health.Checkers{CEL: new(Checker)}
	for _, c := range builtInCases {
		got := health.Of(object(t, status(c.group, c.kind, c.rest)), health.Rules{Checker: checker})
		if got.State != c.state || got.Reason != c.reason {
			t.Errorf("%s %s, %s: %+v, want %s %q", c.group, c.kind, c.rest, got, c.state, c.reason)
		}
	}
}

// Every built-in rule compiles, and nothing is ready that has no status, but what has none ever.
func TestBuiltInsCompile(t *testing.T) {
	checker := new(Checker)
	seen := map[string]bool{}
	for _, c := range health.BuiltIns() {
		name := c.Group + "/" + c.Kind
		if err := checker.Vet(c); err != nil || seen[name] {
			t.Errorf("%s: %v (twice: %v)", name, err, seen[name])
		}
		seen[name] = true
		st, ok, err := checker.Check(c, object(t, status(strings.TrimPrefix(c.Group, "*."), c.Kind, "spec: {}")))
		if c.CEL.Ready != "true" && (err != nil || !ok || st.State != health.Progressing) {
			t.Errorf("%s without a status: %+v %v", name, st, err)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d kinds", len(seen))
	}
}
