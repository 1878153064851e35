package testserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testserver"
)

func TestMain(m *testing.M) { testfleet.Main(m, testfleet.Options{Clusters: []string{"real"}}) }

// peer is one of the two servers that are asked the same, with the names that its answers use.
type peer struct {
	t         *testing.T
	cfg       *rest.Config
	http      *http.Client
	namespace string
	said      map[string]string // what is made up by a server, by what stands for it
	uids      map[string]string // by name
	versions  map[string]string
}

func newPeer(t *testing.T, cfg *rest.Config, namespace string) *peer {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, cfg: cfg, http: client, namespace: namespace, said: map[string]string{}, uids: map[string]string{}, versions: map[string]string{}}
}

// request is what both are asked. NS in it is the namespace; UID(x) and RV(x) are those that an object of that name had when it was last seen.
type request struct {
	name, method, path, query, body string
	accept                          string
}

const (
	apply = "PATCH apply"
	merge = "PATCH merge"
	jsonP = "PATCH json"
	dry   = "&dryRun=All"

	configmaps  = "/api/v1/namespaces/NS/configmaps"
	deployments = "/apis/apps/v1/namespaces/NS/deployments"
	inMemory    = "in-memory-of-the-test"
	metadata    = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

var (
	patches = map[string]string{apply: "application/apply-patch+yaml", merge: "application/merge-patch+json", jsonP: "application/json-patch+json"}
	placed  = regexp.MustCompile(`(UID|RV)\((\w+)\)`)
)

// ask sends a request and returns the code, and the answer with what a server makes up by the order in which that was said.
func (p *peer) ask(r request) (int, any) {
	p.t.Helper()
	fill := func(s string) string {
		s = strings.ReplaceAll(s, "NS", p.namespace)
		return placed.ReplaceAllStringFunc(s, func(m string) string {
			kind, name, _ := strings.Cut(strings.TrimSuffix(m, ")"), "(")
			return map[string]map[string]string{"UID": p.uids, "RV": p.versions}[kind][name]
		})
	}
	method, _, _ := strings.Cut(r.method, " ")
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.cfg.Host+fill(r.path)+"?"+fill(r.query), strings.NewReader(fill(r.body)))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if req.Header.Set("Content-Type", "application/json"); patches[r.method] != "" {
		req.Header.Set("Content-Type", patches[r.method])
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatalf("%s: %v", r.name, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		p.t.Fatalf("%s: %v", r.name, err)
	}
	var out any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&out); err != nil {
		p.t.Fatalf("%s: %v: %s", r.name, err, data)
	}
	return resp.StatusCode, p.normal(out, "")
}

// told is what stands for something that a server makes up: the kind of it, and how many of them were said before.
func (p *peer) told(kind, text string) string {
	if p.said[kind+text] == "" {
		n := 0
		for known := range p.said {
			if strings.HasPrefix(known, kind) {
				n++
			}
		}
		p.said[kind+text] = fmt.Sprint(kind, n+1)
	}
	return p.said[kind+text]
}

