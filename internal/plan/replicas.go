package plan

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/object"
)

// ReplicasPath is the field that autoscalers set.
const ReplicasPath = "spec.replicas"

// replicas decides who sets spec.replicas. It is left to an autoscaler that targets the object and to whom an ignore
// rule names; what anybody else set is drift: then taken is true, whatever else of the object is as it was.
func (c *computation) replicas(d Desired, own InventoryEntry, live Live, ch *Change) (taken bool) {
	c.cede(d, live, ch)
	ch.Handover = own.Replicas && !d.Replicas && live.ScaleOwner == ""
	return own.Replicas && len(ch.OmitFields) == 0 && live.lostReplicas(d) && !d.Ignore.Leaves(ReplicasPath, live.ReplicasOwner)
}

// cede leaves spec.replicas to the autoscaler.
func (c *computation) cede(d Desired, live Live, ch *Change) {
	if live.Autoscaler != "" && d.Replicas && (live.ScaleOwner != "" || live.lostReplicas(d)) {
		ch.OmitFields = []string{ReplicasPath}
	}
}

// lostReplicas reports that the declared spec.replicas is not ours any more, though we apply the object.
func (l Live) lostReplicas(d Desired) bool {
	return d.Replicas && l.ApplyHash != "" && !l.OwnReplicas && l.ReplicasOwner != object.HandoverManager
}

// Scaled reports whether somebody scaled the object: only then what autoscales it matters.
func (l Live) Scaled(o InventoryEntry) bool {
	return l.ScaleOwner != "" || l.lostReplicas(Desired{Replicas: o.Replicas})
}

// by names who scaled the object.
func (l Live) by() string {
	if l.ReplicasOwner == "" {
		return "somebody (scaled to 0)"
	}
	return l.ReplicasOwner
}

// unscale forgets the autoscalers that this plan deletes: what they set is nobody's afterwards, and the declaration counts.
func (c *computation) unscale() {
	goes := map[string]bool{}
	for _, o := range c.Inventory {
		if c.declares(o.Ref) || c.Options.NoPrune || c.Suspended[o.Instance] || c.Rebuilt || !o.Ref.Autoscales() {
			continue
		}
		if action, _, _ := c.fate(o, c.Live[o.Ref]); action == Delete {
			goes[o.Ref.Kind+" "+o.Ref.Namespace+"/"+o.Ref.Name] = true
		}
	}
	if len(goes) == 0 {
		return
	}
	c.Live = maps.Clone(c.Live)
	for r, l := range c.Live {
		if goes[l.Autoscaler] {
			l.Autoscaler = ""
			c.Live[r] = l
		}
	}
}

func (c *computation) declares(r object.Ref) bool {
	return slices.ContainsFunc(c.Desired, func(d Desired) bool { return d.Ref == r })
}
