package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/testfleet"
)

func mine(entries []testfleet.AuditEntry) []testfleet.AuditEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e testfleet.AuditEntry) bool { return e.UserAgent != "hawser-test" })
}

func lines(entries []testfleet.AuditEntry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString("\n" + e.Verb + " " + e.Path + "?" + e.Query)
	}
	return b.String()
}

func TestConnectSendsFourRequests(t *testing.T) {
	f := testfleet.Get()
	from := f.AuditOffset(t, one)
	s := connect(t)
	if s.Requests() != 4 {
		t.Errorf("%d requests sent, want 4", s.Requests())
	}
	if got := mine(f.Audit(t, one, from)); len(got) != 4 {
		t.Errorf("%d requests arrived, want 4:%s", len(got), lines(got))
	}
	facts := s.Facts()
	if facts.Version != strings.TrimPrefix(f.Cluster(one).Version, "v") || facts.UID == "" || facts.WeakUID || facts.Server == "" {
		t.Errorf("facts: %+v", facts)
	}
	if !slices.Contains(facts.APIs, "apps/v1/Deployment") || !slices.Contains(facts.APIs, "v1/ConfigMap") {
		t.Errorf("APIs: %v", facts.APIs)
	}
	k, ok := s.Kind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if !ok || k.Resource != "deployments" || !k.Namespaced || k.Custom || k.Preferred != "v1" {
		t.Errorf("kind: %+v", k)
	}
	if k, ok := s.ByGroupKind(schema.GroupKind{Kind: "Namespace"}); !ok || k.Namespaced {
		t.Errorf("kind: %+v", k)
	}
	if _, ok := s.Kind(schema.GroupVersionKind{Group: "apps", Version: "v9", Kind: "Deployment"}); ok {
		t.Error("a version that is not served is known")
	}
}

func TestConnectErrors(t *testing.T) {
	f := testfleet.Get()
	admin, err := os.ReadFile(f.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	write := func(replace ...string) string {
		p := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(p, []byte(strings.NewReplacer(replace...).Replace(string(admin))), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name, context, path string
		access              bool
		reason              string
	}{
		{"unknown context", "nope", f.Kubeconfig(), true, "never the current context instead"},
		{"no such file", one, filepath.Join(t.TempDir(), "missing"), true, "an unreadable file is an error of access"},
		{"closed port", one, write(f.Cluster(one).URL, "https://127.0.0.1:1"), false, "a cluster that is away may come back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start, cfg := time.Now(), config(c.path, c.context)
			cfg.ConnectTimeout = 10 * time.Minute
			_, err := cluster.Connect(t.Context(), cfg)
			_, access := errors.AsType[*kubeapi.AccessError](err)
			_, away := errors.AsType[*kubeapi.UnreachableError](err)
			if access != c.access || away == c.access {
				t.Errorf("%T %v: %s", err, err, c.reason)
			}
			if time.Since(start) > time.Minute {
				t.Errorf("took %s", time.Since(start))
			}
		})
	}
}

func TestConnectToSomethingElse(t *testing.T) {
	f := testfleet.Get()
	admin, err := os.ReadFile(f.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "kubeconfig")
	// no credentials at all: the server answers 401 or 403
	var kept []string
	for _, l := range strings.Split(string(admin), "\n") {
		if !strings.Contains(l, "client-certificate-data") && !strings.Contains(l, "client-key-data") {
			kept = append(kept, l)
		}
	}
	if err := os.WriteFile(p, []byte(strings.Join(kept, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = cluster.Connect(t.Context(), config(p, one))
	if _, ok := errors.AsType[*kubeapi.AccessError](err); !ok {
		t.Errorf("%T %v", err, err)
	}
}

func TestConnectToAHangingCluster(t *testing.T) {
	f := testfleet.Get()
	f.Pause(t, one)
	c := config(f.Kubeconfig(), one)
	c.ConnectTimeout = 1500 * time.Millisecond
	defer f.Resume(t, one)
	var took time.Duration
	for range 3 { // the machine may be busy, but not always
		start := time.Now()
		_, err := cluster.Connect(t.Context(), c)
		took = time.Since(start)
		ue, ok := errors.AsType[*kubeapi.UnreachableError](err)
		if !ok {
			t.Fatalf("%T %v after %s", err, err, took)
		}
		if !strings.Contains(ue.Reason(), "no answer in time") {
			t.Errorf("reason: %s", ue.Reason())
		}
		if took < 4*time.Second {
			return
		}
	}
	t.Errorf("it takes %s", took)
}

func TestConnectWithoutRightsOnKubeSystem(t *testing.T) {
	s := asUser(t, "nobody-in-particular")
	if facts := s.Facts(); !facts.WeakUID || !strings.HasPrefix(facts.Identity().String(), "server sha256:") {
		t.Errorf("facts: %+v", facts) // never empty: a plan is bound to it
	}
	if s.Requests() != 5 {
		t.Errorf("%d requests, want 4 and one for the weaker UID", s.Requests())
	}
}

func TestGetForQueries(t *testing.T) {
	s := connect(t)
	ns := testfleet.Get().Namespace(t, one)
	newBundle(t).apply(t, s, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: info, namespace: NS}\ndata: {region: eu}")...)
	got, err := s.Get(t.Context(), "v1", "ConfigMap", ns, "info")
	if err != nil || got["data"].(map[string]any)["region"] != "eu" {
		t.Errorf("%v %v", got, err)
	}
	for _, kind := range []string{"ConfigMap", "NoSuchKind"} {
		if _, err := s.Get(t.Context(), "v1", kind, ns, "missing"); !kubeapi.IsNotFound(err) {
			t.Errorf("%s: %v is not kubeapi.IsNotFound", kind, err)
		}
	}
}
