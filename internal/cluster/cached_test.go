package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testserver"
)

// That there is none of many new names is asked of the API server's cache, and of nothing else; where it has one of them, what
// is stored is looked at too, and counts.
func TestObserveCached(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	var text []string
	for i := range 10 {
		text = append(text, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d, namespace: NS}", i))
	}
	bodies := objs(t, ns, strings.Join(text, "\n---\n"))
	look := func(cached bool) (found int, lists []string) {
		t.Helper()
		var desired []plan.Desired
		for _, b := range bodies {
			desired = append(desired, plan.Desired{Ref: b.Ref()})
		}
		from := f.AuditOffset(t, one)
		seen, findings := s.Observe(t.Context(), cluster.ObserveRequest{Owner: "o", Desired: desired, Cached: cached})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		for r, l := range seen.Live {
			if l.Found && r.Kind == "ConfigMap" {
				found++
			}
		}
		for _, e := range mine(f.Audit(t, one, from)) {
			if e.Verb == "list" && e.Resource == "configmaps" {
				lists = append(lists, fmt.Sprint(strings.Contains(e.Query, "resourceVersion=0")))
			}
		}
		return found, lists
	}
	if found, lists := look(true); found != 0 || fmt.Sprint(lists) != "[true]" {
		t.Errorf("none there: %d found, from the cache: %v", found, lists)
	}
	if found, lists := look(false); found != 0 || fmt.Sprint(lists) != "[false]" {
		t.Errorf("under the lock: %d found, from the cache: %v", found, lists)
	}
	b := newBundle(t)
	b.apply(t, s, bodies[:2]...)
	if found, lists := look(true); found != 2 || fmt.Sprint(lists) != "[true false]" {
		t.Errorf("two there: %d found, from the cache: %v", found, lists)
	}
}

// An API server whose cache cannot answer is asked for what is stored.
func TestCacheDoesNotAnswer(t *testing.T) {
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	o := objs(t, "default", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there, namespace: NS}")[0]
	srv.Put("/api/v1/namespaces/default/configmaps/there", o.Body)
	desired := []plan.Desired{{Ref: o.Ref()}}
	for i := range 10 {
		r := o.Ref()
		r.Name = fmt.Sprint("new", i)
		desired = append(desired, plan.Desired{Ref: r})
	}
	asked := 0
	srv.Fault(testserver.Before(func(r *http.Request) bool { return r.URL.Query().Get("resourceVersion") == "0" },
		func(w http.ResponseWriter, _ *http.Request) bool {
			asked++
			testserver.Status(w, http.StatusGone, "Expired", "the cache has nothing of it")
			return true
		}))
	seen, findings := s.Observe(t.Context(), cluster.ObserveRequest{Owner: "o", Desired: desired, Cached: true})
	if findings.HasErrors() || !seen.Live[o.Ref()].Found || asked == 0 {
		t.Errorf("%v, %+v, the cache was asked %d times", findings, seen.Live[o.Ref()], asked)
	}
}
