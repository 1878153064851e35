package testfleet

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestMain(m *testing.M) {
	Main(m, Options{Clusters: []string{"eu", "us"}, Groups: map[string]string{"us": "production"}})
}

func client(t *testing.T, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
		fails   bool
	}{
		"zero is one cluster":           {Options{}, "--clusters c1 --groups default=1 --workloads=false", false},
		"workloads have their own":      {Options{Count: 2, Workloads: true}, "--clusters w1,w2 --groups default=2 --workloads=true", false},
		"groups follow the order":       {Options{Clusters: []string{"a", "b", "c"}, Groups: map[string]string{"b": "x"}}, "--clusters a,b,c --groups default=1,x=1,default=1 --workloads=false", false},
		"five are too many":             {Options{Count: 5}, "", true},
		"a group of nobody is a typo":   {Options{Groups: map[string]string{"b": "x"}}, "", true},
		"benchmarks may have more":      {Options{Count: 5, Many: true}, "--clusters c1,c2,c3,c4,c5 --groups default=5 --workloads=false", false},
		"names win over the count":      {Options{Count: 3, Clusters: []string{"a"}}, "--clusters a --groups default=1 --workloads=false", false},
		"a group may be given to all":   {Options{Count: 1, Groups: map[string]string{"c1": "p"}}, "--clusters c1 --groups p=1 --workloads=false", false},
		"one run for neighbours":        {Options{Count: 2, Groups: map[string]string{"c1": "p", "c2": "p"}}, "--clusters c1,c2 --groups p=2 --workloads=false", false},
		"no workloads, no other prefix": {Options{Count: 1, Workloads: false}, "--clusters c1 --groups default=1 --workloads=false", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			names, err := tt.options.names()
			if (err != nil) != tt.fails {
				t.Fatalf("names() = %v, %v; fails is %v", names, err, tt.fails)
			}
			if got := strings.Join(tt.options.args(names), " "); err == nil && got != tt.want {
				t.Errorf("args() = %s\nwant     %s", got, tt.want)
			}
		})
	}
}

func TestFleetIsDescribed(t *testing.T) {
	f := Get()
	if got := f.Names(); !slices.Equal(got, []string{"eu", "us"}) {
		t.Errorf("Names() = %v", got)
	}
	us := f.Cluster("us")
	if us.Group != "production" || us.Phase != "running" || us.Workloads || us.Context() != "us" || us.FaultContext() != "us-fault" {
		t.Errorf("Cluster(us) = %+v", us)
	}
	if got := f.Cluster("eu").Group; got != "default" {
		t.Errorf("group of eu is %q", got)
	}
	raw, err := os.ReadFile(f.FleetFile())
	if err != nil || !strings.Contains(string(raw), `"us": {group: "production", kubeconfig: {path: "`+f.Kubeconfig()+`", context: "us"}}`) {
		t.Errorf("fleet file: %v\n%s", err, raw)
	}
	v, err := client(t, f.RESTConfig("eu")).Discovery().ServerVersion()
	if err != nil || v.GitVersion != us.Version || v.Major != "1" {
		t.Errorf("version is %v, %v; Cluster says %s", v, err, us.Version)
	}
}

// TestReuse starts a second fleet on the sandbox of the first.
func TestReuse(t *testing.T) {
	f := Get()
	t.Setenv(Env, f.Name())
	again, err := Start(Options{Clusters: []string{"us"}, Groups: map[string]string{"us": "production"}})
	if err != nil {
		t.Fatal(err)
	}
	if again.Dir() != f.Dir() || !slices.Equal(again.Names(), []string{"us"}) {
		t.Errorf("reused %s with %v, want %s", again.Dir(), again.Names(), f.Dir())
	}
	if err := again.Close(); err != nil || f.Cluster("us").Phase != "running" {
		t.Errorf("Close of a reused fleet: %v; us is %s, want it running", err, f.Cluster("us").Phase)
	}
	if _, err := Start(Options{Clusters: []string{"us"}}); err == nil {
		t.Error("a cluster of another group was taken")
	}
}

