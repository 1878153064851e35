package e2e

import (
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUpGrowDown(t *testing.T) {
	b := newBox(t)
	begun := time.Now()
	out := b.ok(t, "up", "--groups", "staging=1,production=1", "--workloads=false")
	t.Logf("two clusters ready after %s", time.Since(begun))
	for _, want := range []string{"export KUBECONFIG=" + b.dir("kubeconfig"), "hawser plan -f BUNDLE --fleet " + b.dir("fleet.cue")} {
		if !strings.Contains(out, want) {
			t.Errorf("up printed\n%s\nwithout %s", out, want)
		}
	}
	first := b.status(t)
	if len(first.Clusters) != 2 || first.Clusters[0].Name != "staging-1" || first.Clusters[1].Group != "production" {
		t.Fatalf("status is %+v", first)
	}

	t.Run("a second up changes nothing", func(t *testing.T) {
		b.ok(t, "up", "--groups", "staging=1,production=1")
		b.ok(t, "up")
		again := b.status(t)
		if again.PID != first.PID || again.Clusters[0].PID != first.Clusters[0].PID || len(again.Clusters) != 2 {
			t.Errorf("before %+v\nafter %+v", first, again)
		}
	})
	t.Run("up adds what is missing", func(t *testing.T) {
		b.ok(t, "up", "--groups", "staging=1,production=2")
		got := b.status(t)
		if len(got.Clusters) != 3 || got.Clusters[2].Name != "production-2" || got.Clusters[2].Workloads || got.Clusters[0].PID != first.Clusters[0].PID {
			t.Errorf("status is %+v", got)
		}
		if _, err := namespaces(t, b.client(t, "production-2")); err != nil {
			t.Error(err)
		}
	})
	t.Run("the version is the real one", func(t *testing.T) {
		v, err := b.client(t, "staging-1").Discovery().ServerVersion()
		if err != nil || v.GitVersion != "v1.36.3" || v.Major != "1" || v.Minor != "36" {
			t.Errorf("version is %+v, %v", v, err)
		}
	})
	t.Run("only loopback", func(t *testing.T) {
		for _, c := range b.status(t).Clusters {
			for _, raw := range []string{c.URL, c.FaultURL} {
				u, err := url.Parse(raw)
				if err != nil || !net.ParseIP(u.Hostname()).IsLoopback() {
					t.Errorf("%s is not a loopback address (%v)", raw, err)
				}
			}
		}
	})
	t.Run("files are private", func(t *testing.T) { onlyOurs(t, b.dir()) })
	t.Run("the fleet names all clusters", func(t *testing.T) {
		want := `"production-2": {group: "production", kubeconfig: {path: "` + b.dir("kubeconfig") + `", context: "production-2"}}`
		for _, args := range [][]string{{"fleet"}, {"fleet", "--yaml"}} {
			if got := b.ok(t, args...); !strings.Contains(got, want) {
				t.Errorf("%v printed\n%s\nwithout %s", args, got, want)
			}
		}
		if got := b.ok(t, "kubeconfig", "--path"); got != b.dir("kubeconfig")+"\n" {
			t.Errorf("kubeconfig --path printed %q", got)
		}
	})
	t.Run("up leaves alone what was stopped", func(t *testing.T) {
		b.ok(t, "stop", "staging-1")
		b.ok(t, "up")
		if got := b.status(t).Clusters[0].Phase; got != "stopped" {
			t.Errorf("staging-1 is %s", got)
		}
	})
	if out := b.ok(t, "ls"); !strings.Contains(out, "box") || !strings.Contains(out, "running") {
		t.Errorf("ls printed\n%s", out)
	}
	b.ok(t, "down")
	b.nothingLeft(t)
	b.fails(t, "there is none", "status")
}

// onlyOurs checks that nobody else can read anything below a directory.
func onlyOurs(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			// The directory is closed to others; only etcd's sockets inside it are more open.
			if d.Type()&fs.ModeSocket == 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTwoSandboxes(t *testing.T) {
	a := newBox(t)
	b := box{root: a.root, name: "other"}
	a.ok(t, "up", "--clusters", "same", "--workloads=false")
	b.ok(t, "up", "--clusters", "same", "--workloads=false")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-in-a"}}
	if _, err := a.client(t, "same").CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := namespaces(t, b.client(t, "same")); err != nil || slices.Contains(got, "only-in-a") {
		t.Errorf("the other one has %v, %v", got, err)
	}
	a.ok(t, "down")
	if _, err := namespaces(t, b.client(t, "same")); err != nil {
		t.Errorf("the other one died too: %v", err)
	}
	b.ok(t, "down")
	a.nothingLeft(t)
}

func TestKeepData(t *testing.T) {
	b := newBox(t)
	b.ok(t, "up", "--clusters", "1", "--workloads=false")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := b.client(t, "c1").CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.ok(t, "down", "--keep-data")
	if left := processes(t, b.root); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if out := b.ok(t, "ls"); !strings.Contains(out, "down") {
		t.Errorf("ls printed\n%s", out)
	}
	b.fails(t, "keeps none", "up", "--attached")
	b.ok(t, "up")
	if _, err := b.client(t, "c1").CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestWrongArguments(t *testing.T) {
	b := newBox(t)
	tests := map[string]struct {
		args []string
		want string
	}{
		"no clusters":          {[]string{"up", "--clusters", "0"}, "from 1 to 200"},
		"a bad name":           {[]string{"up", "--clusters", "a,B"}, `cluster name "B"`},
		"twice the same":       {[]string{"up", "--clusters", "a,a"}, "named twice"},
		"a reserved name":      {[]string{"up", "--clusters", "a-fault"}, "proxies"},
		"groups disagree":      {[]string{"up", "--clusters", "3", "--groups", "x=2"}, "make them agree"},
		"groups without count": {[]string{"up", "--groups", "x"}, "GROUP=NUMBER"},
		"no sandbox":           {[]string{"stop", "c1"}, "make one with `hawser-sandbox up`"},
		"unknown format":       {[]string{"status", "-o", "xml"}, "text or json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { b.fails(t, tt.want, tt.args...) })
	}
	shared.fails(t, `cluster "nobody"`, "stop", "nobody")
	shared.fails(t, `cluster "nobody"`, "audit", "nobody")
	shared.fails(t, "does nothing", "fault", "eu")
	shared.fails(t, "from 0 to 1", "fault", "eu", "--error-rate", "2")
	if left, err := os.ReadDir(b.root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestNamespaceDeletionWithoutWorkloads(t *testing.T) { deleteNamespace(t, shared, "eu") }

// deleteNamespace makes a namespace with something in it and waits until it is really gone.
func deleteNamespace(t *testing.T, b box, cluster string) {
	c := b.client(t, cluster)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "to-delete"}}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}
	if _, err := c.CoreV1().ConfigMaps("to-delete").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "default service account and root CA in the namespace", func() bool {
		_, err1 := c.CoreV1().ServiceAccounts("to-delete").Get(t.Context(), "default", metav1.GetOptions{})
		_, err2 := c.CoreV1().ConfigMaps("to-delete").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		return err1 == nil && err2 == nil
	})
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "to-delete", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the namespace gone", func() bool {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), "to-delete", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}
