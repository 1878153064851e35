// Package testfleet gives tests real Kubernetes API servers: it starts a sandbox once per test package, hands out
// namespaces and clients, breaks and mends clusters on demand, and takes everything down.
//
// It is imported by tests alone. It never skips: where no sandbox can be had, the tests fail. It must not import
// any room of the product but sandboxbin, so that every room can use it.
//
// A package uses it like this:
//
//	func TestMain(m *testing.M) { testfleet.Main(m, testfleet.Options{Count: 2}) }
//
//	func TestX(t *testing.T) {
//		f := testfleet.Get()
//		ns := f.Namespace(t, "c1")
//		client := kubernetes.NewForConfigOrDie(f.RESTConfig("c1"))
//		...
//	}
package testfleet

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Env names a running sandbox to use instead of starting one: one of the user's, or (by Fleet.Name) one that another
// test process started. One of the user's is started where it does not run. It is grown where clusters are missing and is never
// taken down. Packages that share one and stop or pause clusters must run one after the other (go test -p 1).
const Env = "HAWSER_TESTFLEET"

// MaxClusters is the most clusters one test package may start.
const MaxClusters = 4

// Options say which clusters are wanted. The zero value is one cluster, "c1".
type Options struct {
	// Clusters are the names wanted.
	Clusters []string
	// Count is the number of clusters wanted where no names are given: c1, c2, ... or, with Workloads, w1, w2, ...
	Count int
	// Groups are the fleet groups by cluster name; others are in the group "default".
	Groups map[string]string
	// Workloads runs scheduler, workload controllers and simulated nodes. Without them a cluster starts faster and
	// takes less memory.
	Workloads bool
	// Many lifts MaxClusters: for benchmarks only.
	Many bool
}

// names returns the clusters wanted, by name.
func (o Options) names() ([]string, error) {
	names := o.Clusters
	if len(names) == 0 {
		prefix := "c"
		if o.Workloads {
			prefix = "w"
		}
		for i := range max(o.Count, 1) {
			names = append(names, prefix+strconv.Itoa(i+1))
		}
	}
	if len(names) > MaxClusters && !o.Many {
		return nil, fmt.Errorf("testfleet: %d clusters wanted, a test package may start %d", len(names), MaxClusters)
	}
	for name := range o.Groups {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("testfleet: a group is given for cluster %q, which is not wanted", name)
		}
	}
	return names, nil
}

// args are the arguments of `hawser-sandbox up` that say the same.
func (o Options) args(names []string) []string {
	var runs []string
	for i := 0; i < len(names); {
		j := i
		for j < len(names) && o.group(names[j]) == o.group(names[i]) {
			j++
		}
		runs = append(runs, fmt.Sprintf("%s=%d", o.group(names[i]), j-i))
		i = j
	}
	return []string{
		"--clusters", strings.Join(names, ","), "--groups", strings.Join(runs, ","),
		fmt.Sprintf("--workloads=%t", o.Workloads),
	}
}

func (o Options) group(name string) string {
	if g := o.Groups[name]; g != "" {
		return g
	}
	return "default"
}

// Cluster is one cluster of a Fleet.
type Cluster struct {
	Name    string `json:"name"`
	Group   string `json:"group"`
	Version string `json:"version"`
	// URL is the API server, FaultURL the fault-injecting proxy before it.
	URL       string `json:"url"`
	FaultURL  string `json:"faultURL"`
	Workloads bool   `json:"workloads"`
	// Phase is starting, running, paused, stopped or crashed.
	Phase string `json:"phase"`
	// PID and RSSBytes are of the control plane's process.
	PID      int   `json:"pid"`
	RSSBytes int64 `json:"rssBytes"`
	// Matched and Faulted count the requests since a fault was set: those that it matched, those that it hurt.
	Matched int64 `json:"matched"`
	Faulted int64 `json:"faulted"`
}

// Context is the kubeconfig context of the cluster.
func (c Cluster) Context() string { return c.Name }

// FaultContext is the kubeconfig context that goes through the fault-injecting proxy.
func (c Cluster) FaultContext() string { return c.Name + faultSuffix }

const faultSuffix = "-fault"

// Fleet is a running sandbox. Its methods are safe for concurrent use.
type Fleet struct {
	names  []string
	ready  ready
	config *clientcmdapi.Config
	client *control
	close  func() error
	once   sync.Once
	err    error
}

var (
	mainFleet *Fleet
	mainMu    sync.Mutex
)

