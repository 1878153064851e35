package cue

import (
	"fmt"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestDefault: what a module says of a value that the bundle does not give: its values.cue, else its schema.
func TestDefault(t *testing.T) {
	req := request(t, "order", "o", `replicas: 5`)
	for path, want := range map[string]string{
		"image.tag": `1.0.0 testdata/modules/order/values.cue:6:3`, "replicas": `1 testdata/modules/order/timoni.cue:16:2`,
		"ui.color": `blue testdata/modules/order/timoni.cue:13:3`, "hosts.0.port": `80 testdata/modules/order/values.cue:14:22`,
		"ui.message": "", "none": "", "image.reference": `registry.example.com/web:1.0.0 testdata/modules/order/timoni.cue:32:2`,
	} {
		p, err := v1alpha1.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if x, pos := New(Options{}).Default(t.Context(), req, p); x != nil {
			v, err := x.Any()
			if err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint(v) + " " + pos.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
