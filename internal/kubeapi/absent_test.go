package kubeapi

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestAbsent: an object that is not there is absent; a kind that is not served is a mistake, and names what may be meant.
func TestAbsent(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "x")
	noKind := &NoKindError{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapp"}, Cluster: "eu", Near: "v1 ConfigMap"}
	if !IsAbsent(notFound) || !IsAbsent(fmt.Errorf("get: %w", notFound)) {
		t.Error("an object that is not there is not absent")
	}
	if IsAbsent(noKind) || IsAbsent(fmt.Errorf("get: %w", noKind)) || IsAbsent(nil) {
		t.Error("a kind that is not served passes for an absent object")
	}
	if !IsNotFound(noKind) || !strings.Contains(noKind.Error(), "it serves v1 ConfigMap") {
		t.Error(noKind)
	}
}

func TestNearKind(t *testing.T) {
	s := &Client{connection: &connection{kinds: &kinds{byKind: map[schema.GroupKind]KindInfo{
		{Kind: "ConfigMap"}:                 {Preferred: "v1", Versions: []string{"v1"}},
		{Kind: "Secret"}:                    {Preferred: "v1", Versions: []string{"v1"}},
		{Group: "apps", Kind: "Deployment"}: {Preferred: "v1", Versions: []string{"v1"}},
	}}}}
	for _, c := range []struct{ version, kind, want string }{
		{"v1", "ConfigMapp", "v1 ConfigMap"}, {"v1", "Configmap", "v1 ConfigMap"}, {"v1", "Deployment", "apps/v1 Deployment"},
		{"apps/v1beta1", "Deployment", "apps/v1 Deployment"}, {"v1", "Widget", ""},
	} {
		gv, err := schema.ParseGroupVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.NearKind(gv.WithKind(c.kind)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.version, c.kind, got, c.want)
		}
	}
}
