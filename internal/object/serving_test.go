package object

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a cluster serves and what definitions bring, each once and sorted.
func TestServing(t *testing.T) {
	served := []string{"apps/v1/Deployment", "v1/Secret"}
	defined := map[schema.GroupKind]DefinedKind{{Group: "acme.io", Kind: "Widget"}: {Versions: map[string]bool{"v1": true, "v2": true}},
		{Group: "apps", Kind: "Deployment"}: {Versions: map[string]bool{"v1": true}}}
	if got, want := Serving(served, defined), []string{"acme.io/v1/Widget", "acme.io/v2/Widget", "apps/v1/Deployment", "v1/Secret"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Serving(served, nil); !slices.Equal(got, served) {
		t.Errorf("%q", got)
	}
}