// Main is for TestMain: it starts the clusters, runs the tests, takes the clusters down and ends the process. Where
// the clusters cannot be started the package fails.
func Main(m *testing.M, o Options) {
	flag.Parse()
	if list := flag.Lookup("test.list"); list != nil && list.Value.String() != "" {
		os.Exit(m.Run()) // nothing will be run
	}
	os.Exit(runMain(m, o))
}

func runMain(m *testing.M, o Options) (code int) {
	f, err := Start(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "testfleet: %v\n", err)
		return 1
	}
	mainMu.Lock()
	mainFleet = f
	mainMu.Unlock()
	defer func() {
		if err := f.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "testfleet: %v\n", err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

// Get returns the fleet that Main started. It panics in a package whose TestMain does not call Main.
func Get() *Fleet {
	mainMu.Lock()
	defer mainMu.Unlock()
	if mainFleet == nil {
		panic("testfleet: Get without Main: write func TestMain(m *testing.M) { testfleet.Main(m, testfleet.Options{}) }")
	}
	return mainFleet
}

// Start starts the clusters, or makes sure that the sandbox named by HAWSER_TESTFLEET has them. Close must follow.
func Start(o Options) (*Fleet, error) {
	names, err := o.names()
	if err != nil {
		return nil, err
	}
	binary, err := sandboxBinary()
	if err != nil {
		return nil, err
	}
	f := &Fleet{names: names, close: func() error { return nil }}
	if name := os.Getenv(Env); name != "" {
		f.ready, err = reuse(binary, name, o.args(names))
	} else {
		f.ready, f.close, err = attach(binary, o.args(names))
	}
	if err != nil {
		return nil, err
	}
	f.client = newControl(f.ready.Socket)
	if err := f.check(o); err != nil {
		return nil, fmt.Errorf("%w (%v)", err, f.Close())
	}
	return f, nil
}

// check makes sure that what runs is what was wanted, and reads its kubeconfig.
func (f *Fleet) check(o Options) error {
	for _, name := range f.names {
		c, ok := f.ready.find(name)
		if !ok {
			return fmt.Errorf("testfleet: sandbox %s has no cluster %s", f.ready.Name, name)
		}
		if o.Workloads && !c.Workloads {
			return fmt.Errorf("testfleet: cluster %s of sandbox %s has no workloads: choose other names", name, f.ready.Name)
		}
		if want := o.group(name); c.Group != want {
			return fmt.Errorf("testfleet: cluster %s of sandbox %s is in group %q, wanted %q: choose other names", name, f.ready.Name, c.Group, want)
		}
	}
	cfg, err := clientcmd.LoadFromFile(f.ready.Kubeconfig)
	f.config = cfg
	return err
}

// Close takes the clusters down, unless they were running before. It may be called again.
func (f *Fleet) Close() error {
	f.once.Do(func() { f.err = f.close() })
	return f.err
}

// Names are the clusters wanted, in the order in which they were given.
func (f *Fleet) Names() []string { return slices.Clone(f.names) }

// Name is the name of the sandbox.
func (f *Fleet) Name() string { return f.ready.Name }

// Dir is the sandbox's directory.
func (f *Fleet) Dir() string { return f.ready.Dir }

// Kubeconfig is the path of the administrator's kubeconfig: a context per cluster, and NAME-fault for each.
func (f *Fleet) Kubeconfig() string { return f.ready.Kubeconfig }

// FleetFile is the path of the sandbox's fleet.cue. A reused sandbox may have more clusters than were wanted.
func (f *Fleet) FleetFile() string { return f.ready.Fleet }

// Cluster is how the cluster is at this moment. It panics where there is none of that name.
func (f *Fleet) Cluster(name string) Cluster {
	var now ready
	if err := f.client.get("/v1/status", &now); err != nil {
		panic(fmt.Sprintf("testfleet: %v", err))
	}
	c, ok := now.find(name)
	if !ok {
		panic(fmt.Sprintf("testfleet: there is no cluster %q", name))
	}
	return c
}

// RESTConfig is a new client configuration for the administrator of a cluster, without a rate limit on the client's
// side. NAME-fault gives one that goes through the fault-injecting proxy. It panics where there is no such cluster.
func (f *Fleet) RESTConfig(cluster string) *rest.Config {
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*f.config, cluster, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		panic(fmt.Sprintf("testfleet: cluster %q: %v", cluster, err))
	}
	cfg.QPS = -1
	return cfg
}

// FaultRESTConfig is RESTConfig through the fault-injecting proxy.
func (f *Fleet) FaultRESTConfig(cluster string) *rest.Config {
	return f.RESTConfig(cluster + faultSuffix)
}
