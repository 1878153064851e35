package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// forged are objects of kinds that no cluster has, as a record may claim them.
func forged(n int) (out []plan.InventoryEntry) {
	for i := range n {
		out = append(out, plan.InventoryEntry{Ref: object.Ref{Group: "forged.example.com", Kind: fmt.Sprintf("Kind%d", i), Namespace: "default", Name: "a"}})
	}
	return out
}

// TestForgedKindsShareOneList: however many kinds a record claims that the cluster does not serve, the definitions are listed
// once, and those of their group are read once; a later look lists them anew.
func TestForgedKindsShareOneList(t *testing.T) {
	const kinds = 1000
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	crd := func(name, kind string) map[string]any {
		return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name, "uid": name}, "spec": map[string]any{"names": map[string]any{"kind": kind}}}
	}
	names := map[string]string{"as.forged.example.com": "A", "kind7s.forged.example.com": "Kind7", "bs.example.com": "B"}
	srv.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		rest, ok := strings.CutPrefix(r.URL.Path, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
		if !ok {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		if rest != "" {
			_ = json.NewEncoder(w).Encode(crd(rest[1:], names[rest[1:]]))
			return true
		}
		items := []any{}
		for name, kind := range names {
			items = append(items, crd(name, kind))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
		return true
	})
	for look := range 2 {
		before := len(srv.Requests())
		obs, findings := s.Observe(t.Context(), cluster.ObserveRequest{Owner: "owner", Inventory: forged(kinds)})
		asked := strings.Join(srv.Requests()[before:], "\n")
		if n := strings.Count(asked, "customresourcedefinitions"); findings.HasErrors() || n != 3 || len(obs.Live) != kinds {
			t.Errorf("look %d: %d requests for definitions, want one LIST and one GET for each of the group's (%v)\n%.2000s", look, n, findings, asked)
		}
		for r, l := range obs.Live {
			if want := r.Kind == "Kind7" || look == 1 && r.Kind == "Kind8"; l.Unserved != want {
				t.Errorf("look %d: %s: %+v", look, r, l)
			}
		}
		names["as.forged.example.com"] = "Kind8"
	}
}

// TestObserveHeedsTheEnd: who ends a run that looks at many kinds waits for none of them.
func TestObserveHeedsTheEnd(t *testing.T) {
	srv := testserver.Start(t)
	s := connectTo(t, config(srv.Kubeconfig(t), "test"))
	ctx, cancel := context.WithCancel(t.Context())
	srv.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		srv.Hang(r)
		return true
	})
	start, before := time.Now(), len(srv.Requests())
	_, findings := s.Observe(ctx, cluster.ObserveRequest{Owner: "owner", Inventory: forged(1000)})
	if n := len(srv.Requests()) - before; n > 1 || time.Since(start) > 5*time.Second || len(findings) > 1 {
		t.Errorf("%d requests, %s, %d findings", n, time.Since(start), len(findings))
	}
}