// normal is an answer without what two servers that do the same have differently: what is made up, times, messages, and defaults of kinds.
func (p *peer) normal(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok && meta["name"] != nil && meta["uid"] != nil {
			name := fmt.Sprint(meta["name"])
			p.uids[name], p.versions[name] = fmt.Sprint(meta["uid"]), fmt.Sprint(meta["resourceVersion"])
		}
		if v["kind"] == "Status" {
			delete(v, "metadata")
			delete(v, "message")
		}
		if strings.HasSuffix(fmt.Sprint(v["kind"]), "List") {
			delete(v, "metadata")
			delete(v, "kind")
		}
		if spec, ok := v["spec"].(map[string]any); ok && (v["kind"] == "Deployment" || spec["template"] != nil) {
			v["spec"] = declaredOf(spec)
			delete(v, "status")
		}
		out := map[string]any{}
		for name, item := range v {
			switch text, _ := item.(string); {
			case name == "uid" && text != "":
				out[name] = p.told("u", text)
			case name == "resourceVersion" && text != "":
				out[name] = p.told("v", text)
			case name == "time" || name == "creationTimestamp":
				out[name] = "some time"
			default:
				out[name] = p.normal(item, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = p.normal(item, "")
		}
		if key == "managedFields" {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if key == "causes" {
			for _, c := range out {
				delete(c.(map[string]any), "message") // it has the time
			}
		}
		return out
	case string:
		if key == "name" && strings.HasPrefix(v, "made-up-") {
			return "made up"
		}
		return strings.ReplaceAll(v, p.namespace, "NS")
	}
	return v
}

// declaredOf is a Deployment's spec without what the API server's defaults add, which the server in memory does not have.
func declaredOf(spec map[string]any) map[string]any {
	var containers []any
	if template, ok := spec["template"].(map[string]any); ok {
		pod, _ := template["spec"].(map[string]any)
		list, _ := pod["containers"].([]any)
		for _, c := range list {
			c := c.(map[string]any)
			containers = append(containers, map[string]any{"name": c["name"], "image": c["image"], "env": c["env"]})
		}
	}
	return map[string]any{"replicas": spec["replicas"], "containers": containers}
}

func configMap(name, rest string) string {
	return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "` + name + `"` + rest + `}`
}

func deployment(replicas, containers string) string {
	return `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {` + replicas +
		`"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [` + containers + `]}}}}`
}

// scenarios are what Hawser sends API servers, and what may come of it.
var scenarios = map[string][]request{
	"apply": {
		{"missing", "GET", configmaps + "/a", "", "", ""},
		{"a dry run creates", apply, configmaps + "/a", "fieldManager=us" + dry, configMap("a", `}, "data": {"x": "1"}`), ""},
		{"and nothing is there", "GET", configmaps + "/a", "", "", metadata},
		{"creates", apply, configmaps + "/a", "fieldManager=us", configMap("a", `, "labels": {"l": "1"}}, "data": {"x": "1", "y": "1"}`), ""},
		{"the same again", apply, configmaps + "/a", "fieldManager=us", configMap("a", `, "labels": {"l": "1"}}, "data": {"x": "1", "y": "1"}`), ""},
		{"the metadata", "GET", configmaps + "/a", "", "", metadata},
		{"another one's field", apply, configmaps + "/a", "fieldManager=them", configMap("a", `}, "data": {"z": "1"}`), ""},
		{"a conflict", apply, configmaps + "/a", "fieldManager=them", configMap("a", `}, "data": {"x": "2", "z": "1"}`), ""},
		{"a shared field", apply, configmaps + "/a", "fieldManager=them", configMap("a", `}, "data": {"y": "1", "z": "1"}`), ""},
		{"a dry run by force", apply, configmaps + "/a", "fieldManager=them&force=true" + dry, configMap("a", `}, "data": {"x": "2"}`), ""},
		{"by force", apply, configmaps + "/a", "fieldManager=them&force=true", configMap("a", `}, "data": {"x": "2", "y": "1", "z": "1"}`), ""},
		{"a dropped field goes, a shared one stays", apply, configmaps + "/a", "fieldManager=us", configMap("a", `, "labels": {"l": "1"}}`), ""},
		{"of another UID", apply, configmaps + "/a", "fieldManager=us&force=true", configMap("a", `, "uid": "11111111-2222-3333-4444-555555555555"}, "data": {"y": "3"}`), ""},
		{"of an old version", apply, configmaps + "/a", "fieldManager=us&force=true", configMap("a", `, "resourceVersion": "1"}, "data": {"y": "3"}`), ""},
		{"of this UID and version", apply, configmaps + "/a", "fieldManager=us&force=true", configMap("a", `, "uid": "UID(a)", "resourceVersion": "RV(a)"}, "data": {"y": "3"}`), ""},
		{"a UID, and none is there", apply, configmaps + "/b", "fieldManager=us", configMap("b", `, "uid": "UID(a)"}, "data": {"y": "3"}`), ""},
		{"a version, and none is there", apply, configmaps + "/b", "fieldManager=us", configMap("b", `, "resourceVersion": "1"}, "data": {"y": "3"}`), ""},
		{"in no namespace", apply, "/api/v1/namespaces/NS-none/configmaps/a", "fieldManager=us", configMap("a", `}, "data": {"y": "3"}`), ""},
	},
	"lists with keys": {
		{"creates", apply, deployments + "/web", "fieldManager=us", deployment(`"replicas": 1, `, `{"name": "a", "image": "i:1", "env": [{"name": "E", "value": "1"}]}`), ""},
		{"another one's container", apply, deployments + "/web", "fieldManager=them", deployment("", `{"name": "b", "image": "i:2"}`), ""},
		{"a change", apply, deployments + "/web", "fieldManager=us", deployment(`"replicas": 2, `, `{"name": "a", "image": "i:3", "env": [{"name": "F", "value": "1"}]}`), ""},
		{"a conflict below a key", apply, deployments + "/web", "fieldManager=them", deployment("", `{"name": "a", "image": "i:4"}, {"name": "b", "image": "i:2"}`), ""},
		{"ours goes", apply, deployments + "/web", "fieldManager=us&force=true", deployment("", `{"name": "b", "image": "i:2"}`), ""},
		{"somebody scales", merge, deployments + "/web", "fieldManager=kubectl", `{"spec": {"replicas": 5}}`, ""},
		{"a conflict with an update", apply, deployments + "/web", "fieldManager=us", deployment(`"replicas": 2, `, `{"name": "b", "image": "i:2"}`), ""},
		{"a label alone", merge, deployments + "/web", "fieldManager=kubectl", `{"metadata": {"labels": {"x": "y"}}}`, ""},
	},
	"create, update and delete": {
		{"creates", "POST", configmaps, "fieldManager=us", configMap("a", `, "labels": {"l": "1", "m": "1"}}, "data": {"x": "1"}`), ""},
		{"once more", "POST", configmaps, "fieldManager=us", configMap("a", `}, "data": {"x": "1"}`), ""},
		{"a dry run creates", "POST", configmaps, "fieldManager=us" + dry, configMap("d", `}, "data": {"x": "1"}`), ""},
		{"a dry run creates what is there", "POST", configmaps, "fieldManager=us" + dry, configMap("a", `}, "data": {"x": "1"}`), ""},
		{"updates", "PUT", configmaps + "/a", "fieldManager=us", configMap("a", `, "resourceVersion": "RV(a)"}, "data": {"x": "2"}`), ""},
		{"updates what is as it is", "PUT", configmaps + "/a", "fieldManager=us", configMap("a", `, "resourceVersion": "RV(a)"}, "data": {"x": "2"}`), ""},
		{"updates an old one", "PUT", configmaps + "/a", "fieldManager=us", configMap("a", `, "resourceVersion": "1"}, "data": {"x": "3"}`), ""},
		{"updates another one", "PUT", configmaps + "/a", "fieldManager=us", configMap("a", `, "uid": "11111111-2222-3333-4444-555555555555"}, "data": {"x": "3"}`), ""},
		{"updates whatever is there", "PUT", configmaps + "/a", "fieldManager=them", configMap("a", `}, "data": {"x": "3", "y": "1"}`), ""},
		{"updates what is not there", "PUT", configmaps + "/b", "fieldManager=us", configMap("b", `}, "data": {"x": "3"}`), ""},
		{"patches what is not there", merge, configmaps + "/b", "fieldManager=us", `{"data": {"x": null}}`, ""},
		{"merges", merge, configmaps + "/a", "fieldManager=us", `{"data": {"x": null, "z": "1"}}`, ""},
		{"merges an old one", merge, configmaps + "/a", "fieldManager=us", `{"metadata": {"resourceVersion": "1"}, "data": {"x": null, "z": "2"}}`, ""},
		{"tests and replaces", jsonP, configmaps + "/a", "fieldManager=us", `[{"op": "test", "path": "/data/z", "value": "1"}, {"op": "replace", "path": "/data/z", "value": "2"}]`, ""},
		{"tests, and it is not so", jsonP, configmaps + "/a", "fieldManager=us", `[{"op": "test", "path": "/data/z", "value": "1"}, {"op": "remove", "path": "/data/z"}]`, ""},
		{"drops all managers", jsonP, configmaps + "/a", "fieldManager=us", `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`, ""},
		{"another one", "POST", configmaps, "fieldManager=us", configMap("c", `, "labels": {"l": "2"}}`), ""},
		{"one label", "GET", configmaps, "labelSelector=l%3D2", "", ""},
		{"metadata of those with a label", "GET", configmaps, "labelSelector=l%3D2", "", strings.Replace(metadata, "Metadata;", "MetadataList;", 1)},
		{"none has both", "GET", configmaps, "labelSelector=l%3D2,m%3D1", "", ""},
		{"deletes another one", "DELETE", configmaps + "/a", "", `{"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}}`, ""},
		{"deletes an old one", "DELETE", configmaps + "/a", "", `{"preconditions": {"uid": "UID(a)", "resourceVersion": "1"}}`, ""},
		{"a dry run deletes", "DELETE", configmaps + "/a", "dryRun=All", "", ""},
		{"a dry run deletes by its options", "DELETE", configmaps + "/a", "", `{"dryRun": ["All"]}`, ""},
		{"options hide those of the query", "DELETE", configmaps + "/c", "dryRun=All", `{"kind": "DeleteOptions", "apiVersion": "v1"}`, ""},
		{"so it is gone", "GET", configmaps + "/c", "", "", ""},
		{"deletes", "DELETE", configmaps + "/a", "", `{"preconditions": {"uid": "UID(a)", "resourceVersion": "RV(a)"}}`, ""},
		{"deletes once more", "DELETE", configmaps + "/a", "", `{}`, ""},
		{"a dry run makes up a name", "POST", configmaps, "fieldManager=us" + dry, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-up-"}}`, ""},
		{"in no namespace", "POST", "/api/v1/namespaces/NS-none/configmaps", "fieldManager=us", configMap("a", `}`), ""},
	},
}

// TestConformance: the server in memory answers what Hawser asks as a real API server does: codes, reasons and causes, objects with
// their versions, generations and managed fields. What it does not have (defaults, validation, admission) is not asked here.
func TestConformance(t *testing.T) {
	for name, requests := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory, there := peers(t)
			for _, r := range requests {
				wantCode, want := there.ask(r)
				code, got := memory.ask(r)
				if code != wantCode || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: in memory %d, really %d\n%s\n%s", r.name, code, wantCode, text(got), text(want))
				}
			}
		})
	}
}