func TestNamespaceAndAudit(t *testing.T) {
	f := Get()
	ns := f.Namespace(t, "eu")
	if other := f.Namespace(t); other == ns {
		t.Errorf("two namespaces are both called %s", ns)
	}
	cfg := f.RESTConfig("eu")
	cfg.UserAgent = "audited/1"
	c := client(t, cfg)
	from := f.AuditOffset(t, "eu")
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if _, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "me"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps(ns).Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("got %v; a dry run creates nothing", err)
	}
	var got []AuditEntry
	for _, e := range f.Audit(t, "eu", from) {
		if e.Namespace == ns && e.UserAgent == "audited/1" {
			got = append(got, e)
		}
	}
	if len(got) != 2 {
		t.Fatalf("audited %+v; want a POST and a GET", got)
	}
	post, get := got[0], got[1]
	if post.Method != "POST" || !post.DryRun || post.FieldManager != "me" || post.Status != 201 || post.User != "sandbox-admin" || post.DurationMs <= 0 {
		t.Errorf("the POST is %+v", post)
	}
	if get.Method != "GET" || get.Verb != "get" || get.DryRun || get.Status != 404 || get.Path != "/api/v1/namespaces/"+ns+"/configmaps/a" || get.Resource != "configmaps" {
		t.Errorf("the GET is %+v", get)
	}
}

// TestRecordsGoWithTheTest: what a test has recorded of a bundle that is called as its namespace is gone after it, and nothing else.
func TestRecordsGoWithTheTest(t *testing.T) {
	f := Get()
	secrets := client(t, f.RESTConfig("eu")).CoreV1().Secrets("hawser-system")
	if _, err := client(t, f.RESTConfig("eu")).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hawser-system"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Run("test", func(t *testing.T) {
		for _, bundle := range []string{f.Namespace(t), "another"} {
			record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "hawser-", Labels: map[string]string{"hawser.dev/bundle": bundle}}}
			if _, err := secrets.Create(t.Context(), record, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	left, err := secrets.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 1 || left.Items[0].Labels["hawser.dev/bundle"] != "another" {
		t.Errorf("%v, %+v", err, left)
	}
}

func TestStopKeepsData(t *testing.T) {
	f := Get()
	ns := f.Namespace(t, "us")
	before := f.Cluster("us")
	f.Stop(t, "us")
	if phase := f.Cluster("us").Phase; phase != "stopped" {
		t.Errorf("phase is %s", phase)
	}
	c := client(t, f.RESTConfig("us"))
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{}); err == nil {
		t.Error("a stopped cluster answered")
	}
	f.Start(t, "us")
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{}); err != nil {
		t.Errorf("the namespace did not survive: %v", err)
	}
	if after := f.Cluster("us"); after.URL != before.URL || after.PID == before.PID {
		t.Errorf("before %+v, after %+v: want the same port and another process", before, after)
	}
}

func TestPauseHangs(t *testing.T) {
	f := Get()
	c := client(t, f.RESTConfig("us"))
	if _, err := c.Discovery().ServerVersion(); err != nil {
		t.Fatal(err)
	}
	f.Pause(t, "us")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); ctx.Err() == nil {
		t.Errorf("got %v at once; want no answer", err)
	}
	f.Resume(t, "us")
	if _, err := c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("after resume: %v", err)
	}
}

func TestFault(t *testing.T) {
	f := Get()
	plain, faulty := client(t, f.RESTConfig("eu")), client(t, f.FaultRESTConfig("eu"))
	f.Fault(t, "eu", FaultSpec{Match: "GET configmaps", Status: []int{http.StatusInternalServerError}, Count: 1})
	if _, err := plain.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the plain context was hurt: %v", err)
	}
	if _, err := faulty.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("what does not match was hurt: %v", err)
	}
	if _, err := faulty.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("got %v; want the 500", err)
	}
	if _, err := faulty.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the second one was hurt: %v", err)
	}
	if c := f.Cluster("eu"); c.Matched != 2 || c.Faulted != 1 {
		t.Errorf("matched %d, faulted %d; want 2 and 1", c.Matched, c.Faulted)
	}
	f.ClearFault(t, "eu")
}

func TestUserKubeconfig(t *testing.T) {
	f := Get()
	path := f.UserKubeconfig(t, "jane", "developers")
	raw, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"eu", "eu-fault"} { // the proxy passes the user on
		cfg, err := clientcmd.NewNonInteractiveClientConfig(*raw, name, nil, nil).ClientConfig()
		if err != nil {
			t.Fatal(err)
		}
		_, err = client(t, cfg).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "jane"`) {
			t.Errorf("%s: got %v; want forbidden for jane", name, err)
		}
	}
}
