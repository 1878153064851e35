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
		deadline := time.Now().Add(30 * time.Second)
		for {
			if _, ok := connect(t).ByGroupKind(schema.GroupKind{Group: ns + ".example.com", Kind: "CronTab"}); ok == is {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("discovery does not follow: served %v", is)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	served(false)
	tab := object.Ref{Group: ns + ".example.com", Kind: "CronTab", Namespace: ns, Name: "one"}
	ghost := object.Ref{Group: ns + ".example.com", Kind: "Ghost", Namespace: ns, Name: "none"}
	old := object.Ref{Group: "policy", Kind: "PodSecurityPolicy", Name: "none"}
	for name, s := range map[string]*cluster.Session{"knew it": s, "new": connect(t)} {
		obs, fs := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Owned: []plan.Owned{{Ref: tab}, {Ref: ghost}, {Ref: old}}})
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
		if want := len(namespaces); len(m.Owned) != want || len(m.Live) != want || m.Unseen["configmaps"] == "" || m.Unseen["deployments.apps"] == "" {
			t.Errorf("in %v: %+v", namespaces, m)
		}
	}
	if m := s.Marked(t.Context(), b.owner()); len(m.Owned) != 1 || len(m.Unseen) != 0 {
		t.Errorf("with all rights: %+v", m)
	}
}
