package controlplane

import (
	"context"
	"errors"
	"strings"

	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kcmoptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	sched "k8s.io/kubernetes/pkg/scheduler"
)

// alwaysControllers run in every cluster: without them namespaces cannot be deleted, owned objects stay behind,
// and service accounts and aggregated roles never come.
var alwaysControllers = []string{
	names.NamespaceController,
	names.GarbageCollectorController,
	names.ServiceAccountController,
	names.ServiceAccountTokenController,
	names.RootCACertificatePublisherController,
	names.ClusterRoleAggregationController,
}

// workloadControllers run with workloads. The node lifecycle controller is left out on purpose: after a pause it
// would find the nodes' heartbeats too old and evict everything.
var workloadControllers = []string{
	names.DeploymentController,
	names.ReplicaSetController,
	names.ReplicationControllerController,
	names.StatefulSetController,
	names.DaemonSetController,
	names.JobController,
	names.CronJobController,
	names.EndpointsController,
	names.EndpointSliceController,
	names.EndpointSliceMirroringController,
	names.DisruptionController,
	names.HorizontalPodAutoscalerController,
	names.ResourceQuotaController,
	names.PodGarbageCollectorController,
	names.PersistentVolumeBinderController,
	names.PersistentVolumeClaimProtectionController,
	names.PersistentVolumeProtectionController,
	names.EphemeralVolumeController,
	names.TTLAfterFinishedController,
}

func runControllerManager(ctx context.Context, c Config) error {
	s, err := kcmoptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	all, off, aliases := kcm.KnownControllers(), kcm.ControllersDisabledByDefault(), kcm.ControllerAliases()
	if err := parse("kube-controller-manager", s.Flags(all, off, aliases), controllerManagerArgs(c)); err != nil {
		return err
	}
	cfg, err := s.Config(ctx, all, off, aliases)
	if err != nil {
		return err
	}
	if err := kcm.Run(ctx, cfg.Complete()); err != nil {
		return err
	}
	return errors.New("ended by itself")
}

func controllerManagerArgs(c Config) []string {
	controllers := alwaysControllers
	if c.Workloads {
		controllers = append(append([]string{}, controllers...), workloadControllers...)
	}
	kubeconfig := c.file(KubeconfigFor(UserControllerManager))
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--controllers=" + strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		// Its certificate is an administrator's, so that it needs no service account per controller.
		"--use-service-account-credentials=false",
		"--service-account-private-key-file=" + c.file(SigningPair+".key"),
		"--root-ca-file=" + c.CAFile,
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--concurrent-gc-syncs=5",
		"--namespace-sync-period=5m",
		"--min-resync-period=24h",
		"--controller-start-interval=0s",
		"--enable-dynamic-provisioning=false",
		"--profiling=false",
	}
}

// kubeScheduler is a scheduler that is set up and does not run yet.
type kubeScheduler struct {
	config    *schedulerconfig.CompletedConfig
	scheduler *sched.Scheduler
}

func newScheduler(ctx context.Context, c Config) (kubeScheduler, error) {
	opts := scheduleroptions.NewOptions()
	err := parse("kube-scheduler", *opts.Flags, []string{
		"--kubeconfig=" + c.file(KubeconfigFor(UserScheduler)),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--profiling=false",
	})
	if err != nil {
		return kubeScheduler{}, err
	}
	config, s, err := scheduler.Setup(ctx, opts)
	return kubeScheduler{config, s}, err
}

func (k kubeScheduler) run(ctx context.Context, _ Config) error {
	return scheduler.Run(ctx, k.config, k.scheduler)
}
