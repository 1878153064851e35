package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestReplicasWithoutTheirAutoscaler: an autoscaler that the same plan deletes is none, and the declared replicas are said to
// come back with it. One that stays, is let go, or is not to be pruned goes on scaling.
func TestReplicasWithoutTheirAutoscaler(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}
	hpa := object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "ns", Name: "web"}
	scaled := Live{Found: true, UID: "w", ApplyHash: "less", OwnerLabel: "me", ResourceVersion: "2", ScaleOwner: "kube-controller-manager",
		ReplicasOwner: "kube-controller-manager", Autoscaler: "HorizontalPodAutoscaler ns/web"}
	for name, tt := range map[string]struct {
		change func(*Input)
		ceded  bool
	}{
		"it goes":           {func(*Input) {}, false},
		"it stays":          {func(in *Input) { in.Desired = append(in.Desired, Desired{Ref: hpa, Digest: "h"}) }, true},
		"it is let go":      {func(in *Input) { l := in.Live[hpa]; l.Keep = true; in.Live[hpa] = l }, true},
		"nothing is pruned": {func(in *Input) { in.Options.NoPrune = true }, true},
		"another one goes": {func(in *Input) {
			l := in.Live[web]
			l.Autoscaler = "HorizontalPodAutoscaler ns/other"
			in.Live[web] = l
		}, true},
	} {
		in := Input{Owner: "me", Desired: []Desired{{Ref: web, Digest: "new", Replicas: true}},
			Inventory: []InventoryEntry{{Ref: web, UID: "w", ApplyHash: "e", Digest: "old", Replicas: true}, {Ref: hpa, UID: "h", ApplyHash: "h", Digest: "h"}},
			Live:      map[object.Ref]Live{web: scaled, hpa: {Found: true, UID: "h", ApplyHash: "h", OwnerLabel: "me"}}}
		tt.change(&in)
		before := in.Live[web].Autoscaler
		for _, ch := range Compute(in).Changes {
			if ch.Ref == web && (len(ch.OmitFields) > 0) != tt.ceded {
				t.Errorf("%s: %+v", name, ch)
			}
		}
		if in.Live[web].Autoscaler != before {
			t.Errorf("%s: what was seen is changed", name)
		}
	}
}
