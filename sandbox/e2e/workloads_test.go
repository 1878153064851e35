package e2e

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestWorkloads(t *testing.T) {
	b := newBox(t)
	begun := time.Now()
	b.ok(t, "up", "--clusters", "1", "--nodes", "2")
	t.Logf("a cluster with workloads ready after %s", time.Since(begun))
	c := b.client(t, "c1")

	t.Run("nodes", func(t *testing.T) {
		nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 2 || len(nodes.Items[0].Spec.Taints) != 0 || nodes.Items[0].Status.NodeInfo.KubeletVersion != "v1.36.3" {
			t.Errorf("nodes: %+v, %v", nodes, err)
		}
	})
	t.Run("a deployment becomes ready", func(t *testing.T) {
		deploy(t, c, "fine", "registry.example/app:1")
		eventually(t, 20*time.Second, "2 replicas ready", func() bool {
			d, err := c.AppsV1().Deployments("default").Get(t.Context(), "fine", metav1.GetOptions{})
			return err == nil && d.Status.ReadyReplicas == 2
		})
		d, err := c.AppsV1().Deployments("default").Get(t.Context(), "fine", metav1.GetOptions{})
		if err != nil || d.ManagedFields[len(d.ManagedFields)-1].Manager != "kube-controller-manager" {
			t.Errorf("managers are %+v, %v; want the status written by kube-controller-manager", d.ManagedFields, err)
		}
	})
	t.Run("unpullable", func(t *testing.T) {
		deploy(t, c, "unpullable", "registry.example/unpullable:1")
		s := waiting(t, c, "unpullable")
		if s.State.Waiting.Reason != "ImagePullBackOff" || !strings.Contains(s.State.Waiting.Message, "registry.example/unpullable:1") || !strings.Contains(s.State.Waiting.Message, "not found") {
			t.Errorf("status is %+v", s)
		}
	})
	t.Run("crashing", func(t *testing.T) {
		deploy(t, c, "crashing", "crashing:1")
		if s := waiting(t, c, "crashing"); s.State.Waiting.Reason != "CrashLoopBackOff" || s.RestartCount == 0 {
			t.Errorf("status is %+v", s)
		}
	})
	t.Run("jobs", func(t *testing.T) {
		job(t, c, "fine", "busybox")
		job(t, c, "failing", "crashing:1")
		eventually(t, 30*time.Second, "one job complete, one failed", func() bool {
			fine, err1 := c.BatchV1().Jobs("default").Get(t.Context(), "fine", metav1.GetOptions{})
			failing, err2 := c.BatchV1().Jobs("default").Get(t.Context(), "failing", metav1.GetOptions{})
			return err1 == nil && err2 == nil && fine.Status.Succeeded == 1 && failing.Status.Failed == 1
		})
	})
	t.Run("a stateful set gets its volumes", func(t *testing.T) { statefulSet(t, c) })
	t.Run("stop and start", func(t *testing.T) {
		b.ok(t, "stop", "c1")
		b.ok(t, "start", "c1")
		scale(t, c, "fine", 3)
	})
	t.Run("namespace deletion", func(t *testing.T) { deleteNamespace(t, b, "c1") })
}

func template(app, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init", Image: "init"}},
			Containers:     []corev1.Container{{Name: "c", Image: image}},
		},
	}
}

func deploy(t *testing.T, c kubernetes.Interface, name, image string) {
	t.Helper()
	replicas := int32(2)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name, image),
	}}
	if _, err := c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// waiting returns the status of a container that waits.
func waiting(t *testing.T, c kubernetes.Interface, app string) corev1.ContainerStatus {
	t.Helper()
	var s corev1.ContainerStatus
	eventually(t, 20*time.Second, "a waiting container", func() bool {
		pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil || len(pods.Items) == 0 || len(pods.Items[0].Status.ContainerStatuses) == 0 {
			return false
		}
		s = pods.Items[0].Status.ContainerStatuses[0]
		return s.State.Waiting != nil && s.State.Waiting.Reason != "ContainerCreating"
	})
	return s
}

func job(t *testing.T, c kubernetes.Interface, name, image string) {
	t.Helper()
	none := int32(0)
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &none, Template: template("job", image)}}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func statefulSet(t *testing.T, c kubernetes.Interface) {
	replicas := int32(2)
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "s"}}, Template: template("s", "x"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}}
	if _, err := c.AppsV1().StatefulSets("default").Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "2 replicas ready", func() bool {
		got, err := c.AppsV1().StatefulSets("default").Get(t.Context(), "s", metav1.GetOptions{})
		return err == nil && got.Status.ReadyReplicas == 2
	})
	if err := c.AppsV1().StatefulSets("default").Delete(t.Context(), "s", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().PersistentVolumeClaims("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the volumes gone with their claims", func() bool {
		pvs, err := c.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
		return err == nil && len(pvs.Items) == 0
	})
}

// scale changes the size of a deployment and waits for its pods.
func scale(t *testing.T, c kubernetes.Interface, name string, replicas int32) {
	t.Helper()
	s, err := c.AppsV1().Deployments("default").GetScale(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Spec.Replicas = replicas
	if _, err := c.AppsV1().Deployments("default").UpdateScale(t.Context(), name, s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "all replicas ready", func() bool {
		d, err := c.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == replicas
	})
}
