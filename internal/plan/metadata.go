package plan

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
)

// tokenAccount is the annotation of a token's Secret with the uid of the account that it belongs to.
const tokenAccount = "kubernetes.io/service-account.uid"

// LiveOf reduces an object's metadata to what deciding needs; manager is our own name in its managed fields.
func LiveOf(m metav1.ObjectMeta, manager string) Live {
	l := Live{Found: true, UID: string(m.UID), ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		Terminating: m.DeletionTimestamp != nil, OwnerLabel: m.Labels[object.LabelOwner],
		Keep: object.ActionsOf(m.Annotations).Keep, ScaleOwner: object.ScaleOwner(m.ManagedFields),
		Claims: object.MakesClaims(m.ManagedFields), Aggregates: object.Aggregates(m.ManagedFields), Remnant: object.OnlyAggregated(m.ManagedFields), Shared: object.Shared(m.ManagedFields, manager)}
	if l.Terminating {
		l.Held, l.Since = object.HeldBy(m.Finalizers, m.ManagedFields), m.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	l.OwnReplicas, l.ReplicasOwner = object.ReplicasOf(m.ManagedFields, manager)
	l.ApplyHash, l.ApplyVersion = object.OwnEntry(m.ManagedFields, manager)
	f := object.ForeignOwner(m.Labels, m.Annotations, m.ManagedFields, manager)
	l.Foreign, l.ForeignManagers, l.Reconciled, l.ForeignBundle, l.Released, l.Hook = f.Owner, f.Managers, f.Reconciled, f.Bundle, f.Release, f.Hook
	l.ForeignEntries = object.EntriesOf(m.ManagedFields, f.Managers)
	return l
}

// Unserved is what is known of an object whose kind a cluster does not serve.
func Unserved(o InventoryEntry) Live {
	l := Live{Unserved: true, Unseen: "the cluster does not serve the kind " + o.Ref.Kind + " of " + o.Ref.Group}
	if o.Aggregated() {
		l.Unseen += ": its APIService " + o.apiService() + " is gone"
	}
	return l
}

// Aggregated reports whether an API server of its own, and no definition, served the object's kind when it was written: what
// that server keeps does not go with its APIService. Of what was never seen in the cluster it is not known.
func (o InventoryEntry) Aggregated() bool {
	return o.UID != "" && o.Ref.Custom() && !strings.Contains(o.Schema, ":") // the key of a definition has its uid and generation
}

func (o InventoryEntry) apiService() string { return o.Version + "." + o.Ref.Group }

// ContentOf reduces the metadata of an object inside a Namespace, or of a definition's kind, to what deciding needs. owner
// is the id of the bundle whose marks are ours.
func ContentOf(ref object.Ref, m metav1.ObjectMeta, owner string) Content {
	c := Content{Ref: ref, UID: string(m.UID), Marked: m.Labels[object.LabelOwner] == owner, ByCluster: object.ByCluster(m.ManagedFields),
		Keep: object.ActionsOf(m.Annotations).Keep, Terminating: m.DeletionTimestamp != nil}
	for _, o := range m.OwnerReferences {
		c.Owners = append(c.Owners, string(o.UID))
	}
	if uid := m.Annotations[tokenAccount]; uid != "" {
		c.Owners = append(c.Owners, uid)
	}
	if !c.Marked {
		c.By = object.ForeignOwner(m.Labels, m.Annotations, m.ManagedFields, object.Manager(owner)).Owner
	}
	return c
}

// ServerSchema is the schema key of Kubernetes' own kinds: the minor version of the server's, "1.34.1".
func ServerSchema(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return "v" + strings.Join(parts[:min(len(parts), 2)], ".")
}
