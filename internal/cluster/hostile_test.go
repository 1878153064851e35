package cluster_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// watched runs fn and returns the most heap that was in use meanwhile.
func watched(fn func()) (peak uint64) {
	done, stopped := make(chan struct{}), make(chan struct{})
	runtime.GC()
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	fn()
	close(done)
	<-stopped
	return peak
}

// elsewhere is somebody else's server, who must never be asked anything.
func elsewhere(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		t.Errorf("%s %s with %q was sent elsewhere", r.Method, r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	return other.URL, asked
}

func hostileConfig(t *testing.T, s *testserver.Server) cluster.Config {
	c := config(s.Kubeconfig(t), "test")
	c.ConnectTimeout, c.RequestTimeout = 5*time.Second, 5*time.Second
	return c
}

const secretBody = `
apiVersion: v1
kind: Secret
metadata: {name: hostile, namespace: NS}
stringData: {password: canary-in-a-body}
`

// withoutBombs leaves a fault of many megabytes out of a short run: reading them takes the race detector minutes, and nothing
// happens at once there.
func withoutBombs(t *testing.T, fault string) {
	t.Helper()
	if testing.Short() && (strings.HasPrefix(fault, "bomb") || fault == "endless") {
		t.Skip("-short leaves out what reads a hundred megabytes: under the race detector that takes minutes, and nothing happens at once in it")
	}
}

// TestHostileServerAtConnect: whatever a server answers to the first requests is an error that names it.
func TestHostileServerAtConnect(t *testing.T) {
	to, asked := elsewhere(t)
	for name, fault := range testserver.Hostile(to) {
		t.Run(name, func(t *testing.T) {
			withoutBombs(t, name)
			srv := testserver.Start(t)
			srv.Fault(fault)
			start := time.Now()
			var err error
			peak := watched(func() { _, err = cluster.Connect(t.Context(), hostileConfig(t, srv)) })
			if err == nil || time.Since(start) > time.Minute || peak > 700<<20 {
				t.Errorf("%v after %s with %d MiB", err, time.Since(start), peak>>20)
			}
			if strings.HasPrefix(name, "redirect") {
				if _, ok := errors.AsType[*kubeapi.AccessError](err); !ok || !strings.Contains(err.Error(), srv.URL) || !strings.Contains(err.Error(), to) || strings.Contains(err.Error(), "/version") {
					t.Errorf("%T %v", err, err)
				}
			}
		})
	}
	if asked.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// TestHostileServerLater: a server that turns hostile after the connection was made gets no request elsewhere, and no
// method takes more than its time and memory or believes what is no answer.
func TestHostileServerLater(t *testing.T) {
	to, _ := elsewhere(t)
	for name, fault := range testserver.Hostile(to) {
		t.Run(name, func(t *testing.T) {
			withoutBombs(t, name)
			srv := testserver.Start(t)
			s := connectTo(t, hostileConfig(t, srv))
			srv.Fault(testserver.After(testserver.Connecting, fault))
			start := time.Now()
			peak := watched(func() { everyMethod(t, s) })
			if took := time.Since(start); took > 3*time.Minute || peak > 1<<30 {
				t.Errorf("%s, %d MiB", took, peak>>20)
			}
		})
	}
}

// everyMethod calls every method that asks the server; what reads must fail.
func everyMethod(t *testing.T, s *cluster.Session) {
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	objs := objs(t, "default", secretBody)
	objs[0] = objs[0].Marked("owner", "b")
	ref := objs[0].Ref()
	d := plan.DesiredOf(object.Scoped{Object: objs[0]})
	owned := []plan.InventoryEntry{plan.EntryFor(d, "uid")}
	if _, fs := s.Observe(ctx, cluster.ObserveRequest{Owner: "owner", Desired: []plan.Desired{d}, Inventory: owned}); !fs.HasErrors() {
		t.Error("observe found nothing wrong")
	}
	if got, err := s.Get(ctx, "v1", "Secret", "default", "hostile"); err == nil {
		t.Errorf("get believed %.100v", got)
	}
	if health, fs := s.Health(ctx, "owner", []plan.InventoryEntry{{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "d"}, UID: "u"}}, nil); !fs.HasErrors() {
		t.Errorf("health believed %v", health)
	}
	change := plan.Change{Action: plan.Update, Ref: ref, UID: "uid", ResourceVersion: "1", Code: plan.CodeChanged}
	for _, p := range s.Preview(ctx, []cluster.PreviewRequest{{Change: change, Body: objs[0]}}, nil, nil) {
		if p.Finding == nil {
			t.Errorf("a preview believed the answer: %+v", p)
		}
	}
	s.Review(ctx, &plan.Plan{Changes: []plan.Change{change}}, nil)
	n := s.REST()
	var into map[string]any
	_ = n.Get(ctx, "/api/v1/namespaces/default/secrets/x", nil, &into)
	_ = n.Post(ctx, "/api/v1/namespaces/default/secrets", nil, objs[0].Body, &into)
	_ = n.Put(ctx, "/api/v1/namespaces/default/secrets/x", nil, objs[0].Body, &into)
	_ = n.Delete(ctx, "/api/v1/namespaces/default/secrets/x", nil, nil, &into)
	r := s.Execute(ctx, cluster.ExecuteRequest{Plan: &plan.Plan{Changes: []plan.Change{change}, Owner: "owner"}, Bodies: map[object.Ref]object.Object{ref: objs[0]},
		Inventory: owned, Wait: true, Timeout: 10 * time.Second, StalledAfter: time.Second})
	if r.OK() {
		t.Error("an apply is believed to have succeeded")
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Errorf("discovery is served as it should: %v", err)
	}
}

// TestRedirectIsNotAskedAgain: one request, one answer, and the error says where it pointed without what was sent.
func TestRedirectIsNotAskedAgain(t *testing.T) {
	to, _ := elsewhere(t)
	srv := testserver.Start(t)
	s := connectTo(t, hostileConfig(t, srv))
	srv.Fault(testserver.Redirect(307, strings.Replace(to, "://", "://user:canary-in-a-url@", 1)+"/canary-path?canary-query="))
	before := len(srv.Requests())
	err := s.REST().Post(t.Context(), "/api/v1/namespaces/default/secrets", nil, objs(t, "default", secretBody)[0].Body, nil)
	if len(srv.Requests()) != before+1 {
		t.Errorf("asked %d times", len(srv.Requests())-before)
	}
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "never followed") {
		t.Errorf("%v", err)
	}
}

