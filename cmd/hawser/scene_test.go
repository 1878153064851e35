package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/testfleet"
)

// scene is a bench with names of its own: a bundle, a namespace and a user, by whom its requests are told from those
// of other tests in the audit logs.
type scene struct {
	*bench
	fleet  *testfleet.Fleet
	bundle string
	ns     string
	user   string
	config string // the user's kubeconfig
	from   map[string]int64
}

func newScene(t *testing.T) *scene { return newSceneOn(t, testfleet.Get()) }

func newSceneOn(t *testing.T, f *testfleet.Fleet) *scene {
	t.Helper()
	s := &scene{bench: newBench(t), fleet: f, ns: f.Namespace(t), from: map[string]int64{}}
	s.bundle, s.user = s.ns, "user-"+s.ns
	data, err := os.ReadFile(f.UserKubeconfig(t, s.user, "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	s.config = s.write("kubeconfig", string(data))
	s.env = append(s.env, "KUBECONFIG="+s.config)
	return s
}

// files unpacks a txtar archive into the directory; $B is the bundle's name, $NS the namespace.
func (s *scene) files(archive string) {
	s.t.Helper()
	for _, f := range txtar.Parse([]byte(s.fill(archive))).Files {
		s.write(f.Name, string(f.Data))
	}
}

func (s *scene) fill(text string) string {
	return strings.NewReplacer("$NS", s.ns, "$B", s.bundle).Replace(text)
}

// edit replaces a text of a file, which must be in it.
func (s *scene) edit(name, old, new string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	old, new = s.fill(old), s.fill(new)
	if !strings.Contains(string(data), old) {
		s.t.Fatalf("%s does not contain %q", name, old)
	}
	s.write(name, strings.ReplaceAll(string(data), old, new))
}

// contexts gives contexts of the kubeconfig other names: old, new, old, new.
func (s *scene) contexts(names ...string) {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	taken := cfg.DeepCopy()
	for i := 0; i < len(names); i += 2 {
		delete(cfg.Contexts, names[i])
	}
	for i := 0; i < len(names); i += 2 {
		cfg.Contexts[names[i+1]] = taken.Contexts[names[i]]
	}
	if err := clientcmd.WriteToFile(*cfg, s.config); err != nil {
		s.t.Fatal(err)
	}
}

// mark remembers the end of every cluster's audit log.
func (s *scene) mark() {
	s.t.Helper()
	for _, c := range s.fleet.Names() {
		s.from[c] = s.fleet.AuditOffset(s.t, c)
	}
}

// requests are this scene's requests to a cluster since mark.
func (s *scene) requests(cluster string) []testfleet.AuditEntry {
	s.t.Helper()
	return slices.DeleteFunc(s.fleet.Audit(s.t, cluster, s.from[cluster]), func(e testfleet.AuditEntry) bool { return e.User != s.user })
}

// writes are those of them that changed something, or would have.
func (s *scene) writes(cluster string) []testfleet.AuditEntry {
	s.t.Helper()
	return writes(s.requests(cluster))
}

// untouched fails the test when anything was written to a cluster since mark.
func (s *scene) untouched(clusters ...string) {
	s.t.Helper()
	for _, c := range clusters {
		if w := s.writes(c); len(w) > 0 {
			s.t.Errorf("%s was written to:\n%s", c, show(w))
		}
	}
}

// touched fails the test when nothing was written to a cluster since mark.
func (s *scene) touched(clusters ...string) {
	s.t.Helper()
	for _, c := range clusters {
		if len(s.writes(c)) == 0 {
			s.t.Errorf("%s was not written to", c)
		}
	}
}

// written are the objects written to a cluster since mark, as "PATCH configmaps/name", without records and locks.
func (s *scene) written(cluster string) []string {
	s.t.Helper()
	var out []string
	for _, e := range s.writes(cluster) {
		if e.Namespace != "hawser-system" && e.Name != "hawser-system" {
			out = append(out, e.Method+" "+e.Resource+"/"+e.Name)
		}
	}
	return out
}

// client is the administrator's client of a cluster.
func (s *scene) client(cluster string) *rest.RESTClient {
	s.t.Helper()
	cfg := s.fleet.RESTConfig(cluster)
	cfg.QPS = -1
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// get reads an object, nil when it is not there. $NS in the path is the namespace.
func (s *scene) get(cluster, path string) *item {
	s.t.Helper()
	data, err := s.client(cluster).Get().AbsPath("/" + s.fill(path)).DoRaw(s.t.Context())
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		s.t.Fatalf("get %s: %v", path, err)
	}
	var out item
	if err := json.Unmarshal(data, &out); err != nil {
		s.t.Fatal(err)
	}
	return &out
}

// configMap is the data of a ConfigMap in the scene's namespace, nil when it is not there.
func (s *scene) configMap(cluster, name string) map[string]string {
	s.t.Helper()
	if o := s.get(cluster, "api/v1/namespaces/$NS/configmaps/"+name); o != nil {
		return o.Data
	}
	return nil
}

// wantData fails the test unless a ConfigMap's key has the value; "" means that the key or the ConfigMap is missing.
func (s *scene) wantData(cluster, name, key, value string) {
	s.t.Helper()
	if got := s.configMap(cluster, name)[key]; got != value {
		s.t.Errorf("%s: ConfigMap %s has %s=%q, want %q", cluster, name, key, got, value)
	}
}

// gone fails the test when a ConfigMap exists.
func (s *scene) gone(cluster string, names ...string) {
	s.t.Helper()
	for _, n := range names {
		if s.get(cluster, "api/v1/namespaces/$NS/configmaps/"+n) != nil {
			s.t.Errorf("%s: ConfigMap %s is there", cluster, n)
		}
	}
}

// there fails the test when a ConfigMap does not exist.
func (s *scene) there(cluster string, names ...string) {
	s.t.Helper()
	for _, n := range names {
		if s.get(cluster, "api/v1/namespaces/$NS/configmaps/"+n) == nil {
			s.t.Errorf("%s: ConfigMap %s is missing", cluster, n)
		}
	}
}

// admin sends a request as the administrator, with a body in YAML or JSON, and fails the test unless it succeeds.
// query holds pairs.
func (s *scene) admin(cluster, method, path, body string, query ...string) {
	s.t.Helper()
	if err := s.try(cluster, method, path, body, query...); err != nil {
		s.t.Fatalf("%s %s in %s: %v", method, s.fill(path), cluster, err)
	}
}

func (s *scene) try(cluster, method, path, body string, query ...string) error {
	s.t.Helper()
	req := s.client(cluster).Verb(method).AbsPath("/" + s.fill(path))
	for i := 0; i < len(query); i += 2 {
		req = req.Param(query[i], query[i+1])
	}
	switch method {
	case http.MethodPatch:
		kind := "application/merge-patch+json"
		if slices.Contains(query, "fieldManager") && slices.Contains(query, "force") {
			kind = "application/apply-patch+yaml"
		}
		req = req.SetHeader("Content-Type", kind)
	case http.MethodPost, http.MethodPut:
		req = req.SetHeader("Content-Type", "application/yaml")
	}
	if body != "" {
		req = req.Body([]byte(s.fill(body)))
	}
	return req.Do(context.WithoutCancel(s.t.Context())).Error() // also used to clean up
}

// may waits until an API server lets a user do something: it learns of roles and bindings by watching them.
func (s *scene) may(cluster, user, namespace, verb, group, resource, name string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": map[string]any{"user": user,
		"resourceAttributes": map[string]any{"namespace": namespace, "verb": verb, "group": group, "resource": resource, "name": name}}})
	if err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, user+" may "+verb+" "+resource, func() bool {
		var got struct{ Status struct{ Allowed bool } }
		data, err := s.client(cluster).Post().AbsPath("/apis/authorization.k8s.io/v1/subjectaccessreviews").Body(body).
			SetHeader("Content-Type", "application/json").DoRaw(s.t.Context())
		return err == nil && json.Unmarshal(data, &got) == nil && got.Status.Allowed
	})
}

