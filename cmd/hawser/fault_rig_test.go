package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The faults of this package: each test is one thing that goes wrong in the field, and shows what Hawser does then.
// docs/reliability.md lists them.

// faultFleet is the package's clusters in two waves.
const faultFleet = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    staging: {group: staging, kubeContext: staging}
    production-eu: {group: production, kubeContext: production-eu}
    production-us: {group: production, kubeContext: production-us}
  rollout:
    waves:
    - {groups: [staging]}
    - {groups: [production], maxParallel: 10}
`

// faultBundle is one instance with two ConfigMaps.
const faultBundle = `
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m]}, namespace: $NS}
-- m/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: "1"}
-- m/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {v: "1"}
`

// onOne are the arguments of a run on one cluster, without a fleet; onFleet those with faultFleet.
func onOne(cluster string, args ...string) []string {
	return append(args, "-f", "shop.yaml", "--kube-context", cluster)
}

func onFleet(args ...string) []string {
	return append(args, "-f", "shop.yaml", "--fleet", "fleet.yaml")
}

// interposer is a proxy between the scene's kubeconfig and one cluster: its handler answers, spoils, holds or passes
// requests on.
type interposer struct {
	*httptest.Server
	mu     sync.Mutex
	handle interposed
}

// interposed handles one request; pass sends it to the API server and the answer back.
type interposed func(w http.ResponseWriter, r *http.Request, pass func())

// interpose makes the context of a cluster go through a proxy; nil passes everything on, as the scene's user.
func (s *scene) interpose(cluster string, handle interposed) *interposer {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	direct, err := clientcmd.NewNonInteractiveClientConfig(*cfg, cluster, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		s.t.Fatal(err)
	}
	p := &interposer{handle: handle}
	upstream := passOn(s.t, direct)
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		h := p.handle
		p.mu.Unlock()
		pass := func() {
			r.Header.Del("Authorization")
			upstream.ServeHTTP(w, r)
		}
		if h == nil {
			pass()
			return
		}
		h(w, r, pass)
	}))
	p.EnableHTTP2 = true
	p.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	p.StartTLS()
	s.t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	s.route(cluster, p.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}))
	return p
}

// passOn is a reverse proxy to a cluster with credentials of its own.
func passOn(t *testing.T, cfg *rest.Config) http.Handler {
	t.Helper()
	upstream, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	proxy.Transport, proxy.FlushInterval = transport, -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return proxy
}

// set replaces the handler; nil passes everything on from now.
func (p *interposer) set(h interposed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handle = h
}

// route sends the context of a cluster to another address, trusting its certificate.
func (s *scene) route(cluster, server string, ca []byte) {
	s.t.Helper()
	s.editConfig(func(cfg *clientcmdapi.Config) {
		cfg.Clusters["to-"+cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
		cfg.Contexts[cluster].Cluster = "to-" + cluster
	})
}

func (s *scene) editConfig(change func(*clientcmdapi.Config)) {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	change(cfg)
	if err := clientcmd.WriteToFile(*cfg, s.config); err != nil {
		s.t.Fatal(err)
	}
}

// status answers with a Kubernetes Status.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
}

// writesOf reports whether a request writes an object of a resource, for good ("configmaps"; "" is any, records and locks apart).
func writesOf(r *http.Request, resource string) bool {
	if r.Method == http.MethodGet || r.URL.Query().Get("dryRun") != "" || strings.Contains(r.URL.Path, "selfsubject") {
		return false
	}
	if resource == "" {
		return !strings.Contains(r.URL.Path, "hawser-system")
	}
	return strings.Contains(r.URL.Path, "/"+resource+"/") || strings.HasSuffix(r.URL.Path, "/"+resource)
}

// process is the product while it runs.
type process struct {
	*exec.Cmd
	t         *testing.T
	out, errs bytes.Buffer
	begun     time.Time
	done      chan error
}

// start starts the product; end waits for it. It is killed when the test ends.
func (b *bench) start(args ...string) *process {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 15*time.Minute)
	b.t.Cleanup(cancel)
	p := &process{Cmd: b.command(ctx, args...), t: b.t, begun: time.Now(), done: make(chan error, 1)}
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	return p
}

// end waits for the process and returns what it said.
func (p *process) end() result {
	p.t.Helper()
	err := <-p.done
	r := result{Stdout: p.out.String(), Stderr: p.errs.String(), Elapsed: time.Since(p.begun)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Code = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// interrupt is Ctrl-C.
func (p *process) interrupt() {
	p.t.Helper()
	if err := p.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// running fails the test when the process has ended.
func (p *process) running(when string) {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
		p.t.Fatalf("ended %s: %s", when, p.end())
	default:
	}
}

// await waits for something that must come to pass.
func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Minute):
		t.Fatalf("did not happen: %s", what)
	}
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if yes() {
			return
		}
	}
	t.Fatalf("did not happen: %s", what)
}

// exits fails the test unless the run ended with the code.
func (s *scene) exits(r result, code int) {
	s.t.Helper()
	if r.Code != code {
		s.t.Fatalf("want exit %d, got %s", code, r)
	}
}

// unlocked fails the test when the bundle's lock is held.
func (s *scene) unlocked(cluster string) {
	s.t.Helper()
	if l := s.lease(cluster); l != nil {
		s.t.Errorf("%s: the lock is still held by %s", cluster, l.Spec.HolderIdentity)
	}
}

// evaluationLimitEnv makes the product under test end evaluations sooner: "2s,300MiB".
const evaluationLimitEnv = "HAWSER_TEST_EVALUATION_LIMIT"

func setEvaluationLimit(text string) {
	deadline, heap, ok := strings.Cut(text, ",")
	if !ok {
		return
	}
	evaluationLimit.Deadline, _ = time.ParseDuration(deadline)
	var n uint64
	var unit string
	fmt.Sscanf(heap, "%d%s", &n, &unit)
	evaluationLimit.HeapBytes = n << map[string]uint{"MiB": 20, "GiB": 30}[unit]
}
