// Package object is one Kubernetes object as Hawser handles it, and ordered Sets of them: identity, marks,
// ownership as the managed fields tell it, kind order, masks and digests.
//
// Identity is group, kind, namespace and name, never the version (facts: two versions are one object).
// Everything here is a pure function of values; object must not know clusters, files or how anything is rendered.
package object

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
)

// Labels and annotations Hawser writes or reads.
const (
	LabelOwner     = "hawser.dev/owner"
	LabelBundle    = "hawser.dev/bundle"
	LabelInstance  = "hawser.dev/instance"
	LabelManagedBy = "app.kubernetes.io/managed-by"

	// SystemNamespace holds records and locks in every cluster.
	SystemNamespace = "hawser-system"
)

// Ref identifies an object in one cluster. Namespace is "" for cluster-scoped kinds.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is "Kind namespace/name", or "Kind name" without a namespace.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Slash is "Kind/namespace/name", the grep-able form of event lines.
func (r Ref) Slash() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// GroupKind of the object.
func (r Ref) GroupKind() schema.GroupKind { return schema.GroupKind{Group: r.Group, Kind: r.Kind} }

// Compare orders refs by namespace, group, kind and name: the total order used wherever output is listed.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(strings.Compare(r.Namespace, o.Namespace), strings.Compare(r.Group, o.Group),
		strings.Compare(r.Kind, o.Kind), strings.Compare(r.Name, o.Name))
}

// Object is one rendered object. Body is the JSON document (ints as int64, as apimachinery decodes them) and is
// immutable once the object is in a Set.
type Object struct {
	Body map[string]any
	// Instance is the bundle instance that rendered it; Stage its position in the module's ordered stages (0 first).
	Instance string
	Stage    int
	// Pos is where the object comes from, when a file says so.
	Pos diag.Pos
	// Sensitive are the paths of values that came from a secret, besides the masks by kind, as SensitivePaths writes them.
	Sensitive []string
	// Hook is set for objects that are no lasting part of the instance but a step of its life.
	Hook *Hook
	// Unknown is not nil where something of it is known only after other instances were applied: the paths of the scalars that are.
	Unknown map[string]bool
}

// HookPhase is a moment in the life of an instance on a cluster.
type HookPhase string

// The events, in Helm's names.
const (
	PreInstall  HookPhase = "pre-install"
	PostInstall HookPhase = "post-install"
	PreUpgrade  HookPhase = "pre-upgrade"
	PostUpgrade HookPhase = "post-upgrade"
	PreDelete   HookPhase = "pre-delete"
	PostDelete  HookPhase = "post-delete"
	// PreRollback and PostRollback are around going back to an earlier release, in place of those of an upgrade.
	PreRollback  HookPhase = "pre-rollback"
	PostRollback HookPhase = "post-rollback"
	// Test runs only when asked for, after everything is ready.
	Test HookPhase = "test"
)

// When says when the hooks of an event run.
func (e HookPhase) When() string {
	if e == Test {
		return "tests the instance when it is ready"
	}
	when, moment, _ := strings.Cut(string(e), "-")
	order := map[string]string{"pre": "before", "post": "after"}[when]
	noun := map[string]string{"install": "the installation", "upgrade": "the upgrade", "rollback": "the rollback", "delete": "the removal"}[moment]
	return "runs " + order + " " + noun
}

// When a hook's object is removed.
const (
	BeforeHookCreation = "before-hook-creation"
	HookSucceeded      = "hook-succeeded"
	HookFailed         = "hook-failed"
)

// Hook says when an object is created and removed. Objects of one event run in the order of Weight, then kind, then name;
// one with readiness (a Job, a Pod) must succeed before the next weight starts.
type Hook struct {
	Events []HookPhase `json:"events"`
	Weight int         `json:"weight,omitempty"`
	// Delete are policies: BeforeHookCreation (also when empty), HookSucceeded, HookFailed.
	Delete []string `json:"delete,omitempty"`
}