// namespace creates the scene's namespace as the administrator.
func (s *scene) namespace(clusters ...string) {
	s.t.Helper()
	for _, c := range clusters {
		s.admin(c, http.MethodPost, "api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NS}\n", "fieldManager", "kubectl-create")
	}
}

// has fails the test unless the text contains every part, filled.
func (s *scene) has(text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, s.fill(p)) {
			s.t.Errorf("%q is missing in:\n%s", s.fill(p), text)
		}
	}
}

// lacks fails the test when the text contains any part, filled.
func (s *scene) lacks(text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if strings.Contains(text, s.fill(p)) {
			s.t.Errorf("%q is in:\n%s", s.fill(p), text)
		}
	}
}

// documents parses every line as a JSON document and fails the test unless each has the version of today.
func documents(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var doc map[string]any
		if err := json.Unmarshal(sc.Bytes(), &doc); err != nil {
			t.Fatalf("not JSON: %v\n%s", err, sc.Text())
		}
		if doc["v"] != float64(diag.DocumentVersion) {
			t.Errorf("not of the version of today: %s", sc.Text())
		}
		out = append(out, doc)
	}
	return out
}

// oneDocument parses one JSON document of the version of today.
func oneDocument(t *testing.T, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if doc["v"] != float64(diag.DocumentVersion) {
		t.Errorf("not of the version of today: %s", text)
	}
	return doc
}

