package engine

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/rights"
	"hawser.dev/hawser/internal/testserver"
)

// A server that is another cluster by the time a plan is carried out: it is told so, by both UIDs, and nothing is written there, no lock
// and no record either. One that is the same, at a newer version, is gone on with.
func TestClusterReplacedBetweenPlanAndApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(s *testserver.Server)
		refused bool
	}{
		"another cluster": {func(s *testserver.Server) {
			s.Fault(s.Altered(func(obj map[string]any) {
				if meta, ok := obj["metadata"].(map[string]any); ok && meta["name"] == "kube-system" {
					meta["uid"] = "another"
				}
			}))
		}, true},
		"upgraded": {func(s *testserver.Server) {
			s.Fault(testserver.Before(func(r *http.Request) bool { return r.URL.Path == "/version" }, testserver.Body(200, `{"gitVersion":"v1.35.0"}`)))
		}, false},
		"the same": {func(*testserver.Server) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServed(t, "", nil, "eu")
			fp, err := s.Plan(t.Context(), s.request())
			if err != nil {
				t.Fatal(err)
			}
			c.change(s.servers["eu"])
			time.Sleep(rights.FreshFor) // what was asked a moment ago is not asked again
			out, err := s.Apply(t.Context(), fp, s.request())
			if !c.refused {
				if err != nil || !s.has("eu") {
					t.Errorf("%v %+v", err, out)
				}
				return
			}
			refusedFor(t, err, "another cluster answers now", "uid another", "plan again")
			if wrote := s.wrote("eu"); len(wrote) > 0 {
				t.Errorf("written: %v", wrote)
			}
		})
	}
}

// heads are the requests that came to a server, with whom they were for: "METHOD PATH as USER GROUPS".
type heads struct {
	mu   sync.Mutex
	seen []string
}

func (h *heads) note(_ http.ResponseWriter, r *http.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, strings.TrimSpace(r.Method+" "+r.URL.Path+" as "+r.Header.Get("Impersonate-User")+" "+strings.Join(r.Header.Values("Impersonate-Group"), ",")))
	return false
}

// With a writer every request about objects is sent with that one's rights, and every one about records, locks and the cluster itself with
// the engine's own; without one nothing is impersonated.
func TestObjectsAreWrittenAsTheWriter(t *testing.T) {
	t.Parallel()
	for _, who := range []kubeapi.Identity{{}, {User: "ann", Groups: []string{"shop", "ops"}}} {
		s := newServed(t, "", nil, "eu")
		var h heads
		s.servers["eu"].Fault(h.note)
		req := s.request()
		req.Writer = who
		s.applied(req)
		s.write("app.yaml", strings.Replace(someMap, "one", "two", 1))
		s.applied(req)
		ours, theirs := 0, 0
		for _, line := range h.seen {
			own := strings.Contains(line, " /version") || strings.Contains(line, " /api as") || strings.Contains(line, " /apis as") ||
				strings.Contains(line, "kube-system") || strings.Contains(line, "/namespaces/hawser-system") ||
				strings.HasPrefix(line, "POST /api/v1/namespaces as") // the namespace of the records
			suffix := " as"
			if !own && !who.Nobody() {
				suffix = " as ann shop,ops"
			}
			if !strings.HasSuffix(line, suffix) {
				t.Errorf("%s, want%s", line, suffix)
			}
			if own {
				ours++
			} else {
				theirs++
			}
		}
		if ours < 8 || theirs < 4 || !slices.ContainsFunc(h.seen, func(l string) bool { return strings.HasPrefix(l, "PATCH") }) {
			t.Errorf("%d and %d requests: %q", ours, theirs, h.seen)
		}
	}
}

// A cluster that does not let us act for the writer says so before anything is written, and what to grant.
func TestImpersonationIsRefused(t *testing.T) {
	t.Parallel()
	s := newServed(t, "", nil, "eu")
	s.servers["eu"].Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Impersonate-User") == "" {
			return false
		}
		testserver.Status(w, 403, "Forbidden", `users "ann" is forbidden: User "hub" cannot impersonate resource "users" in API group "" at the cluster scope`)
		return true
	})
	req := s.request()
	req.Writer = kubeapi.Identity{User: "ann"}
	fp, err := s.Plan(t.Context(), req)
	if err == nil {
		err = fp.Findings.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "the cluster does not let us act as ann") || !strings.Contains(err.Error(), "grant the verb impersonate") {
		t.Errorf("no refusal: %v", err)
	}
	if wrote := s.wrote("eu"); len(wrote) > 0 {
		t.Errorf("written: %v", wrote)
	}
	if _, err := s.Plan(t.Context(), s.request()); err != nil {
		t.Errorf("without a writer: %v", err)
	}
}
