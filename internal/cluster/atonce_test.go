package cluster_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// TestExecuteAtOnce: of thousands of objects only some more than can be sent are under way, so that they cost no memory
// before their turn; all of them are written, and deleted.
func TestExecuteAtOnce(t *testing.T) {
	const n = 3000
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	p := &plan.Plan{Owner: "owner"}
	bodies := map[object.Ref]object.Object{}
	for i := range n {
		o := objs(t, "default", fmt.Sprintf("\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: NS}\n", i))[0].Marked("owner", "b")
		bodies[o.Ref()] = o
		p.Changes = append(p.Changes, plan.Change{Action: plan.Create, Ref: o.Ref()})
	}
	before := runtime.NumGoroutine()
	go1, most := make(chan struct{}), 0
	srv.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch {
			<-go1
		}
		return false
	})
	go func() {
		defer close(go1)
		for range 50 { // all that may begin has begun
			most = max(most, runtime.NumGoroutine()-before)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	r := s.Execute(t.Context(), cluster.ExecuteRequest{Plan: p, Bodies: bodies, Timeout: 10 * time.Minute})
	mustOK(t, r)
	if most > 1000 {
		t.Errorf("%d goroutines for %d objects", most, n)
	}
	if r.Done.Create != n || len(r.Inventory) != n || strings.Count(strings.Join(srv.Requests(), "\n"), "PATCH") != n {
		t.Errorf("%d created, %d in the inventory", r.Done.Create, len(r.Inventory))
	}
}
