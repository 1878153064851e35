// Package testserver is an API server in the test's own process, on the loopback interface, that does what it should
// with a few kinds kept in memory, until it is told to be hostile: faults.go has what a compromised, broken or
// misdirected server does to its clients.
//
// What Hawser asks of objects it answers as a real API server does (TestConformance asks both); defaults, validation and admission it does not
// have, and what needs those is tested with testfleet.
//
// testserver must not know Hawser, nor claim to be Kubernetes.
package testserver

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Token is the bearer token in the kubeconfigs: what must never be seen elsewhere.
const Token = "canary-bearer-token-4711"

// Fault answers a request in the server's stead and returns true, or lets it pass.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Server is a running API server; it ends with its test.
type Server struct {
	// URL is https://127.0.0.1:PORT; CA is the PEM of the authority behind its certificate.
	URL string
	CA  []byte

	http *httptest.Server
	done chan struct{}

	mu       sync.Mutex
	fault    Fault
	objects  map[string]map[string]any // by path; who stores one does not change it afterwards
	version  int
	requests []string
	events   []event
	changed  chan struct{} // closed, and made anew, when something was stored or deleted
}

// Start runs a server until the test ends. Its kube-system namespace has a UID of its own.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{objects: map[string]map[string]any{}, done: make(chan struct{}), changed: make(chan struct{})}
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.http.StartTLS()
	s.URL = s.http.URL
	s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
	for _, ns := range []string{"kube-system", "default"} {
		s.Put("/api/v1/namespaces/"+ns, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}})
	}
	t.Cleanup(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Kubeconfig writes a kubeconfig with the context "test" that reaches the server with Token; edit may change it.
func (s *Server) Kubeconfig(t testing.TB, edit ...func(*clientcmdapi.Config)) string {
	t.Helper()
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["test"] = &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: s.CA}
	cfg.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: Token}
	cfg.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	cfg.CurrentContext = "test"
	for _, e := range edit {
		e(cfg)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Fault sets what is asked before every request; nil serves as it should.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Requests are "METHOD PATH?QUERY" of what arrived so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	s.serve(w, r)
}

// serve answers as it should.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/version":
		reply(w, 200, map[string]any{"gitVersion": "v1.34.0", "major": "1", "minor": "34"})
	case path == "/api", path == "/apis":
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		reply(w, 200, discovery(path == "/api"))
	case strings.HasSuffix(path, "selfsubjectrulesreviews"):
		all := []any{"*"}
		reply(w, 201, map[string]any{"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
			"status": map[string]any{"incomplete": false, "resourceRules": []any{map[string]any{"verbs": all, "apiGroups": all, "resources": all}}}})
	default:
		k, ok := kindOf(path)
		switch {
		case !ok:
			Status(w, 404, "NotFound", "the server could not find the requested resource")
		case r.URL.Query().Get("watch") != "":
			s.watch(w, r, k)
		case k.collection && r.Method == http.MethodGet:
			s.list(w, r, k)
		default:
			s.objectRequest(w, r, k)
		}
	}
}

// Hang blocks until the client has gone or the test ends.
func (s *Server) Hang(r *http.Request) {
	select {
	case <-s.done:
	case <-r.Context().Done():
	}
}

// Status writes a Status of Kubernetes.
func Status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	status := "Failure"
	if code < 300 {
		status = "Success"
	}
	reply(w, code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": status, "reason": reason, "message": message, "code": code})
}

func reply(w http.ResponseWriter, code int, body any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// kind is what a path is about.
type kind struct {
	served
	namespace, name string
	collection      bool
}

type served struct {
	group, version, resource, kind string
	namespaced                     bool
}

var kinds = []served{
	{"", "v1", "namespaces", "Namespace", false}, {"", "v1", "configmaps", "ConfigMap", true}, {"", "v1", "secrets", "Secret", true},
	{"", "v1", "services", "Service", true}, {"", "v1", "pods", "Pod", true}, {"", "v1", "events", "Event", true},
	{"apps", "v1", "deployments", "Deployment", true}, {"coordination.k8s.io", "v1", "leases", "Lease", true},
}

func kindOf(path string) (kind, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip, group := 2, "" // api/v1
	if parts[0] == "apis" && len(parts) > 1 {
		skip, group = 3, parts[1]
	}
	if len(parts) <= skip {
		return kind{}, false
	}
	parts = parts[skip:]
	k := kind{}
	if parts[0] == "namespaces" && len(parts) > 2 {
		k.namespace, parts = parts[1], parts[2:]
	}
	i := slices.IndexFunc(kinds, func(s served) bool { return s.resource == parts[0] && s.group == group })
	if i < 0 || len(parts) > 2 {
		return kind{}, false
	}
	k.served, k.collection = kinds[i], len(parts) == 1
	if !k.collection {
		k.name = parts[1]
	}
	return k, true
}

func discovery(core bool) map[string]any {
	groups := map[string][]any{}
	for _, s := range kinds {
		if (s.group == "") != core {
			continue
		}
		scope := "Cluster"
		if s.namespaced {
			scope = "Namespaced"
		}
		groups[s.group] = append(groups[s.group], map[string]any{"resource": s.resource, "scope": scope,
			"responseKind": map[string]any{"group": s.group, "version": s.version, "kind": s.kind},
			"verbs":        []any{"create", "delete", "get", "list", "patch", "update", "watch"}})
	}
	items := []any{}
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		items = append(items, map[string]any{"metadata": map[string]any{"name": g},
			"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": groups[g]}}})
	}
	return map[string]any{"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList", "metadata": map[string]any{}, "items": items}
}
