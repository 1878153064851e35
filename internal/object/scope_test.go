package object

import "testing"

// TestBrings: what a definition brings along cannot be tried before it is written; what is served can.
func TestBrings(t *testing.T) {
	d := DefinedKind{Versions: map[string]bool{"v1": true, "v2": true}, CRD: Ref{Kind: "CustomResourceDefinition", Name: "things.example.com"}}
	for want, c := range map[string]struct {
		of      DefinedKind
		version string
		isNew   bool
		served  []string
	}{
		"CRD things.example.com is new":                {d, "v1", true, nil},
		"version v1 comes with CRD things.example.com": {d, "v1", false, []string{"v2"}},
		"": {d, "v2", false, []string{"v2", "v1beta1"}},
	} {
		if got := c.of.Brings(c.version, c.isNew, c.served); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (DefinedKind{}).Brings("v1", false, []string{"v2"}) + d.Brings("v3", false, []string{"v2"}); got != "" {
		t.Error(got)
	}
}