// TestLongListsArePaged: a list comes in pages, smaller ones when a page is larger than an answer may be, and anew when
// its place in history is gone.
func TestLongListsArePaged(t *testing.T) {
	withoutBombs(t, "bomb of a page")
	srv := testserver.Start(t)
	pod := map[string]any{"apiVersion": "v1", "kind": "Deployment", "metadata": map[string]any{"name": "d", "labels": map[string]any{object.LabelOwner: "owner"}}}
	srv.Put("/apis/apps/v1/namespaces/default/deployments/d", pod)
	config := hostileConfig(t, srv)
	config.RequestTimeout = time.Minute // it is the size that counts
	s := connectTo(t, config)
	var limits []string
	srv.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/deployments") {
			return false
		}
		q := r.URL.Query()
		limits = append(limits, q.Get("limit")+q.Get("continue"))
		switch {
		case q.Get("limit") == "500":
			return testserver.Bomb(200, `{"items":[]`, " ", "}", 100<<20)(w, r)
		case q.Get("continue") == "":
			return testserver.Body(200, `{"kind":"DeploymentList","metadata":{"resourceVersion":"5","continue":"c1"},"items":[{"metadata":{"name":"other","namespace":"default"}}]}`)(w, r)
		case len(limits) == 3:
			testserver.Status(w, 410, "Expired", "too old")
			return true
		}
		return testserver.Body(200, `{"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"d","namespace":"default","generation":1}}]}`)(w, r)
	})
	states, fs := s.Health(t.Context(), "owner", []plan.InventoryEntry{{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "d"}, UID: "u"}}, nil)
	if fs.HasErrors() || len(states) != 1 {
		t.Fatalf("%v %v", states, fs)
	}
	if got := strings.Join(limits, " "); got != "500 50 50c1 500 50 50c1" {
		t.Errorf("pages: %s", got)
	}
}

