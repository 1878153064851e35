package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/plan"
)

// TestFieldsWithoutAsking: the fields of changed objects are told from the record where no server is asked, as they are
// where one is; without the wish for them nothing is read.
func TestFieldsWithoutAsking(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {same: one, token: VALUE}\n"
	text := func(image, value string) string {
		return r.bundle(r.configMap("app", "image: "+image, "other: one") + secret[:len(secret)-len("VALUE}\n")] + value + "}\n")
	}
	r.write("bundle.yaml", text("web:1", "before-hush"))
	r.applied(r.request())
	r.write("bundle.yaml", text("web:2", "after-hush"))
	fields := func(req Request) map[string][]plan.FieldChange {
		out := map[string][]plan.FieldChange{}
		for _, ch := range r.plan(req).Clusters[0].Plan.Changes {
			if len(ch.Fields) > 0 {
				out[ch.Ref.Kind] = ch.Fields
			}
			if asked := ch.Checked; asked != req.ShowDiff {
				t.Errorf("%s: asked %v", ch.Ref, asked)
			}
		}
		return out
	}
	req := r.request()
	if got := fields(req); len(got) > 0 {
		t.Errorf("not wanted: %v", got)
	}
	req.ShowFields = true
	want := map[string][]plan.FieldChange{"ConfigMap": {{Path: "data.image", Old: `"web:1"`, New: `"web:2"`}},
		"Secret": {{Path: "data.token", Hidden: true}}}
	if diff := cmp.Diff(want, fields(req)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	req.ShowDiff = true
	if got := fields(req); len(got["ConfigMap"]) != 1 || got["ConfigMap"][0].Path != "data.image" {
		t.Errorf("asked: %v", got)
	}
}
