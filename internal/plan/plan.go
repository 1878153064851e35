// Package plan decides what has to change: desired x observed x owned -> Changes. Everything in it is a pure
// function of values: no clock, no network, no cluster. The hands (`cluster`) carry a Plan out without opinions of
// their own: every force, adoption, recreation and prune is already a Change with a reason.
//
// plan must not know how objects were rendered, how a cluster is reached, or how a plan is printed.
package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Action is what happens to one object. The string is the JSON form; Mark is what is printed.
type Action string

const (
	// Create writes an object that is not there.
	Create Action = "create"
	// Update writes an object of ours whose declaration changed or that drifted.
	Update Action = "update"
	// Delete removes an object of ours that is no longer declared.
	Delete Action = "delete"
	// Recreate deletes and creates again, because an immutable field changed.
	Recreate Action = "recreate"
	// Adopt takes an object over from another owner.
	Adopt Action = "adopt"
	// Conflict blocks the plan: somebody else owns the object or fields of it.
	Conflict Action = "conflict"
	// Unknown blocks nothing: what will happen is known only at apply.
	Unknown Action = "unknown"
	// Unchanged needs no request at all.
	Unchanged Action = "unchanged"
	// Release drops an object from the inventory and leaves it in the cluster (kept by annotation, or another owner's now).
	Release Action = "release"
)

// Mark is the sign printed before a change.
func (a Action) Mark() string {
	switch a {
	case Create:
		return "+"
	case Update:
		return "~"
	case Delete:
		return "-"
	case Recreate:
		return "±"
	case Adopt:
		return "<"
	case Conflict:
		return "!"
	case Unknown:
		return "?"
	}
	return " "
}

// Writes reports whether the action sends a write for the object.
func (a Action) Writes() bool {
	switch a {
	case Create, Update, Delete, Recreate, Adopt, Unknown:
		return true
	}
	return false
}

// Code is the stable name of a change's reason.
type Code string

// Reasons. Text for people is in Change.Why.
const (
	CodeNew         Code = "new"          // not in the cluster
	CodeChanged     Code = "changed"      // the declaration changed
	CodeDrift       Code = "drift"        // somebody else changed a value we declared
	CodeSchema      Code = "schema"       // the kind's schema changed since we wrote
	CodeInterrupted Code = "interrupted"  // an earlier run ended between write and record
	CodeGone        Code = "gone"         // was ours, is missing
	CodeReplaced    Code = "replaced"     // same name, other uid
	CodeTerminating Code = "terminating"  // is being deleted; written again once it is gone
	CodeDropped     Code = "dropped"      // no longer declared
	CodeKept        Code = "kept"         // annotated to stay
	CodeForeign     Code = "foreign"      // another owner manages it
	CodeImmutable   Code = "immutable"    // an immutable field changed
	CodeAdopted     Code = "adopted"      // taken over with --adopt
	CodeFields      Code = "fields"       // other managers own fields we declare
	CodeNamespace   Code = "namespace"    // an instance's own namespace, created when missing
	CodeRelabelled  Code = "relabelled"   // our labels were removed
	CodeManagedGone Code = "managed-gone" // our managed fields entry is missing
	CodeHook        Code = "hook"         // a step of the instance's life
	CodeAgain       Code = "again"        // was let go with our marks, and is declared again
	CodeEjected     Code = "ejected"      // stays, without our marks
	CodeMoved       Code = "moved"        // from one bundle of the same files to another: handed over, or taken over
)

// FieldChange is one field that changes. Old and New are compact JSON, or "" when absent; hidden values are never
// in it: then Hidden is true and both are "".
type FieldChange struct {
	// Path is dotted, keyed list items in brackets by key: spec.template.spec.containers[api].image.
	Path   string `json:"path"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	// Added and Removed: of a hidden one, there was no value before, or there is none after.
	Added   bool `json:"added,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// Stays: it is declared no longer, and stays what it is (Old and New), as Manager has it.
	Stays bool `json:"stays,omitempty"`
	// Undeclared: it is declared no longer, and no server was asked whether it goes.
	Undeclared bool `json:"undeclared,omitempty"`
	// Manager is who set Old when it is not us ("kubectl-edit"), Since when (RFC 3339).
	Manager string `json:"manager,omitempty"`
	Since   string `json:"since,omitempty"`
	// Origin is where New comes from: "valuesFor.prod shop.yaml:41".
	Origin string `json:"origin,omitempty"`
}

