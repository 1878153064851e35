package fleetplan

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What is not ready at the end of a soak is what somebody would have waited for.
func TestUnready(t *testing.T) {
	ref := func(name string) object.Ref {
		return object.Ref{Kind: "Deployment", Group: "apps", Namespace: "x", Name: name}
	}
	inventory := []plan.Owned{{Ref: ref("ready")}, {Ref: ref("slow"), NoWait: true}, {Ref: ref("bad"), Instance: "app"}, {Ref: ref("unknown")}}
	got := Unready(inventory, map[object.Ref]health.Status{
		ref("ready"): {State: health.Ready}, ref("slow"): {State: health.Progressing}, ref("bad"): {State: health.Failed, Reason: "crashes"}})
	if len(got) != 1 || got[0].Object != ref("bad") || got[0].Name() != "app" || got[0].Status.Reason != "crashes" {
		t.Errorf("%+v", got)
	}
	if names := []string{Problem{Object: ref("bad")}.Name()}; !slices.Equal(names, []string{ref("bad").String()}) {
		t.Error(names)
	}
}