// TestPoliciesThatQuoteASecret: no reason and no encoding brings what a policy or webhook quotes into a plan, an event,
// an error of a release's record or the result.
func TestPoliciesThatQuoteASecret(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("canary-in-a-body"))
	for _, reason := range []string{"Forbidden", "Unauthorized", "RequestEntityTooLarge", "Invalid", "Conflict", "AlreadyExists", "NotFound", "BadRequest", "InternalError", ""} {
		for code, message := range map[int]string{
			403: `secrets "hostile" is forbidden: ValidatingAdmissionPolicy 'quoting' with binding 'b' denied request: canary-in-a-body`,
			422: `admission webhook "quoting.example" denied the request: ` + encoded,
			413: hex.EncodeToString([]byte("canary-in-a-body"))} {
			srv := testserver.Start(t)
			s := connectTo(t, hostileConfig(t, srv))
			srv.Fault(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/secrets/") || r.Method == http.MethodGet {
					return false
				}
				testserver.Status(w, code, reason, message)
				return true
			})
			o := objs(t, "default", secretBody)[0].Marked("owner", "b")
			change := plan.Change{Action: plan.Create, Ref: o.Ref()}
			var said strings.Builder
			for _, p := range s.Preview(t.Context(), []cluster.PreviewRequest{{Change: change, Body: o}}, nil, nil) {
				fmt.Fprintf(&said, "%+v %v\n", p, p.Finding)
			}
			r := s.Execute(t.Context(), cluster.ExecuteRequest{Plan: &plan.Plan{Changes: []plan.Change{change}, Owner: "owner"},
				Bodies: map[object.Ref]object.Object{o.Ref(): o}, Timeout: 5 * time.Second, OnEvent: func(e cluster.Event) { fmt.Fprintf(&said, "%+v\n", e) }})
			fmt.Fprintf(&said, "%+v\n", r.Findings)
			for _, p := range r.Problems {
				fmt.Fprintf(&said, "%+v %v\n", p.Status, p.Err)
				if st, ok := errors.AsType[*apierrors.StatusError](p.Err); ok {
					fmt.Fprintf(&said, "%+v\n", st.ErrStatus)
				}
			}
			fmt.Fprintln(&said, s.REST().Put(t.Context(), "/api/v1/namespaces/hawser-system/secrets/record", nil, o.Body, nil))
			for _, canary := range []string{"canary", encoded, hex.EncodeToString([]byte("canary"))} {
				if strings.Contains(said.String(), canary) {
					t.Errorf("%d %s: %s", code, reason, said.String())
				}
			}
			if r.OK() || !strings.Contains(said.String(), "withheld") {
				t.Errorf("%d %s says nothing: %s", code, reason, said.String())
			}
		}
	}
}

// TestGarbledWatchIsSaid: an object whose watch tells garbage for good is read one by one, and what is told of it says so.
func TestGarbledWatchIsSaid(t *testing.T) {
	srv := testserver.Start(t)
	s := connectTo(t, hostileConfig(t, srv))
	srv.Fault(testserver.Before(func(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }, testserver.Body(200, "c4nary")))
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Timeout = 8 * time.Second }
	p, bodies := b.plan(t, s, objs(t, "default", scaled))
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 {
		t.Fatalf("%+v", r)
	}
	told := strings.Join(r.Problems[0].Status.Lines(), "\n")
	if strings.Count(told, "cannot be watched") != 1 || !strings.Contains(told, s.Server()) || strings.Contains(told, "c4n") {
		t.Errorf("the object that is waited for says %q", told)
	}
}
