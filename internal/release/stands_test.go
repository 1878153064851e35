package release

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// A record stands while it is the one that was left: whoever writes it again with the same revision changes nothing.
func TestStands(t *testing.T) {
	left := Record{Revision: 3, Rollout: "A", Head: "h", Phase: Succeeded}
	for name, tt := range map[string]struct {
		change func(*Record)
		want   bool
	}{
		"as it was":                     {func(*Record) {}, true},
		"learned something":             {func(r *Record) { r.Inputs = map[string]string{"app": "k"} }, true},
		"another run":                   {func(r *Record) { r.Revision, r.Rollout = 4, "B" }, false},
		"another revision of the files": {func(r *Record) { r.Head = "i" }, false},
		"another run is at work":        {func(r *Record) { r.Phase = Applying }, false},
		"deleted and made again":        {func(r *Record) { r.Rollout = "B" }, false},
	} {
		now := left
		tt.change(&now)
		if got := left.Stands(&now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var none *Record
	if !none.Stands(nil) || none.Stands(&left) || left.Stands(nil) {
		t.Error("where there is none")
	}
}

// A record names its inventory and its hooks, each once.
func TestRefs(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name} }
	r := Record{Inventory: []plan.Owned{{Ref: ref("b")}, {Ref: ref("a")}},
		Hooks: map[string]plan.Life{"app": {Hooks: []plan.Hook{{Ref: ref("hook")}, {Ref: ref("a")}}}}}
	if got := r.Refs(); !slices.Equal(got, []object.Ref{ref("a"), ref("b"), ref("hook")}) {
		t.Errorf("%v", got)
	}
	if got := (*Record)(nil).Refs(); got != nil {
		t.Errorf("%v", got)
	}
}
