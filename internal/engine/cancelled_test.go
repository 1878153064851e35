package engine

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRunLeavesNothing: when a run is over, cancelled or not, no goroutine of it is under way: neither of the plan nor of what
// was asked ahead of it and turned out not to be needed, as everything is somebody else's.
func TestRunLeavesNothing(t *testing.T) { // not parallel: goroutines are counted
	r := newRig(t).withSchemas()
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Data: map[string]string{"a": "b"}}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := running()
	for text, cancelled := range map[string]bool{r.configMap("theirs", "a: c"): false, r.deployment("web"): true} {
		r.write("bundle.yaml", r.bundle(text))
		ctx, cancel := context.WithCancel(t.Context())
		r.Documents = func(ctx context.Context, _ string, _ func(context.Context) ([]byte, error)) ([]byte, error) {
			if cancelled {
				cancel()
			}
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond) // whoever is asked takes its time to end
			return nil, ctx.Err()
		}
		req := r.request()
		req.Applies = true
		if _, err := r.Plan(ctx, req); (err != nil || ctx.Err() != nil) && !cancelled {
			t.Fatal(err)
		}
		for _, g := range running() {
			if !slices.Contains(before, g) {
				t.Errorf("cancelled %t: under way when it is over:\n%s", cancelled, g)
			}
		}
		cancel()
	}
}

// running are the goroutines with code of ours in them, but for that of the test itself, each as its stack.
func running() []string {
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return slices.DeleteFunc(all[1:], func(g string) bool {
		return !strings.Contains(g, "hawser.dev/hawser/internal/") || strings.Contains(g, "testing.tRunner") || strings.Contains(g, "internal/testfleet.")
	})
}
