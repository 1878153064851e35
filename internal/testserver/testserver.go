// Package testserver is an API server in the test's own process, on the loopback interface, that does what it should
// with a few kinds kept in memory, until it is told to be hostile: faults.go has what a compromised, broken or
// misdirected server does to its clients.
//
// testserver must not know Hawser, nor claim to be Kubernetes: what needs real semantics is tested with testfleet.
package testserver

import (
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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
	objects  map[string]map[string]any // by path
	version  int
	requests []string
	deleted  []deleted
	changed  chan struct{} // closed, and made anew, when something was stored or deleted
}

// deleted is an object as it was when it was deleted.
type deleted struct {
	path    string
	version int
	object  map[string]any
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
		s.store("/api/v1/namespaces/"+ns, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}, "")
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

// Put stores an object at its path ("/api/v1/namespaces/x/configmaps/y") as somebody else would.
func (s *Server) Put(path string, obj map[string]any) { s.store(path, obj, "somebody") }

// SetStatus gives an object that is there a status, as its controller does.
func (s *Server) SetStatus(path string, status map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj := normal(s.objects[path])
	obj["status"], obj["metadata"].(map[string]any)["resourceVersion"] = status, fmt.Sprint(s.tell())
	s.objects[path] = obj
}

// Object is the object at a path, nil for none.
func (s *Server) Object(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
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
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	default:
		s.objectRequest(w, r)
	}
}

// Clone is another server with the same objects, UIDs included.
func (s *Server) Clone(t testing.TB) *Server {
	t.Helper()
	out := Start(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	out.mu.Lock()
	defer out.mu.Unlock()
	out.version = s.version
	for path, obj := range s.objects {
		out.objects[path] = normal(obj)
	}
	return out
}

// normal is an object as JSON has it.
func normal(obj map[string]any) map[string]any {
	data, _ := json.Marshal(obj)
	var out map[string]any
	_ = json.Unmarshal(data, &out)
	return out
}

// Hang blocks until the client has gone or the test ends.
func (s *Server) Hang(r *http.Request) {
	select {
	case <-s.done:
	case <-r.Context().Done():
	}
}

func (s *Server) objectRequest(w http.ResponseWriter, r *http.Request) {
	kind, ok := kindOf(r.URL.Path)
	if !ok {
		Status(w, 404, "NotFound", "the server could not find the requested resource")
		return
	}
	s.mu.Lock()
	old := s.objects[r.URL.Path]
	s.mu.Unlock()
	var body map[string]any
	if r.Body != nil && r.Method != http.MethodGet && r.Method != http.MethodDelete {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			Status(w, 400, "BadRequest", "the body is no object")
			return
		}
	}
	dry := r.URL.Query().Get("dryRun") != ""
	switch {
	case kind.collection && r.Method == http.MethodGet:
		s.list(w, r, kind)
	case kind.collection && r.Method == http.MethodPost:
		meta, _ := body["metadata"].(map[string]any)
		path := r.URL.Path + "/" + fmt.Sprint(meta["name"])
		if s.Object(path) != nil {
			Status(w, 409, "AlreadyExists", "it is there")
			return
		}
		reply(w, 201, s.keep(path, body, r, dry))
	case r.Method == http.MethodPatch || r.Method == http.MethodPut:
		code := 200
		if old == nil {
			code = 201
		}
		reply(w, code, s.keep(r.URL.Path, body, r, dry))
	case old == nil:
		reply(w, 404, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "message": "not found", "code": 404,
			"details": map[string]any{"name": r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], "kind": kind.resource}})
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		delete(s.objects, r.URL.Path)
		s.deleted = append(s.deleted, deleted{r.URL.Path, s.tell(), old})
		s.mu.Unlock()
		meta, _ := old["metadata"].(map[string]any)
		reply(w, 200, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success", "details": map[string]any{"name": meta["name"], "uid": meta["uid"]}})
	default:
		reply(w, 200, old)
	}
}

// tell makes the next version, and lets those who watch look again; the caller holds mu.
func (s *Server) tell() int {
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
	return s.version
}

