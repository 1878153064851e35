// Package controlplane runs one Kubernetes control plane in this process: kube-apiserver, kube-controller-manager
// and, with workloads, kube-scheduler and kwok's controllers, all of them the real ones, called as libraries.
//
// There can be one control plane per process, because the components register flags, metrics and feature gates
// globally. The package must not know of sandboxes, supervisors and other clusters: all it needs is in Config.
package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"

	"hawser.dev/hawser/sandbox/state"
)

// Users of the control plane's own components, as they appear in the audit log.
const (
	UserAPIServer         = "system:apiserver"
	UserControllerManager = "system:kube-controller-manager"
	UserScheduler         = "system:kube-scheduler"
	UserKwok              = "system:kwok"
	UserSupervisor        = "system:hawser-sandbox"
)

// Config is all a control plane needs. File names inside Dir are fixed; see Files.
type Config struct {
	state.Cluster
	// Dir holds the certificates, kubeconfigs and logs of this cluster.
	Dir string `json:"dir"`
	// CAFile signs servers and clients, FrontProxyCAFile the aggregation layer's client.
	CAFile           string `json:"caFile"`
	FrontProxyCAFile string `json:"frontProxyCAFile"`
	// EtcdSocket is the Unix socket of etcd, EtcdPrefix the place of this cluster in it.
	EtcdSocket string `json:"etcdSocket"`
	EtcdPrefix string `json:"etcdPrefix"`
}

// Names of the files in Config.Dir that must exist before Run. The pairs are NAME.crt and NAME.key.
const (
	ServingPair    = "apiserver"
	FrontProxyPair = "front-proxy-client"
	SigningPair    = "service-account"
	AuditPolicy    = "audit-policy.yaml"
)

// KubeconfigFor is the file name of a component's kubeconfig in Config.Dir.
func KubeconfigFor(user string) string {
	switch user {
	case UserControllerManager:
		return "controller-manager.kubeconfig"
	case UserScheduler:
		return "scheduler.kubeconfig"
	}
	return "kwok.kubeconfig"
}

// AuditPolicyYAML records every request once: watches when they start, everything else when it is answered.
const AuditPolicyYAML = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*"]
- level: Metadata
  verbs: [watch]
  omitStages: [RequestReceived, ResponseComplete]
- level: Metadata
`

// LoadConfig reads a Config from a JSON file.
func LoadConfig(path string) (Config, error) {
	var c Config
	raw, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Run runs the control plane until ctx ends or a component fails. The error names the component.
func Run(ctx context.Context, c Config) error {
	// The components talk to each other about deprecated APIs; nobody reads that.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	hugePages()
	g, ctx := errgroup.WithContext(ctx)
	run := func(name string, f func(context.Context, Config) error) {
		g.Go(func() error {
			if err := f(ctx, c); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s of cluster %s: %w", name, c.Name, err)
			}
			return nil
		})
	}
	actAs("kube-apiserver")
	server, err := newAPIServer(c)
	if err != nil {
		return fmt.Errorf("kube-apiserver of cluster %s: %w", c.Name, err)
	}
	run("kube-apiserver", server.run)
	// The others wait for the API server: started earlier they would only fail and back off.
	run("the controllers", func(ctx context.Context, c Config) error {
		if err := waitForAPIServer(ctx, c); err != nil {
			return err
		}
		if c.Workloads {
			actAs("kube-scheduler")
			scheduler, err := newScheduler(ctx, c)
			if err != nil {
				return fmt.Errorf("kube-scheduler: %w", err)
			}
			run("kube-scheduler", scheduler.run)
			run("kwok", runKwok)
		}
		actAs("kube-controller-manager")
		run("kube-controller-manager", runControllerManager)
		return settle(ctx)
	})
	return g.Wait()
}

// actAs makes the clients that a component makes from now on say its name: client-go takes it from the name of the
// program, and the API server writes it into managedFields. All values have one length, so that a goroutine that
// reads the name at this moment gets either of the two.
func actAs(component string) {
	const length = 32
	os.Args[0] = strings.Repeat("/", length-len(component)) + component
}

// settleAfter is how long a control plane is left alone after it started.
const settleAfter = 5 * time.Second

// settle trades speed for memory once the work of starting is done: it gives back what starting took, and collects
// more often from then on, which costs a server that is mostly idle nothing. GOGC, where it is set, wins.
func settle(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(settleAfter):
		debug.SetGCPercent(50)
		debug.FreeOSMemory()
	}
	return nil
}

// file is a path in the cluster's directory.
func (c Config) file(name string) string { return filepath.Join(c.Dir, name) }

// client is the REST configuration of a component.
func (c Config) client(user string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.file(KubeconfigFor(user)))
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 500, 1000
	return cfg, nil
}

// parse sets a component's options from flags, as its command line would.
func parse(component string, sets cliflag.NamedFlagSets, args []string) error {
	fs := pflag.NewFlagSet(component, pflag.ContinueOnError)
	for _, f := range sets.FlagSets {
		fs.AddFlagSet(f)
	}
	return fs.Parse(args)
}
