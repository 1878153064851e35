package cue

import (
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestKinds: of which kinds a value is that must be no text, as the module's schema says it, whatever values.cue has.
func TestKinds(t *testing.T) {
	req := request(t, "web", "w", `message: "m"`)
	for path, want := range map[string]string{"replicas": "i", "message": "", "tier": "", "maybe": "", "ports[0].port": "i", "ports[3].port": "i",
		"env.A": "", "image": "", "image.tag": "", "none": "", "ports[0].name": ""} {
		p, err := v1alpha1.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range New(Options{}).Kinds(t.Context(), req, []v1alpha1.Path{p})[0] {
			got += map[v1alpha1.Kind]string{v1alpha1.KindBool: "b", v1alpha1.KindInt: "i", v1alpha1.KindFloat: "f"}[k]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	enabled := v1alpha1.Path{{Name: "test"}, {Name: "enabled"}}
	if got := New(Options{}).Kinds(t.Context(), request(t, "order", "o", `replicas: 5`), []v1alpha1.Path{enabled, {{Name: "hosts"}, {Name: "0", Index: true}, {Name: "port"}}}); len(got) != 2 || len(got[0]) != 1 || got[0][0] != v1alpha1.KindBool || len(got[1]) != 0 {
		t.Errorf("%v", got)
	}
}
