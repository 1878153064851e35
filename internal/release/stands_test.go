package release

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// A record stands while it is the one that was left: whoever writes it again with the same revision changes nothing.
func TestStands(t *testing.T) {
	left := Record{Revision: 3, Rollout: "A", SourceDigest: "h", Phase: Succeeded}
	for name, tt := range map[string]struct {
		change func(*Record)
		want   bool
	}{
		"as it was":                     {func(*Record) {}, true},
		"learned something":             {func(r *Record) { r.Inputs = map[string]string{"app": "k"} }, true},
		"another run":                   {func(r *Record) { r.Revision, r.Rollout = 4, "B" }, false},
		"another revision of the files": {func(r *Record) { r.Learned = "i" }, false},
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
	r := Record{Inventory: []plan.InventoryEntry{{Ref: ref("b")}, {Ref: ref("a")}},
		Hooks: map[string]plan.HookState{"app": {Hooks: []plan.Hook{{Ref: ref("hook")}, {Ref: ref("a")}}}}}
	if got := r.Refs(); !slices.Equal(got, []object.Ref{ref("a"), ref("b"), ref("hook")}) {
		t.Errorf("%v", got)
	}
	if got := (*Record)(nil).Refs(); got != nil {
		t.Errorf("%v", got)
	}
}

// Where a rollback has nothing to do a cluster has reached its release, by the order that history has: what has no number is older than
// what has one.
func TestReached(t *testing.T) {
	numbered, before := &Name{Release: 7, Rollout: "R7"}, &Name{Rollout: "OLD"}
	for name, c := range map[string]struct {
		to   *Name
		rec  Record
		want bool
	}{
		"in it":                                {numbered, Record{Rollout: "R7", Release: 7}, true},
		"went back to it":                      {numbered, Record{Rollout: "R9", Release: 9, RollbackTo: numbered}, true},
		"went back to another":                 {numbered, Record{Rollout: "R9", Release: 9, RollbackTo: before}, false},
		"older":                                {numbered, Record{Rollout: "R6", Release: 6}, true},
		"newer":                                {numbered, Record{Rollout: "R8", Release: 8}, false},
		"another of its number":                {numbered, Record{Rollout: "X7", Release: 7}, false},
		"of before the numbers":                {numbered, Record{Rollout: "OLD", Revision: 12}, true},
		"in one of before the numbers":         {before, Record{Rollout: "OLD", Revision: 12}, true},
		"another one of before, nobody knows":  {before, Record{Rollout: "OTHER", Revision: 11}, false},
		"with a number, back to one of before": {before, Record{Rollout: "R1", Release: 1}, false},
		"no rollback":                          {nil, Record{Rollout: "OLD"}, false},
	} {
		if got := c.to.Reached(c.rec); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