// strictly fails the test unless the clusters were written one after the other, none before the one before it ended.
func (s *scene) strictly(clusters ...string) {
	s.t.Helper()
	for i, c := range clusters {
		w := s.writes(c)
		if len(w) == 0 {
			s.t.Errorf("%s was not written to", c)
			return
		}
		if i == 0 {
			continue
		}
		before := s.writes(clusters[i-1])
		if last := before[len(before)-1]; w[0].Time.Before(last.Time) {
			s.t.Errorf("%s was written to at %s, while %s was until %s", c, w[0].Time, clusters[i-1], last.Time)
		}
	}
}

// merge adds a context of another kubeconfig under a new name.
func (s *scene) merge(file, context, name string) {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	other, err := clientcmd.LoadFromFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	c := other.Contexts[context].DeepCopy()
	cfg.Clusters[name], cfg.AuthInfos[name] = other.Clusters[c.Cluster], other.AuthInfos[c.AuthInfo]
	c.Cluster, c.AuthInfo = name, name
	cfg.Contexts[name] = c
	if err := clientcmd.WriteToFile(*cfg, s.config); err != nil {
		s.t.Fatal(err)
	}
}

// currentContext sets the kubeconfig's current context.
func (s *scene) currentContext(name string) {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.CurrentContext = name
	if err := clientcmd.WriteToFile(*cfg, s.config); err != nil {
		s.t.Fatal(err)
	}
}

// interactively runs the product inside the test process as if at a terminal, with the answer typed.
func (s *scene) interactively(answer string, args ...string) (code int, said string) {
	s.t.Helper()
	return s.interactivelyFrom(strings.NewReader(answer), args...)
}

// interactivelyFrom is interactively with a reader that may take its time to answer.
func (s *scene) interactivelyFrom(answer io.Reader, args ...string) (code int, said string) {
	s.t.Helper()
	for i, a := range args {
		if i > 0 && (args[i-1] == "-f" || args[i-1] == "-r") {
			args[i] = filepath.Join(s.dir, a)
		}
	}
	var out bytes.Buffer
	a := app()
	a.In, a.Out, a.Err = answer, &out, &out
	a.IsTerminal = func(any) bool { return true }
	a.TerminalSize = func() (int, int) { return 120, 50 }
	a.Environ = func() []string { return []string{"TERM=dumb", "NO_COLOR=1", "HOME=" + s.dir} }
	a.Signals = func() (<-chan os.Signal, func()) { return nil, func() {} }
	code = a.Run(s.t.Context(), append(args, "--kubeconfig", s.config))
	return code, out.String()
}

// unreachable adds a context of a server that nobody listens at.
func (s *scene) unreachable(context string) {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Clusters[context] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	c := cfg.Contexts[s.fleet.Names()[0]].DeepCopy()
	c.Cluster = context
	cfg.Contexts[context] = c
	if err := clientcmd.WriteToFile(*cfg, s.config); err != nil {
		s.t.Fatal(err)
	}
}
