package testfleet

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/object"
)

var (
	lastNamespace atomic.Int64
	notInNames    = lazyregexp.New(`[^a-z0-9]+`)
)

// Namespace returns the name of a namespace that no other test has, and creates it in the given clusters; where none
// is given it is created nowhere. At the end of the test it is deleted everywhere, also where the test created it, and so
// are the records of a bundle of that name: what reads all bundles of a cluster would read those of all tests before.
func (f *Fleet) Namespace(t testing.TB, clusters ...string) string {
	t.Helper()
	part := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	part = strings.Trim(part[:min(len(part), 40)], "-")
	// The time keeps runs apart that share a sandbox.
	name := fmt.Sprintf("%s-%x-%d", part, time.Now().UnixMilli()&0xffffffff, lastNamespace.Add(1))
	for _, c := range clusters {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := f.clientset(t, c).CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatalf("testfleet: namespace %s in %s: %v", name, c, err)
		}
	}
	t.Cleanup(func() { f.forget(t, name) })
	return name
}

// forget asks every cluster to delete the namespace and the records, and does not wait: the clusters end with the package.
func (f *Fleet) forget(t testing.TB, name string) {
	for _, c := range f.names {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		core := f.clientset(t, c).CoreV1()
		err := core.Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			err = core.Secrets(object.SystemNamespace).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: object.LabelBundle + "=" + name})
		}
		cancel()
		if err != nil && !apierrors.IsNotFound(err) {
			t.Logf("testfleet: %s stays in %s: %v", name, c, err)
		}
	}
}

func (f *Fleet) clientset(t testing.TB, cluster string) kubernetes.Interface {
	t.Helper()
	cfg := f.RESTConfig(cluster)
	cfg.UserAgent = "testfleet"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("testfleet: %s: %v", cluster, err)
	}
	return client
}
