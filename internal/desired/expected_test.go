package desired

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
)

// guardedRig is a rig of an instance that takes a value of an object of another one, which declares it as "on", and the cluster has it as "off".
func guardedRig(t *testing.T, renders func(data map[string]any) string) (*rig, *State, diag.Findings) {
	r := newRig(t)
	r.cluster["ConfigMap/db-ns/db"] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "db", "namespace": "db-ns"}, "data": map[string]any{"guard": "off"}}
	r.renderer.refuses, r.renderer.warns = renders, diag.Findings{diag.Warnf("chart", "the chart warns")}
	s, fs := r.state(r.instance("db", `{guard: "on"}`), r.instance("api", "{guard: {from: {instance: db, object: v1/ConfigMap/db, path: data.guard}}}"))
	if fs.HasErrors() || s.has("api", "guard") != "off" {
		t.Fatalf("%v: %v", s.Bodies, fs)
	}
	return r, s, fs
}

// What a value that will be another one decides about is warned of when stand-ins are put in for it; what was told before is not told again.
func TestReopenTellsWhatIsNew(t *testing.T) {
	r, s, before := guardedRig(t, func(data map[string]any) string {
		if data["guard"] == "on" {
			data["more"] = "yes"
		}
		return ""
	})
	if fs := r.Reopen(t.Context(), s, []string{"api"}); len(before) != 2 || len(fs) != 1 || fs[0].Code != bind.CodeDecides || !strings.Contains(fs[0].What, "data.more") {
		t.Errorf("%v, before that %v", fs, before)
	}
}

// A part that cannot be rendered is not rendered once more with what is to be expected.
func TestNothingIsExpectedOfWhatFails(t *testing.T) {
	r, s, _ := guardedRig(t, func(data map[string]any) string {
		if data["guard"] != "on" && data["guard"] != "off" {
			return "guard is on or off"
		}
		return ""
	})
	r.renderer.rendered = nil
	fs := r.Reopen(t.Context(), s, []string{"api"})
	if n := fs.Errors(); len(n) != 1 || !slices.Equal(r.renderer.rendered, []string{"api"}) {
		t.Errorf("rendered %v: %v", r.renderer.rendered, fs)
	}
}