// watch tells of what is stored and deleted after a version.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	k, _ := kindOf(r.URL.Path)
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	_ = http.NewResponseController(w).Flush()
	for {
		s.mu.Lock()
		if from == 0 {
			from = s.version
		}
		var events []any
		add := func(what, path string, obj map[string]any) {
			if here, ok := kindOf(path); ok && here.resource == k.resource && (k.namespace == "" || here.namespace == k.namespace) && selected(obj, r.URL.Query().Get("labelSelector")) {
				events = append(events, normal(map[string]any{"type": what, "object": obj}))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(s.objects)) {
			meta, _ := s.objects[path]["metadata"].(map[string]any)
			if version, _ := strconv.Atoi(fmt.Sprint(meta["resourceVersion"])); version > from {
				add("MODIFIED", path, s.objects[path])
			}
		}
		for _, gone := range s.deleted {
			if gone.version > from {
				add("DELETED", gone.path, gone.object)
			}
		}
		changed := s.changed
		from = s.version
		s.mu.Unlock()
		for _, event := range events {
			_ = json.NewEncoder(w).Encode(event)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-changed:
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, k kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		here, ok := kindOf(path)
		if ok && here.resource == k.resource && (k.namespace == "" || here.namespace == k.namespace) && selected(s.objects[path], r.URL.Query().Get("labelSelector")) {
			items = append(items, s.objects[path])
		}
	}
	reply(w, 200, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version)}, "items": items})
}

// selected understands "key=value" alone and joined by commas; other selectors find nothing.
func selected(obj map[string]any, selector string) bool {
	meta, _ := obj["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	for _, term := range strings.FieldsFunc(selector, func(c rune) bool { return c == ',' }) {
		key, value, ok := strings.Cut(term, "=")
		if !ok || labels[key] != value {
			return false
		}
	}
	return true
}

func (s *Server) keep(path string, body map[string]any, r *http.Request, dry bool) map[string]any {
	manager := r.URL.Query().Get("fieldManager")
	if dry {
		s.mu.Lock()
		defer s.mu.Unlock()
		out := s.stamped(path, body, manager)
		if old, ok := s.objects[path]["metadata"].(map[string]any); ok { // nothing is stored: the version stays what it is
			out["metadata"].(map[string]any)["resourceVersion"] = old["resourceVersion"]
		}
		return out
	}
	return s.store(path, body, manager)
}

func (s *Server) store(path string, body map[string]any, manager string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell()
	s.objects[path] = s.stamped(path, body, manager)
	return s.objects[path]
}

// stamped is the object with what the server gives it; the caller holds mu.
func (s *Server) stamped(path string, body map[string]any, manager string) map[string]any {
	meta, _ := body["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["uid"], meta["creationTimestamp"] = rand.Text(), time.Now().UTC().Format(time.RFC3339)
	if old, ok := s.objects[path]["metadata"].(map[string]any); ok {
		meta["uid"], meta["creationTimestamp"] = old["uid"], old["creationTimestamp"]
	}
	meta["resourceVersion"] = fmt.Sprint(s.version)
	if k, ok := kindOf(path); ok && k.namespace != "" {
		meta["namespace"] = k.namespace
	}
	if manager != "" {
		meta["managedFields"] = []any{map[string]any{"manager": manager, "operation": "Apply", "apiVersion": body["apiVersion"],
			"time": time.Now().UTC().Format(time.RFC3339), "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{}}}}
	}
	body["metadata"] = meta
	if old := s.objects[path]; old != nil && sameBut(old, body) { // who applies the same again leaves the time of its entry as it was
		meta["managedFields"] = old["metadata"].(map[string]any)["managedFields"]
	}
	return body
}

// sameBut reports whether two objects differ in nothing but their version and the time of who applied them last.
func sameBut(a, b map[string]any) bool {
	plain := func(o map[string]any) string {
		meta := maps.Clone(o["metadata"].(map[string]any))
		if entries, ok := meta["managedFields"].([]any); ok && len(entries) == 1 {
			entry := maps.Clone(entries[0].(map[string]any))
			delete(entry, "time")
			meta["managedFields"] = entry
		}
		delete(meta, "resourceVersion")
		o = maps.Clone(o)
		o["metadata"] = meta
		text, _ := json.Marshal(o)
		return string(text)
	}
	return plain(a) == plain(b)
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
	resource, namespace string
	collection          bool
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
	skip := 2 // api/v1
	if parts[0] == "apis" {
		skip = 3
	}
	if len(parts) <= skip {
		return kind{}, false
	}
	parts = parts[skip:]
	k := kind{}
	if parts[0] == "namespaces" && len(parts) > 2 {
		k.namespace, parts = parts[1], parts[2:]
	}
	k.resource, k.collection = parts[0], len(parts) == 1
	return k, len(parts) <= 2 && slices.ContainsFunc(kinds, func(s served) bool { return s.resource == k.resource })
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
