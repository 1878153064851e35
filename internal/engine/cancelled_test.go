package engine

import (
	"context"
	"maps"
	"runtime"
	"strings"
	"sync/atomic"
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
	var asking atomic.Int32
	for text, cancelled := range map[string]bool{r.configMap("theirs", "a: c"): false, r.deployment("web"): true} {
		r.write("bundle.yaml", r.bundle(text))
		ctx, cancel := context.WithCancel(t.Context())
		r.Documents = func(ctx context.Context, _ string, _ func(context.Context) ([]byte, error)) ([]byte, error) {
			asking.Add(1)
			defer asking.Add(-1)
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
		if n := asking.Load(); n != 0 {
			t.Errorf("cancelled %t: %d questions are under way when it is over", cancelled, n)
		}
		left := map[string]string{}
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			left = running() // one that has said that it is done is there a moment longer
			maps.DeleteFunc(left, func(id, _ string) bool { return before[id] != "" })
			if len(left) == 0 {
				break
			}
		}
		for _, g := range left {
			t.Errorf("cancelled %t: goes on for ever:\n%s", cancelled, g)
		}
		cancel()
	}
}

// running are the stacks of the goroutines with code of ours in them, but for that of the test itself, by their ids.
func running() map[string]string {
	buf, out := make([]byte, 16<<20), map[string]string{}
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
		if strings.Contains(g, "hawser.dev/hawser/internal/") && !strings.Contains(g, "testing.tRunner") && !strings.Contains(g, "internal/testfleet.") {
			id, _, _ := strings.Cut(g, " [")
			out[id] = g
		}
	}
	return out
}
