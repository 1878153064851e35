package cluster_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

// An object whose definition serves no version at the moment is never taken for gone, neither by a session that knew the
// kind nor by a new one; without a definition there is none.
func TestUnservedKinds(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, crontabs+crontab)...)
	definitions := others(t).Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	served := func(is bool) {
		t.Helper()
		patch := `[{"op":"replace","path":"/spec/versions/0/served","value":` + map[bool]string{true: "true", false: "false"}[is] + `}]`
		if _, err := definitions.Patch(t.Context(), "crontabs."+ns+".example.com", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		discovered(t, ns+".example.com", "CronTab", is)
	}
	served(false)
	tab := object.Ref{Group: ns + ".example.com", Kind: "CronTab", Namespace: ns, Name: "one"}
	ghost := object.Ref{Group: ns + ".example.com", Kind: "Ghost", Namespace: ns, Name: "none"}
	old := object.Ref{Group: "policy", Kind: "PodSecurityPolicy", Name: "none"}
	for name, s := range map[string]*cluster.Session{"knew it": s, "new": connect(t)} {
		obs, fs := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: []plan.InventoryEntry{{Ref: tab}, {Ref: ghost}, {Ref: old}}})
		if fs.HasErrors() || !obs.Live[tab].Unserved || obs.Live[ghost].Unserved || !obs.Live[old].Unserved || !strings.Contains(obs.Live[tab].Unseen, "does not serve") {
			t.Errorf("%s: %v %+v", name, fs, obs.Live)
		}
	}
	served(true)
	b.delete(t, connect(t))
}

// Who may list in the namespaces alone finds the marks there; what was not looked at is said once.
func TestMarkedInNamespaces(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, cmA)...)
	t.Cleanup(func() { b.delete(t, s) })
	user := "marked-" + ns
	grant(t, ns, user, "get, list")
	narrow := asUser(t, user)
	for _, namespaces := range [][]string{nil, {ns}} {
		m := narrow.Marked(t.Context(), b.owner(), namespaces...)
		if want := len(namespaces); len(m.Inventory) != want || len(m.Live) != want || m.Unseen["configmaps"] == "" || m.Unseen["deployments.apps"] == "" {
			t.Errorf("in %v: %+v", namespaces, m)
		}
	}
	if m := s.Marked(t.Context(), b.owner()); len(m.Inventory) != 1 || len(m.Unseen) != 0 {
		t.Errorf("with all rights: %+v", m)
	}
}

// An API server of its own may come back with its objects: with its APIService gone, what was recorded of its kinds is unknown,
// for a look and for a deletion. What a definition made is gone with it.
func TestAggregatedKindsAreUnknown(t *testing.T) {
	s := connect(t)
	b := newBundle(t)
	ref := func(name string) object.Ref {
		return object.Ref{Group: b.name + ".example.com", Kind: "Flavor", Namespace: "default", Name: name}
	}
	served := plan.InventoryEntry{Ref: ref("served"), Version: "v1beta1", UID: "u1", ApplyHash: "o", Schema: "v1.33"}
	defined := plan.InventoryEntry{Ref: ref("defined"), Version: "v1", UID: "u2", ApplyHash: "o", Schema: "0e9a:1"}
	never := plan.InventoryEntry{Ref: ref("never"), Version: "v1"}
	owned := []plan.InventoryEntry{served, defined, never}
	obs, fs := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: owned})
	if l := obs.Live[served.Ref]; fs.HasErrors() || !l.Unserved || !strings.Contains(l.Unseen, "APIService v1beta1."+b.name+".example.com is gone") {
		t.Errorf("served by a server of its own: %+v %v", l, fs)
	}
	for _, o := range owned[1:] {
		if obs.Live[o.Ref].Unserved {
			t.Errorf("%s: %+v", o.Ref.Name, obs.Live[o.Ref])
		}
	}
	p := &plan.Plan{Owner: b.owner()}
	for _, o := range owned {
		p.Changes = append(p.Changes, plan.Change{Action: plan.Delete, Ref: o.Ref, UID: o.UID, ApplyHash: o.ApplyHash})
	}
	r := s.Execute(t.Context(), cluster.ExecuteRequest{Plan: p, Inventory: owned, Deleting: true, Wait: true, Timeout: 3 * time.Minute})
	if len(r.Problems) != 1 || r.Problems[0].Ref != served.Ref || !isStale(r.Problems[0].Err) || len(r.Inventory) != 1 || r.Inventory[0].Ref != served.Ref {
		t.Errorf("deleted: %+v, left %+v", r.Problems, r.Inventory)
	}
}
