package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

type apiServer struct{ opts *options.ServerRunOptions }

func newAPIServer(c Config) (apiServer, error) {
	s := options.NewServerRunOptions()
	if err := parse("kube-apiserver", s.Flags(), apiServerArgs(c)); err != nil {
		return apiServer{}, err
	}
	// Feature gates and versions are shared by all components of the process and are set once, here.
	return apiServer{s}, s.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
}

func (a apiServer) run(ctx context.Context, _ Config) error {
	completed, err := a.opts.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	return apiserver.Run(ctx, completed)
}

func apiServerArgs(c Config) []string {
	args := []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.Port),
		"--etcd-servers=unix://" + c.EtcdSocket,
		"--etcd-prefix=" + c.EtcdPrefix,
		"--client-ca-file=" + c.CAFile,
		"--tls-cert-file=" + c.file(ServingPair+".crt"),
		"--tls-private-key-file=" + c.file(ServingPair+".key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.file(SigningPair+".crt"),
		"--service-account-signing-key-file=" + c.file(SigningPair+".key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--requestheader-client-ca-file=" + c.FrontProxyCAFile,
		"--requestheader-allowed-names=" + FrontProxyPair,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.file(FrontProxyPair+".crt"),
		"--proxy-client-key-file=" + c.file(FrontProxyPair+".key"),
		// Nothing routes cluster IPs here, and endpoints may not be loopback addresses: an aggregated API is served
		// from this machine by a Service of type ExternalName, which only the resolver of cluster IPs follows.
		"--enable-aggregator-routing=false",
		// A loopback address may not stand in an Endpoints object, so nobody keeps the one of "kubernetes".
		"--endpoint-reconciler-type=none",
		"--audit-policy-file=" + c.file(AuditPolicy),
		"--audit-log-path=" + c.file("audit.log"),
		"--audit-log-format=json",
		// Blocking: who reads the log after a request was answered finds the request in it.
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=2048",
		"--audit-log-maxbackup=1",
		"--profiling=false",
		"--shutdown-delay-duration=0s",
	}
	if c.RuntimeConfig != "" {
		args = append(args, "--runtime-config="+c.RuntimeConfig)
	}
	return args
}

// waitForAPIServer returns when the API server is ready.
func waitForAPIServer(ctx context.Context, c Config) error {
	cfg, err := c.client(UserControllerManager)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	for {
		// The error cannot be anything but "not yet", and the supervisor bounds how long that may last.
		if req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL()+"/readyz", nil); err == nil {
			if resp, err := client.Do(req); err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					return nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
