package health

import (
	"strings"
	"sync"

	"hawser.dev/hawser/internal/object"
)

// builtin is a row of the table of built-in rules: what the controllers of well-known custom resources write into their
// status. A ready that is one word is a condition that has to be True, with its message as the reason; everything else
// is CEL. What reaches failed is not tried again by its controller; what is tried again is progressing.
type builtin struct {
	group string // may be a glob
	kinds string // separated by spaces; "" is every kind of the group that no row before is for
	ready string
	// failed and message are optional.
	failed, message string
}

// parents says of a route that every parent took it.
const parents = `self.status.parents.size() > 0 && self.status.parents.all(p, ["Accepted", "ResolvedRefs"].all(t,
	p.conditions.exists(c, c.type == t && c.status == "True" &&
		(!has(c.observedGeneration) || c.observedGeneration >= self.metadata.generation))))`

// table has one row per kind and controller; the sources are the API references of the projects named.
var table = []builtin{
	// cert-manager
	{"cert-manager.io", "Certificate", "Ready", `condition(self, "Issuing").status == "False" && condition(self, "Issuing").reason == "Failed" && condition(self, "Ready").status != "True"`,
		`condition(self, "Issuing").status == "False" ? condition(self, "Issuing").message : condition(self, "Ready").message`},
	{"cert-manager.io", "CertificateRequest", "Ready", `condition(self, "InvalidRequest").status == "True" || condition(self, "Ready").reason in ["Failed", "Denied"]`, ""},
	{"cert-manager.io", "Issuer ClusterIssuer", "Ready", "", ""},
	{"acme.cert-manager.io", "Order Challenge", `self.status.state == "valid"`, `self.status.state in ["invalid", "errored", "expired"]`, `self.status.reason`},
	// External Secrets, Sealed Secrets
	{"external-secrets.io", "ExternalSecret ClusterExternalSecret SecretStore ClusterSecretStore PushSecret", "Ready", "", ""},
	{"bitnami.com", "SealedSecret", "Synced", `condition(self, "Synced").status == "False"`, ""},
	// Argo: Rollouts write their generation as text
	{"argoproj.io", "Rollout", `self.status.phase == "Healthy" && (!has(self.status.observedGeneration) || self.status.observedGeneration == string(self.metadata.generation))`,
		`self.status.phase == "Degraded" && self.status.observedGeneration == string(self.metadata.generation)`, `self.status.phase + ": " + self.status.message`},
	{"argoproj.io", "Application", `self.status.health.status == "Healthy" && self.status.sync.status == "Synced"`, `self.status.health.status == "Degraded"`,
		`"health " + self.status.health.status + ", sync " + self.status.sync.status`},
	{"argoproj.io", "Workflow", `self.status.phase == "Succeeded"`, `self.status.phase in ["Failed", "Error"]`, `self.status.phase + ": " + self.status.message`},
	{"argoproj.io", "AnalysisRun", `self.status.phase == "Successful"`, `self.status.phase in ["Failed", "Error", "Inconclusive"]`, `self.status.phase + ": " + self.status.message`},
	// Flux: what is suspended stays as it is; a Helm repository of type oci has no status
	{"source.toolkit.fluxcd.io", "HelmRepository", `has(self.spec.type) && self.spec.type == "oci" || has(self.spec.suspend) && self.spec.suspend || condition(self, "Ready").status == "True"`,
		`condition(self, "Stalled").status == "True"`, `condition(self, "Ready").message`},
	{"*.toolkit.fluxcd.io", "Kustomization HelmRelease GitRepository OCIRepository HelmChart Bucket ImageRepository ImagePolicy ImageUpdateAutomation Receiver",
		`has(self.spec.suspend) && self.spec.suspend || condition(self, "Ready").status == "True"`, `condition(self, "Stalled").status == "True"`, `condition(self, "Ready").message`},
	// Knative: Unknown is on its way, False is the end
	{"serving.knative.dev", "Service Route Configuration Revision", "Ready", `condition(self, "Ready").status == "False"`, ""},
	{"eventing.knative.dev", "Broker Trigger", "Ready", `condition(self, "Ready").status == "False"`, ""},
	// Gateway API
	{"gateway.networking.k8s.io", "GatewayClass", "Accepted", `condition(self, "Accepted").reason in ["InvalidParameters", "UnsupportedVersion"]`, ""},
	{"gateway.networking.k8s.io", "Gateway", `condition(self, "Accepted").status == "True" && condition(self, "Programmed").status == "True"`,
		`condition(self, "Accepted").status == "False" && condition(self, "Accepted").reason in ["Invalid", "InvalidParameters", "UnsupportedAddress"]`,
		`condition(self, "Accepted").status == "True" ? condition(self, "Programmed").message : condition(self, "Accepted").message`},
	{"gateway.networking.k8s.io", "HTTPRoute GRPCRoute TLSRoute TCPRoute UDPRoute", parents, "", `"not every parent has accepted the route"`},
	// Crossplane: packages, definitions, then managed resources and claims
	{"pkg.crossplane.io", "Provider Configuration Function", `condition(self, "Installed").status == "True" && condition(self, "Healthy").status == "True"`, "",
		`condition(self, "Installed").status != "True" ? condition(self, "Installed").message : condition(self, "Healthy").message`},
	{"apiextensions.crossplane.io", "CompositeResourceDefinition", `condition(self, "Established").status == "True" && (!has(self.spec.claimNames) || condition(self, "Offered").status == "True")`, "", `condition(self, "Established").message`},
	{"apiextensions.crossplane.io", "Composition CompositionRevision EnvironmentConfig", "true", "", ""},
	{"pkg.crossplane.io", "ControllerConfig DeploymentRuntimeConfig Lock ImageConfig", "true", "", ""},
	{"*.crossplane.io", "ProviderConfig ProviderConfigUsage ClusterProviderConfig", "true", "", ""},
	{"*.upbound.io", "ProviderConfig ProviderConfigUsage ClusterProviderConfig", "true", "", ""},
	{"*.crossplane.io", "", `condition(self, "Synced").status == "True" && condition(self, "Ready").status == "True"`, "",
		`condition(self, "Synced").status == "False" ? condition(self, "Synced").message : condition(self, "Ready").message`},
	{"*.upbound.io", "", `condition(self, "Synced").status == "True" && condition(self, "Ready").status == "True"`, "",
		`condition(self, "Synced").status == "False" ? condition(self, "Synced").message : condition(self, "Ready").message`},
	// Cluster API: Available since v1beta2, Ready before
	{"cluster.x-k8s.io", "Cluster MachineDeployment MachineSet MachinePool", `condition(self, "Available").status == "True" || condition(self, "Available").status == "Unknown" && condition(self, "Ready").status == "True"`,
		`has(self.status.phase) && self.status.phase == "Failed"`, `condition(self, "Ready").message`},
	{"cluster.x-k8s.io", "Machine", `self.status.phase == "Running" && condition(self, "Ready").status == "True"`, `self.status.phase == "Failed"`, `condition(self, "Ready").message`},
	{"controlplane.cluster.x-k8s.io", "KubeadmControlPlane", `condition(self, "Available").status == "True" && self.status.readyReplicas == self.spec.replicas && self.status.replicas == self.spec.replicas`, "", `condition(self, "Ready").message`},
	// Strimzi
	{"kafka.strimzi.io", "Kafka KafkaTopic KafkaUser KafkaConnect KafkaConnector KafkaMirrorMaker2 KafkaBridge", "Ready", "",
		`condition(self, "NotReady").status == "True" ? condition(self, "NotReady").message : "not ready yet"`},
	// databases
	{"postgresql.cnpg.io", "Cluster", `condition(self, "Ready").status == "True" && self.status.readyInstances == self.spec.instances`, "", `self.status.phase`},
	{"postgresql.cnpg.io", "Backup", `self.status.phase == "completed"`, `self.status.phase == "failed"`, `self.status.error`},
	{"postgresql.cnpg.io", "Database Publication Subscription", `self.status.applied`, "", `self.status.message`},
	{"acid.zalan.do", "postgresql", `self.status.PostgresClusterStatus == "Running"`, `self.status.PostgresClusterStatus in ["CreateFailed", "UpdateFailed", "SyncFailed", "Invalid"]`, `self.status.PostgresClusterStatus`},
	{"postgres-operator.crunchydata.com", "PostgresCluster", `self.status.instances.size() > 0 && self.status.instances.all(i, i.readyReplicas == i.replicas && i.updatedReplicas == i.replicas)`, "", `"not every instance is ready"`},
	{"*.percona.com", "PerconaXtraDBCluster PerconaServerMongoDB PerconaPGCluster PerconaServerMySQL", `self.status.state == "ready"`, `self.status.state == "error"`, `"state " + self.status.state`},
	{"mongodbcommunity.mongodb.com", "MongoDBCommunity", `self.status.phase == "Running"`, `self.status.phase == "Failed"`, `self.status.message`},
	{"rabbitmq.com", "RabbitmqCluster", `condition(self, "AllReplicasReady").status == "True" && condition(self, "ReconcileSuccess").status == "True"`, "",
		`condition(self, "ReconcileSuccess").status == "False" ? condition(self, "ReconcileSuccess").message : condition(self, "AllReplicasReady").message`},
	// Elastic: a single node is yellow when it is well
	{"elasticsearch.k8s.elastic.co", "Elasticsearch", `self.status.phase == "Ready" && self.status.health in ["green", "yellow"]`, `self.status.phase == "Invalid"`, `"phase " + self.status.phase + ", health " + self.status.health`},
	{"*.k8s.elastic.co", "Kibana ApmServer EnterpriseSearch Beat Agent ElasticMapsServer Logstash", `self.status.health == "green"`, "", `"health " + self.status.health`},
	// monitoring and scaling
	{"monitoring.coreos.com", "Prometheus PrometheusAgent Alertmanager ThanosRuler", `condition(self, "Available").status == "True" && condition(self, "Reconciled").status != "False"`, "",
		`condition(self, "Reconciled").status == "False" ? condition(self, "Reconciled").message : condition(self, "Available").message`},
	{"keda.sh", "ScaledObject ScaledJob", "Ready", "", ""},
	{"karpenter.sh", "NodePool NodeClaim", "Ready", "", ""},
	{"kyverno.io", "ClusterPolicy Policy", "Ready", "", ""},
	// storage, backups, virtual machines
	{"snapshot.storage.k8s.io", "VolumeSnapshot VolumeSnapshotContent", `self.status.readyToUse`, "", `self.status.error.message`},
	{"ceph.rook.io", "CephCluster CephBlockPool CephFilesystem CephObjectStore", `self.status.phase == "Ready"`, `self.status.phase == "Failure"`, `"phase " + self.status.phase`},
	{"velero.io", "Backup Restore", `self.status.phase == "Completed"`, `self.status.phase in ["Failed", "PartiallyFailed", "FailedValidation"]`, `"phase " + self.status.phase`},
	{"velero.io", "BackupStorageLocation", `self.status.phase == "Available"`, "", `self.status.message`},
	{"cdi.kubevirt.io", "DataVolume", `self.status.phase == "Succeeded"`, `self.status.phase == "Failed"`, `"phase " + self.status.phase`},
	{"kubevirt.io", "VirtualMachine", `self.status.printableStatus in ["Running", "Stopped"] && (self.status.printableStatus == "Stopped" || condition(self, "Ready").status == "True")`, "", `self.status.printableStatus`},
	// runs and operators
	{"tekton.dev", "PipelineRun TaskRun", "Succeeded", `condition(self, "Succeeded").status == "False"`, ""},
	{"sparkoperator.k8s.io", "SparkApplication", `self.status.applicationState.state in ["RUNNING", "COMPLETED"]`, `self.status.applicationState.state in ["FAILED", "SUBMISSION_FAILED"] && !has(self.spec.restartPolicy)`, `self.status.applicationState.errorMessage`},
	{"ray.io", "RayCluster", `self.status.state == "ready"`, `self.status.state == "failed"`, `self.status.reason`},
	{"ray.io", "RayJob", `self.status.jobDeploymentStatus == "Complete"`, `self.status.jobDeploymentStatus == "Failed"`, `self.status.message`},
	{"operators.coreos.com", "ClusterServiceVersion", `self.status.phase == "Succeeded"`, `self.status.phase == "Failed"`, `self.status.message`},
	{"operators.coreos.com", "Subscription", `self.status.state == "AtLatestKnown"`, "", `self.status.state`},
}

// builtins are the built-in rules for an object: at most one, the first row of the table that is for it.
func builtins(r object.Ref) []Check {
	if !r.Custom() {
		return nil
	}
	for _, c := range builtinChecks() {
		if c.For(r) {
			return []Check{c}
		}
	}
	return nil
}

// builtinChecks is the table as rules.
var builtinChecks = sync.OnceValue(func() []Check {
	var out []Check
	for _, b := range table {
		e := Expressions{Ready: b.ready, Failed: b.failed, Message: b.message}
		if !strings.ContainsAny(b.ready, " .(") && b.ready != "true" {
			e.Ready = `condition(self, "` + b.ready + `").status == "True"`
			if b.message == "" {
				e.Message = `condition(self, "` + b.ready + `").message`
			}
		}
		kinds := strings.Fields(b.kinds)
		if len(kinds) == 0 {
			kinds = []string{""}
		}
		for _, k := range kinds {
			out = append(out, Check{Group: b.group, Kind: k, CEL: &e, Layer: BuiltIn})
		}
	}
	return out
})

// BuiltIns are the built-in rules, for checkers that want to see whether all of them compile.
func BuiltIns() []Check { return builtinChecks() }
