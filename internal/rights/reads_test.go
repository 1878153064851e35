package rights

import (
	"slices"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// What a fleet's queries read belongs to the rights.
func TestQueried(t *testing.T) {
	f := &v1alpha1.FleetSpec{Values: []v1alpha1.RuntimeQuery{{Query: "k8s:v1:ConfigMap:default:cluster-info"}, {Query: "k8s:storage.k8s.io/v1:StorageClass:fast"}, {Query: "?"}}}
	want := []object.Ref{{Kind: "ConfigMap", Namespace: "default", Name: "cluster-info"}, {Group: "storage.k8s.io", Kind: "StorageClass", Name: "fast"}}
	if got := Queried(f); !slices.Equal(got, want) || Queried(nil) != nil {
		t.Errorf("%v", got)
	}
}

// What could not be read is a warning, and so is that a bundle is not known for it; what the files have wrong stays an error.
func TestPartly(t *testing.T) {
	wrong, unread := diag.Findings{diag.Errorf("reference", "no REGION")}, diag.Findings{diag.Errorf("query", "forbidden")}
	for name, c := range map[string]struct {
		fs, unread diag.Findings
		chosen     string
		names      []string
		bundle     string
		codes      []string
		errors     bool
	}{
		"all was read":                     {nil, nil, "", []string{"shop"}, "evaluated", nil, false},
		"wrong":                            {wrong, nil, "", []string{"shop"}, "evaluated", []string{"reference"}, true},
		"unread, and not needed":           {nil, unread, "", []string{"shop"}, "evaluated", []string{"query"}, false},
		"unread":                           {wrong, unread, "", []string{"shop"}, "shop", []string{"query", "unknown-rights"}, false},
		"unread, and chosen":               {wrong, unread, "web", []string{"shop", "web"}, "web", []string{"query", "unknown-rights"}, false},
		"unread, and nobody knows of what": {wrong, unread, "", []string{"shop", "web"}, "evaluated", []string{"reference"}, true},
	} {
		spec, fs := Partly(v1alpha1.BundleSpec{Name: "evaluated"}, c.fs, c.unread, c.chosen, c.names)
		var codes []string
		for _, f := range fs {
			codes = append(codes, f.Code)
		}
		if spec.Name != c.bundle || !slices.Equal(codes, c.codes) || fs.HasErrors() != c.errors {
			t.Errorf("%s: %q, %+v", name, spec.Name, fs)
		}
	}
}
