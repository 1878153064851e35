package e2e

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The budgets of the sandbox, without workloads.
const (
	readyBudget = 5 * time.Second
	freshBudget = 320 << 20
	usedBudget  = 420 << 20
)

// TestBudgets measures a fresh sandbox of three clusters. Times depend on what else the machine does, so that they
// are only reported unless SANDBOX_BUDGETS=1 says that the machine is quiet; memory is always held to its budget.
func TestBudgets(t *testing.T) {
	strict := os.Getenv("SANDBOX_BUDGETS") == "1"
	b := newBox(t)
	begun := time.Now()
	b.ok(t, "up", "--clusters", "3", "--workloads=false")
	ready := time.Since(begun)
	t.Logf("3 clusters ready after %s", ready)
	if strict && ready > readyBudget {
		t.Errorf("not within %s", readyBudget)
	}
	time.Sleep(8 * time.Second) // what starting took is given back a few seconds later
	for _, c := range b.status(t).Clusters {
		t.Logf("%s fresh: %d MiB", c.Name, c.RSSBytes>>20)
		if c.RSSBytes > freshBudget {
			t.Errorf("%s takes %d MiB, budget %d", c.Name, c.RSSBytes>>20, freshBudget>>20)
		}
	}
	if strict {
		idle(t, b)
	}
	begun = time.Now()
	requests(t, b.client(t, "c1"), 10_000)
	t.Logf("10,000 requests in %s", time.Since(begun))
	used := b.status(t).Clusters[0].RSSBytes
	t.Logf("c1 after 10,000 requests: %d MiB", used>>20)
	if used > usedBudget {
		t.Errorf("%d MiB, budget %d", used>>20, usedBudget>>20)
	}
}

// requests creates ConfigMaps, a few at a time, and reads each back.
func requests(t *testing.T, c kubernetes.Interface, n int) {
	t.Helper()
	var wg sync.WaitGroup
	work := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range work {
				name := fmt.Sprintf("cm-%d", i)
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": name}}
				if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
				if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n / 2 {
		work <- i
	}
	close(work)
	wg.Wait()
}

// idle measures how much of a core an idle control plane takes in half a minute. Only Linux can tell.
func idle(t *testing.T, b box) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	const window = 30 * time.Second
	clusters := b.status(t).Clusters
	before := make([]time.Duration, len(clusters))
	for i, c := range clusters {
		before[i] = cpuTime(t, c.PID)
	}
	time.Sleep(window)
	for i, c := range clusters {
		share := float64(cpuTime(t, c.PID)-before[i]) / float64(window) * 100
		t.Logf("%s idle: %.1f %% of a core", c.Name, share)
		if share > 1.5 {
			t.Errorf("%s takes %.1f %% of a core while idle, budget 1.5", c.Name, share)
		}
	}
}

// cpuTime is the processor time of a process, from /proc.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	total := time.Duration(0)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name()))
		var ns int64
		if _, scanErr := fmt.Sscan(string(raw), &ns); err == nil && scanErr == nil {
			total += time.Duration(ns)
		}
	}
	return total
}
