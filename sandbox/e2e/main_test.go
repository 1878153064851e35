// Package e2e drives the built hawser-sandbox as a user does: by its command line, and with clients that read the
// kubeconfig it wrote.
//
// The binary is what HAWSER_SANDBOX names, else what build.sh gives. The tests must not know the packages behind it.
package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	binary string // the hawser-sandbox under test
	shared box    // a sandbox of two clusters without workloads, for tests that leave it as it was
)

// parentEnv makes the test binary play the parent that will be killed; see leftovers_test.go.
const parentEnv = "SANDBOX_E2E_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		playParent()
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	binary = os.Getenv("HAWSER_SANDBOX")
	if binary == "" {
		out, err := exec.Command("../build.sh").Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "build.sh: %v\n", err)
			return 1
		}
		binary = strings.TrimSpace(string(out))
	}
	root, err := os.MkdirTemp("", "sandbox-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(root) }()
	shared = box{root: root, name: "shared"}
	if out, err := shared.run("up", "--clusters", "eu,us", "--workloads=false"); err != nil {
		fmt.Fprintf(os.Stderr, "up: %v\n%s", err, out)
		return 1
	}
	defer func() { _, _ = shared.run("down") }()
	return m.Run()
}

// box is one sandbox, which need not exist.
type box struct{ root, name string }

// newBox is a sandbox of the test's own, taken down at its end.
func newBox(t *testing.T) box {
	t.Helper()
	root, err := os.MkdirTemp("", "sandbox-e2e") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	b := box{root: root, name: "box"}
	t.Cleanup(func() {
		if _, err := os.Stat(b.dir("state.json")); err == nil {
			if out, err := b.run("down"); err != nil {
				t.Errorf("down: %v\n%s", err, out)
			}
		}
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b box) dir(elem ...string) string {
	return filepath.Join(append([]string{b.root, b.name}, elem...)...)
}

func (b box) command(args ...string) *exec.Cmd {
	return exec.Command(binary, append(args, "--state-dir", b.root, "--name", b.name)...)
}

// run returns what the command printed on both streams.
func (b box) run(args ...string) (string, error) {
	out, err := b.command(args...).CombinedOutput()
	return string(out), err
}

// ok runs a command that must succeed and returns its standard output.
func (b box) ok(t *testing.T, args ...string) string {
	t.Helper()
	cmd := b.command(args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, &out, &talk)
	}
	return out.String()
}

// fails runs a command that must fail and whose message must have the words in it.
func (b box) fails(t *testing.T, words string, args ...string) {
	t.Helper()
	if out, err := b.run(args...); err == nil || !strings.Contains(out, words) {
		t.Errorf("%v: %v\n%s\nwant a failure that says %q", args, err, out, words)
	}
}

type status struct {
	PID      int
	Clusters []struct {
		Name, Group, Phase, Version, URL, FaultURL string
		PID                                        int
		RSSBytes                                   int64
		Matched, Faulted                           int64
		Workloads                                  bool
	}
}

func (b box) status(t *testing.T) status {
	t.Helper()
	var s status
	if err := json.Unmarshal([]byte(b.ok(t, "status", "-o", "json")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// config is the administrator's client configuration for a context.
func (b box) config(t *testing.T, context string) *rest.Config {
	t.Helper()
	raw, err := clientcmd.LoadFromFile(b.dir("kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*raw, context, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.UserAgent = -1, "e2e"
	return cfg
}

func (b box) client(t *testing.T, context string) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(b.config(t, context))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// namespaces lists the namespaces, which shows that a cluster answers.
func namespaces(t *testing.T, c kubernetes.Interface) ([]string, error) {
	t.Helper()
	list, err := c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
	}
	return names, nil
}

// eventually waits until ok says true; want says what for.
func eventually(t *testing.T, limit time.Duration, want string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s still not: %s", limit, want)
		}
	}
}

// processes are the process ids whose command line has the directory in it, ours left out.
func processes(t *testing.T, dir string) []int {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "pid=,stat=,command=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[1], "Z") || !strings.Contains(line, dir) {
			continue
		}
		if pid, err := strconv.Atoi(f[0]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nothingLeft waits until neither process nor file of the sandbox is there.
func (b box) nothingLeft(t *testing.T) {
	t.Helper()
	eventually(t, 15*time.Second, "all processes gone", func() bool { return len(processes(t, b.root)) == 0 })
	eventually(t, 5*time.Second, "all files gone", func() bool {
		left, err := os.ReadDir(b.root)
		return os.IsNotExist(err) || (err == nil && len(left) == 0)
	})
}