// OnlyTests reports whether the hook runs for nothing else.
func (h Hook) OnlyTests() bool {
	return !slices.ContainsFunc(h.Events, func(e HookPhase) bool { return e != Test })
}

// Ref returns the object's identity.
func (o Object) Ref() Ref {
	u, gvk := unstructured.Unstructured{Object: o.Body}, o.GVK()
	return Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// GVK returns group, version and kind as written.
func (o Object) GVK() schema.GroupVersionKind {
	return (&unstructured.Unstructured{Object: o.Body}).GroupVersionKind()
}

// Unstructured returns the object for client libraries; it shares Body.
func (o Object) Unstructured() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.Body}
}

// Digest is "sha256:<hex>" of the object's canonical JSON (sorted keys).
func (o Object) Digest() string { return DigestJSON(o.Body) }

// DigestJSON is "sha256:<hex>" of v's JSON with sorted map keys. v must be made of JSON types.
func DigestJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("object: digest of something that is not JSON: %v", err))
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// OwnerID is the fixed-length id of a bundle: the first 20 hex digits of the SHA-256 of hub UID, hub namespace and
// bundle name, each followed by NUL. For bundles from files the first two are empty.
func OwnerID(hubUID, hubNamespace, bundle string) string {
	sum := sha256.Sum256([]byte(hubUID + "\x00" + hubNamespace + "\x00" + bundle + "\x00"))
	return hex.EncodeToString(sum[:])[:20]
}

// Scoping is whose bundles of a name are meant: those of files, which is the zero value, or those of a hub's namespace.
type Scoping struct{ HubUID, Namespace string }

// Owner is the id of a bundle.
func (s Scoping) Owner(bundle string) string { return OwnerID(s.HubUID, s.Namespace, bundle) }

// Manager is the field manager of a bundle: "hawser:<owner id>".
func Manager(ownerID string) string { return "hawser:" + ownerID }

// Marked returns a copy of the object with Hawser's labels on its top-level metadata (never on pod templates), with
// Secret stringData folded into data, and without what the cluster itself fills in.
func (o Object) Marked(owner, bundle string) Object {
	u := (&unstructured.Unstructured{Object: o.Body}).DeepCopy()
	labels := map[string]string{LabelManagedBy: "hawser"}
	maps.Copy(labels, u.GetLabels())
	labels[LabelOwner], labels[LabelBundle], labels[LabelInstance] = owner, bundle, o.Instance
	u.SetLabels(labels)
	foldStringData(u)
	leaveAggregated(u)
	leaveEmpty(u)
	o.Body = u.Object
	return o
}

// leaveEmpty drops maps without entries that others write into, controllers and people: they say nothing, and the API server takes them out of our
// managed fields as soon as somebody does.
func leaveEmpty(u *unstructured.Unstructured) {
	paths := [][]string{{"metadata", "annotations"}, {"spec", "template", "metadata", "annotations"}}
	if u.GetAPIVersion() == "v1" && (u.GetKind() == "ConfigMap" || u.GetKind() == "Secret") {
		paths = append(paths, []string{"data"}, []string{"binaryData"})
	}
	for _, path := range paths {
		x, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		if m, ok := x.(map[string]any); ok && len(m) == 0 {
			unstructured.RemoveNestedField(u.Object, path...)
		}
	}
}

// leaveAggregated drops the rules of a ClusterRole that others are aggregated into: a controller fills them in, and whatever
// is declared there is overwritten (kubernetes.io/docs/reference/access-authn-authz/rbac, Aggregated ClusterRoles).
func leaveAggregated(u *unstructured.Unstructured) {
	if r := u.GroupVersionKind(); r.Group == "rbac.authorization.k8s.io" && r.Kind == "ClusterRole" && u.Object["aggregationRule"] != nil {
		delete(u.Object, "rules")
	}
}