// watched asks for changes as Hawser does, makes some, and returns what was told of them.
func (p *peer) watched(n int) (out []any) {
	p.t.Helper()
	p.ask(request{"before", "POST", configmaps, "fieldManager=us", configMap("z", `, "labels": {"l": "1"}}`), ""})
	url := strings.ReplaceAll(p.cfg.Host+configmaps, "NS", p.namespace) + "?watch=true&labelSelector=l%3D1&resourceVersion=" + p.versions["z"]
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", metadata)
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, r := range []request{
		{"creates", apply, configmaps + "/a", "fieldManager=us", configMap("a", `, "labels": {"l": "1"}}, "data": {"x": "1"}`), ""},
		{"the same again", apply, configmaps + "/a", "fieldManager=us", configMap("a", `, "labels": {"l": "1"}}, "data": {"x": "1"}`), ""},
		{"another one", apply, configmaps + "/b", "fieldManager=us", configMap("b", `, "labels": {"l": "2"}}`), ""},
		{"changes", merge, configmaps + "/a", "fieldManager=us", `{"data": {"x": "2"}}`, ""},
		{"comes in", merge, configmaps + "/b", "fieldManager=us", `{"metadata": {"labels": {"l": "1"}}}`, ""},
		{"leaves", merge, configmaps + "/a", "fieldManager=us", `{"metadata": {"labels": {"l": "3"}}}`, ""},
		{"goes unseen", "DELETE", configmaps + "/a", "", "", ""},
		{"goes", "DELETE", configmaps + "/b", "", "", ""},
	} {
		p.ask(r)
	}
	for d := json.NewDecoder(resp.Body); len(out) < n; {
		var event any
		if err := d.Decode(&event); err != nil {
			p.t.Fatalf("after %d events: %v", len(out), err)
		}
		out = append(out, p.normal(event, ""))
	}
	return out
}

// TestWatchConformance: who watches is told the same by both.
func TestWatchConformance(t *testing.T) {
	t.Parallel()
	memory, there := peers(t)
	if got, want := memory.watched(5), there.watched(5); !reflect.DeepEqual(got, want) {
		t.Errorf("in memory, and really:\n%s\n%s", text(got), text(want))
	}
}

// peers are a server in memory and a real one, each with a namespace.
func peers(t *testing.T) (memory, there *peer) {
	t.Helper()
	s := testserver.Start(t)
	s.Put("/api/v1/namespaces/"+inMemory, map[string]any{"metadata": map[string]any{"name": inMemory}})
	memory = newPeer(t, &rest.Config{Host: s.URL, BearerToken: testserver.Token, TLSClientConfig: rest.TLSClientConfig{CAData: s.CA}}, inMemory)
	return memory, newPeer(t, testfleet.Get().RESTConfig("real"), testfleet.Get().Namespace(t, "real"))
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
