package controlplane

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwokclient "sigs.k8s.io/kwok/pkg/utils/client"
)

//go:embed stages/*.yaml
var stageFiles embed.FS

// StorageClass is the default storage class of a cluster with workloads; kwok binds its claims at once.
const StorageClass = "standard"

func runKwok(ctx context.Context, c Config) error {
	ctx = kwoklog.NewContext(ctx, kwoklog.NewLogger(os.Stderr, slog.LevelError))
	cfg, err := c.client(UserKwok)
	if err != nil {
		return err
	}
	cfg.UserAgent = "kwok"
	typed, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	if err := createStorageClass(ctx, typed); err != nil {
		return err
	}
	ctr, err := newKwok(c, typed)
	if err != nil {
		return err
	}
	if err := ctr.Start(ctx); err != nil {
		return err
	}
	for i := 1; i <= c.Nodes; i++ {
		if err := createNode(ctx, typed, fmt.Sprintf("node-%d", i)); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

func newKwok(c Config, typed kubernetes.Interface) (*controllers.Controller, error) {
	stages, err := loadStages()
	if err != nil {
		return nil, err
	}
	set, err := kwokclient.NewClientset("", c.file(KubeconfigFor(UserKwok)))
	if err != nil {
		return nil, err
	}
	dynamic, err := set.ToDynamicClient()
	if err != nil {
		return nil, err
	}
	mapper, err := set.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	own, err := set.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	restClient, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, err
	}
	return controllers.NewController(controllers.Config{
		Clock:                      clock.RealClock{},
		DynamicClient:              dynamic,
		RESTClient:                 restClient,
		RESTMapper:                 mapper,
		ImpersonatingDynamicClient: set.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:   set.ToImpersonatingTypedClient(),
		TypedClient:                typed,
		ManageAllNodes:             true,
		CIDR:                       "10.244.0.0/16",
		NodeIP:                     "10.0.0.1",
		LocalStages:                stages,
		PodPlayStageParallelism:    4,
		NodePlayStageParallelism:   1,
		PodsOnNodeSyncParallelism:  1,
		ID:                         "hawser-sandbox",
	})
}

// loadStages reads the embedded stages, which say how simulated nodes, pods and volumes move on.
func loadStages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	entries, err := stageFiles.ReadDir("stages")
	if err != nil {
		return nil, err
	}
	out := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, e := range entries {
		raw, err := stageFiles.ReadFile("stages/" + e.Name())
		if err != nil {
			return nil, err
		}
		stage, err := config.UnmarshalWithType[*internalversion.Stage](raw)
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", e.Name(), err)
		}
		out[stage.Spec.ResourceRef] = append(out[stage.Spec.ResourceRef], stage)
	}
	return out, nil
}

func createStorageClass(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:       "kwok.x-k8s.io/volume",
		ReclaimPolicy:     ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate),
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// createNode registers a simulated node; kwok then reports it ready.
func createNode(ctx context.Context, client kubernetes.Interface, name string) error {
	size := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("32"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1000"),
	}
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				corev1.LabelTopologyRegion: "sandbox", corev1.LabelTopologyZone: "sandbox-" + name,
				"type": "kwok",
			},
			Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0", "kwok.x-k8s.io/node": "fake"},
		},
		Spec: corev1.NodeSpec{ProviderID: "kwok://" + name},
		Status: corev1.NodeStatus{Capacity: size, Allocatable: size, NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: version.Get().GitVersion, OperatingSystem: "linux", Architecture: "amd64",
			ContainerRuntimeVersion: "kwok://0.8.0", OSImage: "simulated by kwok",
		}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return removeNotReadyTaint(ctx, client, name)
}

// removeNotReadyTaint takes away the taint with which the API server admits new nodes; in other clusters the node
// lifecycle controller does it.
func removeNotReadyTaint(ctx context.Context, client kubernetes.Interface, name string) error {
	for {
		_, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