// Late is an object of an instance that takes values of others, as it is rendered with those or with what stands in for them.
type Late struct {
	Object object.Object
	// Values are those that the instance takes, as JSON types, by their paths below its values. Open are the paths of those that
	// something stands in for.
	Values map[string]any
	Open   []string
}

// Change is what happens to one object and why.
type Change struct {
	Action   Action     `json:"action"`
	Ref      object.Ref `json:"object"`
	Version  string     `json:"version,omitempty"` // API version written, without the group
	Instance string     `json:"instance,omitempty"`
	Stage    int        `json:"stage,omitempty"`
	Code     Code       `json:"code,omitempty"`
	// Why is one line for people.
	Why    string        `json:"why,omitempty"`
	Fields []FieldChange `json:"fields,omitempty"`
	// Digest of the object to write; keyed for what holds secrets in plan files. Open: it is known to hold none, and may be told.
	Digest string `json:"digest,omitempty"`
	Open   bool   `json:"-"`
	// UID and ResourceVersion are what the plan saw: the preconditions of every update and delete. ApplyHash is the hash of
	// our managed fields entry then, which holds keys of maps and lists, and items of sets: it is told where it is keyed, or InFile says that none of them is secret.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	ApplyHash       string `json:"applyHash,omitempty"`
	// FormerEntries is the hash of what its owner had in the managed fields of an object that is to be adopted.
	FormerEntries string `json:"formerEntries,omitempty"`
	InFile        bool   `json:"-"`
	// Foreign are the fields that a change with Force writes over, or what others have in an object that goes: whatever else
	// they write makes the plan stale. ForeignDigest is their digest, only in plan files, and keyed there where it could be guessed.
	Foreign       []object.ForeignField `json:"-"`
	ForeignDigest string                `json:"foreignDigest,omitempty"`
	// Force lists paths of which Execute may take the ownership (with UID and ResourceVersion): drifted paths we had
	// recorded, or everything when adopting.
	Force bool `json:"force,omitempty"`
	// OmitFields are paths left out of the written object because another manager owns them rightly (replicas under /scale).
	OmitFields []string `json:"omitFields,omitempty"`
	// Ignore are fields left to others: the object is applied over the live one without them, see object.Ignore.
	Ignore *object.Ignore `json:"ignore,omitempty"`
	// Was are the fields that were left to others until now, when those are other ones: only the live object tells what
	// they hold. It is for previews alone.
	Was *object.Ignore `json:"-"`
	// Handover: the live spec.replicas is handed to a second manager before we drop the field (else it falls to 1).
	Handover bool `json:"handover,omitempty"`
	// Reclaim are fields (FieldsV1) that we declared before and that stay with the API server's own manager, because the
	// managed fields were missing once: they go with the update, see object.Left. Stays are those (FieldsV1) that the bundle declares
	// no longer and that others keep in the object.
	Reclaim, Stays string `json:"-"` // their keys may be secret, and a saved plan is computed anew
	// From names the former owner for Adopt and Conflict: "Helm release shop/api".
	From string `json:"from,omitempty"`
	// FromManagers are the field managers whose entries are folded into ours on Adopt.
	FromManagers []string `json:"fromManagers,omitempty"`
	// Deferred is set when a server-side check was not possible: "namespace shop is new".
	Deferred string `json:"deferred,omitempty"`
	// Checked is true when the API server accepted the change in a dry run.
	Checked bool `json:"checked,omitempty"`
	// AgainstLive: Fields are the differences of what it becomes, as the dry run tells, to the live object.
	AgainstLive bool     `json:"-"`
	Pos         diag.Pos `json:"pos,omitzero"`
	// NoWait is set when readiness of the object is not waited for; Timeout bounds it (nanoseconds), 0 = the run's.
	NoWait  bool          `json:"noWait,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	// Loss says what a Recreate loses. Claims: the object to delete or recreate makes volume claims of its own.
	Loss   string `json:"loss,omitempty"`
	Claims bool   `json:"claims,omitempty"`
	// Aggregates: other ClusterRoles are aggregated into the one to delete.
	Aggregates bool `json:"-"`
	// OwnNamespace: the object is a Namespace that an instance uses, and nobody wrote.
	OwnNamespace bool `json:"-"`
	// TakenBy is who took fields of the object to delete since we wrote it: it is not pruned without a confirmation.
	TakenBy string `json:"takenBy,omitempty"`
	// Leaving: what is let go is being deleted, and does not stay.
	Leaving bool `json:"leaving,omitempty"`
	// After are the instances whose objects give values that are not known yet, and the bundles ("bundle platform") that write what references lead
	// to; stand-ins are in Fields and Digest.
	After []string `json:"after,omitempty"`
	// Late is the object of an instance that takes values of others, nil for any other one.
	Late *Late `json:"-"`
	// Replaces is the object that goes because this one is made under a new name for what it holds now (a digest or version
	// in the name); there, ReplacedBy is this one. Both changes are carried out and counted.
	Replaces   *object.Ref `json:"replaces,omitempty"`
	ReplacedBy *object.Ref `json:"replacedBy,omitempty"`
	// Content is the whole of an object that is made, with what is secret masked; only where it was asked for.
	Content Body `json:"content,omitempty"`
	// Seen is what the plan saw of an object that goes (Delete, Recreate), nil for none.
	Seen *Live `json:"-"`
	// Hook is set for an object that is a step of the instance's life: it runs (Create, Recreate), is waited for
	// (Unchanged), or what is left of it is removed (Delete). One hook may run for several events.
	Hook *HookTask `json:"hook,omitempty"`
}

// Plan is what will be done on one cluster. Changes are in the order of the bundle's instances (undeclared ones last),
// and of object.Ref.Compare within one.
type Plan struct {
	Cluster string   `json:"cluster"`
	Bundle  string   `json:"bundle"`
	Owner   string   `json:"owner"`
	Changes []Change `json:"changes"`
	// Events are what happens to instances with hooks, by instance.
	Events map[string]LifecycleStep `json:"events,omitempty"`
	// Unchanged counts objects that are as declared.
	Unchanged int `json:"unchanged"`
	// Findings of the plan itself; an Error among them blocks the apply.
	Findings diag.Findings `json:"findings,omitempty"`
	// Kept is the inventory of everything the plan does not write: unchanged objects (with what was just seen of
	// them) and, when pruning is off, undeclared ones. Refresh tells that the record should learn it: something moved
	// without changing what we declared.
	Kept    []InventoryEntry `json:"-"`
	Refresh bool             `json:"-"`
	// Lent is what was let go for other bundles of the same files, and nobody has yet.
	Lent []InventoryEntry `json:"-"`
	// Rebuilt: the record was lost and has to be written again, whatever else there is to do.
	Rebuilt bool `json:"-"`
	// Suspended are the instances that the plan leaves as they are, sorted.
	Suspended []string `json:"suspended,omitempty"`
	// HookStates is what the record says of instances with hooks while the plan is carried out.
	HookStates map[string]HookState `json:"-"`
	// HandedOver are instances that are no longer declared and whose objects others deliver now: they are not removed.
	HandedOver []string `json:"-"`
	// Forget are objects of hooks in the inventory that are not in the cluster any more.
	Forget []object.Ref `json:"-"`
	// Brake says why this plan's deletions need an explicit number, "" when they do not; deletionguard decides it.
	Brake string `json:"brake,omitempty"`
}

// Empty reports whether nothing is written by the plan.
func (p *Plan) Empty() bool {
	for _, c := range p.Changes {
		if c.Action.Writes() || c.Action == Release {
			return false
		}
	}
	return true
}

// InventoryEntry is one entry of the inventory: an object we wrote, as the record of the last release names it.
type InventoryEntry struct {
	Ref      object.Ref `json:"ref"`
	Version  string     `json:"version"`
	Instance string     `json:"instance,omitempty"`
	Stage    int        `json:"stage,omitempty"`
	// UID is "" for an object intended by an open record and never confirmed.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"rv,omitempty"`
	// Digest of the declaration as written; ApplyHash the hash of our managed fields entry after the write.
	Digest    string `json:"digest,omitempty"`
	ApplyHash string `json:"own,omitempty"`
	// Schema is the schema key of the kind at that time: CRD uid and generation, or the server's minor version.
	Schema string `json:"schema,omitempty"`
	// Keep: never delete (annotation on the declared object); NoWait: readiness is not waited for; Timeout bounds it.
	Keep    bool          `json:"keep,omitempty"`
	NoWait  bool          `json:"noWait,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	// Once: created once (one-off annotation), never updated.
	Once bool `json:"once,omitempty"`
	// Expires: it goes by itself when it is done (a Job with a time to live), and counts as done then; Awaited: somebody
	// waited for that and has not seen it, so that it is made again when it is gone.
	Expires bool `json:"expires,omitempty"`
	Awaited bool `json:"awaited,omitempty"`
	// Ignore are the fields left to others, Entry our managed fields entry then (only beside Ignore).
	Ignore *object.Ignore `json:"ignore,omitempty"`
	Entry  *object.Entry  `json:"entry,omitempty"`
	// OwnNamespace: the namespace was created because an instance needed it; kept on delete.
	OwnNamespace bool `json:"ownNamespace,omitempty"`
	// Replicas: the declaration set spec.replicas.
	Replicas bool `json:"replicas,omitempty"`
	// Fixed is the digest of what the kind may refuse to change, see object.Fixed; Force: an immutable change recreates it.
	Fixed string `json:"fixed,omitempty"`
	Force bool   `json:"force,omitempty"`
	// Stays are fields (FieldsV1) that were declared once and that others keep in the object.
	Stays string `json:"stays,omitempty"`
	// Taken is who had the object when it was adopted ("Hawser bundle pay"), "" for one that was made here.
	Taken string `json:"taken,omitempty"`
	// Hook is set for the object of a hook. It is no lasting part of its instance: it neither drifts nor is it missed.
	Hook *HookRun `json:"hook,omitempty"`
}

// Desired is one declared object, reduced to what deciding needs.
type Desired struct {
	Ref      object.Ref
	Version  string
	Instance string
	Stage    int
	Digest   string
	// Pos is where the object is written, Declared where the bundle declares its instance.
	Pos, Declared diag.Pos
	// From the object's annotations (action.timoni.sh/* or hawser.dev/*).
	Once, Keep, NoWait, ForceRecreate bool
	// Expires: it goes by itself when it is done.
	Expires bool
	// Timeout bounds waiting for the object, 0 = the run's.
	Timeout time.Duration
	// Ignore are the fields left to others, nil for none.
	Ignore *object.Ignore
	// OwnNamespace marks an instance's namespace that Hawser itself adds when missing.
	OwnNamespace bool
	// Replicas: the declaration sets spec.replicas. Open: the object is known to hold no secret.
	Replicas, Open bool
	// Fixed is the digest of what the kind may refuse to change, see object.Fixed.
	Fixed string
	// Namespaced tells whether the kind lives in namespaces. Late: fields of it are not known yet, and what stands in them says nothing.
	Namespaced, Late bool
	// Hook is set for objects that are a step of the instance's life.
	Hook *object.Hook
}

// Live is what was seen of one object in the cluster.
type Live struct {
	Found           bool
	UID             string
	ResourceVersion string
	Generation      int64
	Terminating     bool
	// Held says what holds it while it is being deleted, Since when that began (RFC 3339).
	Held, Since string
	// ApplyHash is the hash of our Apply entry in managedFields, "" when there is none; ApplyVersion its apiVersion.
	ApplyHash    string
	ApplyVersion string
	// Entry is our managed fields entry, and LeftToOthers whether it lost nothing since it was recorded but fields that are left
	// to others; both only for objects with an Ignore.
	Entry        *object.Entry
	LeftToOthers bool
	// Managed are the managed fields of an object of which our entry is not the one recorded.
	Managed []metav1.ManagedFieldsEntry
	// Stays is what others still have of InventoryEntry.Stays, StaysBy who: "helm, kubectl-edit".
	Stays, StaysBy string
	// OwnerLabel is the value of hawser.dev/owner; Keep whether the live object is annotated to stay.
	OwnerLabel string
	Keep       bool
	// Foreign names another owner ("Helm release shop/api"), ForeignManagers its field managers, Reconciled whether it
	// is known to still reconcile the object.
	Foreign         string
	ForeignManagers []string
	// ForeignEntries is the hash of what these managers have in managed fields, those of the status apart.
	ForeignEntries string
	Reconciled     bool
	// ForeignBundle is set when the owner is another Hawser bundle.
	ForeignBundle bool
	// Released: that owner's release has it, also where it is ours: it was taken over again. Hook: a hook of Helm left it.
	Released, Hook bool
	// ScaleOwner is the manager that owns spec.replicas through the scale subresource, "" if none; Autoscaler what scales
	// the object (`HorizontalPodAutoscaler shop/api`), "" when nothing does or nobody scaled it.
	ScaleOwner, Autoscaler string
	// OwnReplicas: our entry owns spec.replicas; ReplicasOwner is another manager that does, "" for none (scaled to 0, the
	// field has no owner).
	OwnReplicas   bool
	ReplicasOwner string
	// Shared: others own fields of the object, those of its status apart.
	Shared bool
	// Claims: it makes volume claims of its own (a StatefulSet's volumeClaimTemplates).
	Claims bool
	// Aggregates: other ClusterRoles are aggregated into it. Remnant: it was deleted, and the controller that fills such roles
	// has made it again with nothing but rules.
	Aggregates, Remnant bool
	// Unseen says why the object could not be looked at, so that nobody knows whether it is there; "" when it is known.
	// Unserved: the reason is that the cluster does not serve the kind (any more).
	Unseen   string
	Unserved bool
}

// FieldConflict is a field of ours that another manager owns with another value.
type FieldConflict struct {
	Path        string `json:"path"`
	Manager     string `json:"manager"`
	Subresource string `json:"subresource,omitempty"`
	// Ours: the path stands in the declaration we recorded, so taking it back is drift correction.
	Ours bool `json:"ours,omitempty"`
}

// Preview is the answer of the API server (or of the local comparison) to one change.
type Preview struct {
	// NoOp: the server would store nothing new.
	NoOp      bool
	Fields    []FieldChange
	Conflicts []FieldConflict
	// Force and OmitFields are what was tried.
	Force      bool
	OmitFields []string
	// Reclaim, Stays and Foreign are for the change, under those names.
	Reclaim, Stays string
	Foreign        []object.ForeignField
	// Immutable: refused because of an immutable field, in the words that it Says, and the same object would be accepted as a new one.
	Immutable bool
	Says      string
	// Checked: a dry run was sent and accepted. AgainstLive: Fields compare its answer with the live object.
	Checked, AgainstLive bool
	// Deferred says why no dry run was possible.
	Deferred string
	// Finding is set when the change cannot work (refused by validation, a webhook, missing rights).
	Finding *diag.Finding
	// Lacks: no dry run may be asked for, for want of the right that Finding names. Fields tell what can be told without one.
	Lacks bool
}

// Input is everything Compute decides from.
type Input struct {
	Cluster   string
	Bundle    string
	Owner     string
	Desired   []Desired
	Inventory []InventoryEntry
	// Lent is what earlier releases let go for other bundles of the same files.
	Lent []InventoryEntry
	// NotPlaced are the instances of the bundle that have no place here, with the reasons.
	NotPlaced map[string]string
	// Rebuilt: the record is lost, and Inventory is what carries our marks instead. Nothing is deleted because of that.
	Rebuilt bool
	// Recorded: there is a record that can be read; Unseen are the kinds that could not be looked at when it was made again.
	Recorded bool
	Unseen   []string
	// Damaged: there is a record that can not be read, and it is made again. Delivered: hawser.lock says that the bundle
	// runs there.
	Damaged, Delivered bool
	// Open: the last record was left open by a run that ended in the middle.
	Open bool
	// Unended are the inputs digests by instance of the last run, where it has not done everything; nil where it has.
	Unended map[string]string
	// Undone: that run was to delete everything, or with Freeing to eject it.
	Undone bool
	// Freeing: that run was to eject everything.
	Freeing bool
	// HookStates are the instances with hooks as the last record has them, Inputs the inputs digests of the instances placed
	// here now (placed instances without any may be missing).
	HookStates map[string]HookState
	Inputs     map[string]string
	// Live has an entry for every desired and owned ref; of hooks for those of HooksToLookAt.
	Live map[object.Ref]Live
	// Schema is the schema key by group and kind ("apps/Deployment", "/ConfigMap").
	Schema map[string]string
	// Previews are the answers to a first Compute's NeedsPreview.
	Previews map[object.Ref]Preview
	// NamespaceExists tells for each namespace used whether it is there.
	NamespaceExists map[string]bool
	// Contents is what is in the Namespaces and definitions that Holders names of a first Compute.
	Contents map[object.Ref]Contents
	// Suspended are the instances that are left as they are: what the inventory has of them stays in it.
	Suspended map[string]bool
	// Beside is what the other bundles of the same files say; wanted where AsksBeside reports so.
	Beside Beside
	// Ahead is what comes with bundles that are done first; wanted where Asks reports so.
	Ahead   Ahead
	Options Options
}
