package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// ending is a rule that ends the run when it was asked a hundred times.
type ending struct {
	end              context.CancelFunc
	asked, now, most *atomic.Int64
}

func (e ending) Vet(health.Check) error { return nil }

func (e ending) Check(health.Check, map[string]any) (health.Status, bool, error) {
	defer e.now.Add(-1)
	if n := e.now.Add(1); n > e.most.Load() {
		e.most.Store(n)
	}
	time.Sleep(time.Millisecond)
	if e.asked.Add(1) == 100 {
		e.end()
	}
	return health.Status{State: health.Ready}, true, nil
}

// TestHealthHeedsTheEnd: few objects are judged by rules at once, whose memory nobody knows, and a run that is ended asks none any more
// of what it has read already.
func TestHealthHeedsTheEnd(t *testing.T) {
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	ctx, cancel := context.WithCancel(t.Context())
	var owned []plan.InventoryEntry
	for i := range 1000 {
		name := fmt.Sprintf("c%d", i)
		srv.Put("/api/v1/namespaces/default/configmaps/"+name, map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{object.LabelOwner: "owner"}}})
		owned = append(owned, plan.InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "default", Name: name}, Instance: "web"})
	}
	var asked, now, most atomic.Int64
	rules := map[string]health.Rules{"web": {Checks: []health.Check{{Kind: "ConfigMap"}}, Checker: ending{cancel, &asked, &now, &most}}}
	if _, findings := s.Health(ctx, "owner", owned, rules); asked.Load() < 100 || asked.Load() > 110 || most.Load() > 4 || !findings.HasErrors() {
		t.Errorf("%d of %d objects were judged, %d at once", asked.Load(), len(owned), most.Load())
	}
}

// TestHealthThatIsCutOff: when the time is over the objects that are not ready are told, and none whose turn had not come or whose
// read was cut off.
func TestHealthThatIsCutOff(t *testing.T) {
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	var owned []plan.InventoryEntry
	for _, name := range []string{"bad", "good", "fine"} {
		meta := map[string]any{"name": name, "namespace": "default"}
		if name == "bad" { // the others are read by name
			meta["labels"] = map[string]any{object.LabelOwner: "owner"}
		}
		srv.Put("/apis/apps/v1/namespaces/default/deployments/"+name, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
			"spec": map[string]any{"replicas": 1}})
		owned = append(owned, plan.InventoryEntry{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name}, Instance: "web"})
	}
	srv.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/good") || strings.HasSuffix(r.URL.Path, "/fine") {
			srv.Hang(r)
			return true
		}
		return false
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("the time was over"))
	defer cancel()
	states, findings := s.Health(ctx, "owner", owned, nil)
	if st := states[owned[0].Ref]; len(states) != 1 || st.State == health.Ready {
		t.Errorf("%+v", states)
	}
	if len(findings) != 1 || !findings.HasErrors() || findings[0].Object != "" || !strings.Contains(findings[0].What, "2 more objects") || findings[0].Why != "the time was over" {
		t.Errorf("%+v", findings)
	}
}

// quoting is a checker that quotes what it read.
type quoting struct{}

func (quoting) Vet(health.Check) error { return nil }

func (quoting) Check(health.Check, map[string]any) (health.Status, bool, error) {
	return health.Status{State: health.Failed, Reason: "cannot log in with topsecret", Details: []string{"the password topsecret is wrong"}}, true, nil
}

// TestHealthHidesSecrets: what others say of an object's health is masked, its reason and every detail.
func TestHealthHidesSecrets(t *testing.T) {
	srv := testserver.Start(t)
	c := config(srv.Kubeconfig(t), "test")
	c.Redact = func(s string) string { return strings.ReplaceAll(s, "topsecret", "***") }
	s := connectTo(t, c)
	ref := object.Ref{Kind: "ConfigMap", Namespace: "default", Name: "c"}
	srv.Put("/api/v1/namespaces/default/configmaps/c", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "c", "namespace": "default", "labels": map[string]any{object.LabelOwner: "owner"}}})
	got, findings := s.Health(t.Context(), "owner", []plan.InventoryEntry{{Ref: ref, Instance: "web"}},
		map[string]health.Rules{"web": {Checks: []health.Check{{Kind: "ConfigMap"}}, Checker: quoting{}}})
	want := health.Status{State: health.Failed, Reason: "cannot log in with ***", Details: []string{"the password *** is wrong"}}
	if st := got[ref]; len(findings) > 0 || st.State != want.State || st.Reason != want.Reason || !slices.Equal(st.Details, want.Details) {
		t.Errorf("%+v, %v", got, findings)
	}
}
