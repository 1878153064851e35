package object

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// HandoverManager is the field manager that takes over a live spec.replicas before a bundle drops the field.
const HandoverManager = "hawser:handover"

// managerPrefix starts every field manager of ours, of this bundle or another.
const managerPrefix = "hawser:"

// OwnerOf is the owner id in the name of a field manager of ours, "" for any other.
func OwnerOf(manager string) string {
	if id, ours := strings.CutPrefix(manager, managerPrefix); ours && manager != HandoverManager {
		return id
	}
	return ""
}

// OwnEntry returns the hash of a manager's Apply entry in managed fields and the API version it was written at; both
// are "" when there is none. The hash covers API version, fields and time, so it moves whenever somebody takes a
// field that we declared away, and stays under status writes, foreign fields and identical applies.
func OwnEntry(entries []metav1.ManagedFieldsEntry, manager string) (hash, apiVersion string) {
	e, ok := applyEntry(entries, manager)
	if !ok {
		return "", ""
	}
	h := sha256.New()
	writeEntry(h, e)
	return hex.EncodeToString(h.Sum(nil))[:32], e.APIVersion
}

// EntriesOf is the hash of the entries that managers have in managed fields, "" when there are none. It moves whenever one of
// them changes the object, a second later at the soonest, and stays under writes of the status.
func EntriesOf(entries []metav1.ManagedFieldsEntry, managers []string) string {
	h, any := sha256.New(), false
	for _, e := range entries {
		if slices.Contains(managers, e.Manager) && e.Subresource != "status" {
			any = true
			h.Write([]byte(e.Manager + "\x00" + string(e.Operation) + "\x00" + e.Subresource + "\x00"))
			writeEntry(h, e)
		}
	}
	if !any {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func writeEntry(h hash.Hash, e metav1.ManagedFieldsEntry) {
	h.Write([]byte(e.APIVersion + "\x00"))
	if e.FieldsV1 != nil {
		var compact bytes.Buffer
		raw := e.FieldsV1.GetRawBytes()
		if json.Compact(&compact, raw) == nil {
			raw = compact.Bytes()
		}
		h.Write(raw)
	}
	h.Write([]byte{0})
	if e.Time != nil {
		h.Write([]byte(e.Time.UTC().Format(time.RFC3339)))
	}
}

// OwnTime is when the manager's Apply entry was last changed, the zero time when there is none.
func OwnTime(entries []metav1.ManagedFieldsEntry, manager string) time.Time {
	if e, ok := applyEntry(entries, manager); ok && e.Time != nil {
		return e.Time.Time
	}
	return time.Time{}
}

func applyEntry(entries []metav1.ManagedFieldsEntry, manager string) (metav1.ManagedFieldsEntry, bool) {
	for _, e := range entries {
		if e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e, true
		}
	}
	return metav1.ManagedFieldsEntry{}, false
}

// ScaleOwner is the manager that owns spec.replicas through the scale subresource, "" if none.
func ScaleOwner(entries []metav1.ManagedFieldsEntry) string {
	for _, e := range entries {
		if e.Subresource == "scale" && hasField(e, "spec", "replicas") {
			return e.Manager
		}
	}
	return ""
}

// MakesClaims reports whether the managed fields tell of volumeClaimTemplates: a StatefulSet that makes volume claims.
func MakesClaims(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.FieldsV1 != nil && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:volumeClaimTemplates"`)) && hasField(e, "spec", "volumeClaimTemplates")
	})
}

// aggregator is the controller that fills the rules of ClusterRoles from others, by applies that make a role again which is gone.
const aggregator = "clusterrole-aggregation-controller"

// Aggregates reports whether the managed fields tell of an aggregationRule: a ClusterRole that is filled from others.
func Aggregates(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.FieldsV1 != nil && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:aggregationRule"`))
	})
}

// OnlyAggregated reports whether nobody but that controller wrote an object: it was deleted, and is there again as a remnant
// with nothing but rules.
func OnlyAggregated(entries []metav1.ManagedFieldsEntry) bool {
	return len(entries) > 0 && !Aggregates(entries) && !slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Manager != aggregator })
}

// ReplicasOf tells whether a manager owns spec.replicas, alone or with others, and which other one does; scaled to 0
// through the scale subresource, it has no owner at all.
func ReplicasOf(entries []metav1.ManagedFieldsEntry, manager string) (ours bool, other string) {
	field := fieldpath.MakePathOrDie("spec", "replicas")
	for _, e := range entries {
		if e.FieldsV1 == nil || e.Subresource == "status" {
			continue
		}
		raw := e.FieldsV1.GetRawBytes()
		if !bytes.Contains(raw, []byte(`"f:replicas"`)) && !bytes.Contains(raw, []byte(`"f:spec":{}`)) {
			continue
		}
		set, err := fieldSet(e)
		switch {
		case err != nil || !touches(set, field):
		case e.Manager == manager:
			ours = true
		case other == "" || e.Manager != HandoverManager:
			other = e.Manager
		}
	}
	return ours, other
}

// Shared reports whether others own fields of an object, those of its status and other subresources apart.
func Shared(entries []metav1.ManagedFieldsEntry, manager string) bool {
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager != manager && (e.Subresource == "" || e.Subresource == "scale") && e.FieldsV1 != nil && len(e.FieldsV1.GetRawBytes()) > len("{}")
	})
}

// Autoscales reports whether a field manager is known to scale by itself whatever targets it names.
func Autoscales(manager string) bool { return strings.HasPrefix(manager, "keda") }

// ByHand reports whether a field manager is a person's tool.
func ByHand(manager string) bool { return strings.HasPrefix(manager, "kubectl") }

// ScaleTarget is what an autoscaler (or anything else with a spec.scaleTargetRef) scales, a Deployment where it does not
// say; the zero Ref when it names nothing.
func ScaleTarget(body map[string]any) Ref {
	u := unstructured.Unstructured{Object: body}
	text := func(field string) string {
		s, _, _ := unstructured.NestedString(body, "spec", "scaleTargetRef", field)
		return s
	}
	gv, err := schema.ParseGroupVersion(cmp.Or(text("apiVersion"), "apps/v1"))
	if err != nil || text("name") == "" {
		return Ref{}
	}
	return Ref{Group: gv.Group, Kind: cmp.Or(text("kind"), "Deployment"), Namespace: u.GetNamespace(), Name: text("name")}
}

// Foreign is who else manages an object, besides the controllers that every cluster runs.
type Foreign struct {
	// Owner is for people: "Helm release shop/api", "" when nobody else manages the object.
	Owner string
	// Managers are that owner's field managers, sorted; not those of third parties that own fields of the object too.
	Managers []string
	// Reconciled: the owner is known to write the object again and again.
	Reconciled bool
	// Bundle: the owner is another Hawser bundle.
	Bundle bool
	// Release: it carries that owner's own mark of a release, which taking it over removes. Hook: a hook of Helm's left it, on
	// which Helm puts no mark of the release.
	Release, Hook bool
}

// detectors are asked in order; the first that knows the owner names it and its field managers. Reconcilers come before
// the tools they use (Flux runs Helm), tools before bare field managers.
var detectors = []func(owned) (Foreign, bool){
	byBundle, byFlux, byArgo, byTimoni, byHelm, byKubectl, byManager,
}

// owned is what detectors look at: marks that our own entry declares are left out, they are ours.
type owned struct {
	labels, annotations map[string]string
	managers            []string
	entries             []metav1.ManagedFieldsEntry
	owner               string // the owner id in our manager's name
}

// writers are the managers that own a mark (an annotation or a label), and those that are known by their name.
func (in owned) writers(field, mark string, known func(manager string) bool) []string {
	return slices.DeleteFunc(slices.Clone(in.managers), func(m string) bool {
		return !known(m) && !slices.ContainsFunc(in.entries, func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == m && e.Subresource == "" && mark != "" && hasField(e, "metadata", field, mark)
		})
	})
}

// ForeignOwner finds out who else manages an object, from its marks and managed fields. manager is our own name.
func ForeignOwner(labels, annotations map[string]string, entries []metav1.ManagedFieldsEntry, manager string) Foreign {
	entry, _ := applyEntry(entries, manager)
	own, err := fieldSet(entry)
	if err != nil {
		own = &fieldpath.Set{}
	}
	in := owned{
		labels:      undeclared(labels, own, "labels"),
		annotations: undeclared(annotations, own, "annotations"),
		managers:    otherManagers(entries, manager),
		entries:     entries,
		owner:       strings.TrimPrefix(manager, managerPrefix),
	}
	if o := labels[LabelOwner]; o != "" {
		in.labels[LabelOwner] = o // also when we declare it: its value decides
	}
	for _, detect := range detectors {
		if f, ok := detect(in); ok {
			return f
		}
	}
	return Foreign{}
}

// undeclared are the marks that a set of fields does not have.
func undeclared(marks map[string]string, own *fieldpath.Set, field string) map[string]string {
	out := make(map[string]string, len(marks))
	for k, v := range marks {
		if !own.Has(fieldpath.MakePathOrDie("metadata", field, k)) {
			out[k] = v
		}
	}
	return out
}

// systemManagers write status, defaults and bookkeeping everywhere; they never own an object in our sense.
var systemManagers = []string{"kube-controller-manager", "kubelet", "kube-scheduler", "kube-apiserver", "apiserver",
	"kube-proxy", "cloud-controller-manager", "cluster-autoscaler", "vpa-recommender", "before-first-apply", "endpoint-controller"}

// distributionManagers are the controllers of distributions and meshes that put objects of their own into namespaces.
var distributionManagers = []string{"openshift-controller-manager", "cluster-policy-controller", "openshift-apiserver", "service-ca-operator",
	"pilot-discovery", "istiod"}

// ByCluster reports whether nobody but controllers of Kubernetes, of its distribution or of a mesh wrote an object.
func ByCluster(entries []metav1.ManagedFieldsEntry) bool {
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return !slices.Contains(systemManagers, e.Manager) && !slices.Contains(distributionManagers, e.Manager)
	})
}

func otherManagers(entries []metav1.ManagedFieldsEntry, manager string) []string {
	var out []string
	for _, e := range entries {
		switch {
		case e.Manager == manager, e.Manager == HandoverManager, e.Subresource != "", slices.Contains(out, e.Manager):
		case slices.Contains(systemManagers, e.Manager) && !onlySystem(entries):
		default:
			out = append(out, e.Manager)
		}
	}
	slices.Sort(out)
	return out
}

// onlySystem: nobody but the cluster's own controllers ever wrote the object (kube-root-ca.crt, default accounts).
func onlySystem(entries []metav1.ManagedFieldsEntry) bool {
	for _, e := range entries {
		if !slices.Contains(systemManagers, e.Manager) {
			return false
		}
	}
	return true
}

func byBundle(in owned) (Foreign, bool) {
	other := ""
	if o := in.labels[LabelOwner]; o != "" && o != in.owner {
		other = o
	}
	for _, m := range in.managers {
		if strings.HasPrefix(m, managerPrefix) {
			other = strings.TrimPrefix(m, managerPrefix)
		}
	}
	if other == "" {
		return Foreign{}, false
	}
	name := in.labels[LabelBundle]
	if name == "" {
		name = "with owner id " + other
	}
	managers := in.writers("labels", LabelOwner, func(m string) bool { return strings.HasPrefix(m, managerPrefix) })
	return Foreign{Owner: "Hawser bundle " + name, Managers: managers, Bundle: true}, true
}

func byFlux(in owned) (Foreign, bool) {
	flux := func(m string) bool { return m == "kustomize-controller" || m == "helm-controller" }
	for _, c := range []struct{ kind, prefix string }{
		{"Flux Kustomization", "kustomize.toolkit.fluxcd.io/"}, {"Flux HelmRelease", "helm.toolkit.fluxcd.io/"},
	} {
		if name := in.labels[c.prefix+"name"]; name != "" {
			return Foreign{Owner: c.kind + " " + slash(in.labels[c.prefix+"namespace"], name),
				Managers: in.writers("labels", c.prefix+"name", flux), Reconciled: true}, true
		}
	}
	if managers := in.writers("", "", flux); len(managers) > 0 {
		return Foreign{Owner: "Flux (" + managers[0] + ")", Managers: managers, Reconciled: true}, true
	}
	return Foreign{}, false
}

func byArgo(in owned) (Foreign, bool) {
	const tracking, instance = "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"
	argo := func(m string) bool { return strings.HasPrefix(m, "argocd-") }
	managers := in.writers("annotations", tracking, argo)
	app, _, _ := strings.Cut(in.annotations[tracking], ":")
	switch {
	case app != "":
	case in.labels[instance] != "":
		app, managers = in.labels[instance], in.writers("labels", instance, argo)
	case slices.ContainsFunc(in.managers, argo):
		app = in.labels["app.kubernetes.io/instance"]
	default:
		return Foreign{}, false
	}
	return Foreign{Owner: strings.TrimSpace("Argo CD application " + app), Managers: managers, Reconciled: true}, true
}

func byTimoni(in owned) (Foreign, bool) {
	managers := in.writers("", "", func(m string) bool { return m == "timoni" })
	if len(managers) == 0 {
		return Foreign{}, false
	}
	for _, l := range []string{"instance.timoni.sh/name", "app.kubernetes.io/name"} {
		if n := in.labels[l]; n != "" {
			return Foreign{Owner: "Timoni instance " + slash(in.labels["instance.timoni.sh/namespace"], n), Managers: managers}, true
		}
	}
	return Foreign{Owner: "Timoni", Managers: managers}, true
}

func byHelm(in owned) (Foreign, bool) {
	const release, hook = "meta.helm.sh/release-name", "helm.sh/hook"
	helm := func(m string) bool { return m == "helm" || strings.HasPrefix(m, "terraform-provider-helm") }
	f := Foreign{Owner: "Helm", Managers: in.writers("annotations", release, helm), Hook: in.annotations[hook] != ""}
	if name := in.annotations[release]; name != "" {
		known := len(f.Managers) > 0
		return Foreign{Owner: "Helm release " + slash(in.annotations["meta.helm.sh/release-namespace"], name), Managers: f.Managers, Release: known, Hook: known && f.Hook}, true
	}
	if f.Hook && in.labels[LabelManagedBy] == "Helm" && !slices.ContainsFunc(in.managers, ByHand) { // whatever Helm's program is called
		f.Managers = in.writers("annotations", hook, helm)
	}
	return f, len(f.Managers) > 0
}

func byKubectl(in owned) (Foreign, bool) {
	managers := in.writers("annotations", LastApplied, ByHand)
	if i := slices.IndexFunc(managers, ByHand); i >= 0 {
		return Foreign{Owner: managers[i], Managers: managers}, true
	}
	if in.annotations[LastApplied] != "" {
		return Foreign{Owner: "kubectl apply", Managers: managers}, true
	}
	return Foreign{}, false
}

// byManager: of several managers that nobody knows the owner is who declared the object: those that apply it, else who
// wrote first. The others are third parties.
func byManager(in owned) (Foreign, bool) {
	if len(in.managers) == 0 {
		return Foreign{}, false
	}
	var appliers []string
	first := in.managers[0]
	var since *metav1.Time
	for _, e := range in.entries {
		if e.Subresource != "" || !slices.Contains(in.managers, e.Manager) {
			continue
		}
		if e.Operation == metav1.ManagedFieldsOperationApply && !slices.Contains(appliers, e.Manager) {
			appliers = append(appliers, e.Manager)
		}
		if e.Time != nil && (since == nil || e.Time.Before(since)) {
			first, since = e.Manager, e.Time
		}
	}
	if len(appliers) == 0 {
		appliers = []string{first}
	}
	slices.Sort(appliers)
	return Foreign{Owner: strings.Join(appliers, ", "), Managers: appliers}, true
}

func slash(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// hasField reports whether an entry owns the field at a path of names.
func hasField(e metav1.ManagedFieldsEntry, path ...any) bool {
	set, err := fieldSet(e)
	return err == nil && set.Has(fieldpath.MakePathOrDie(path...))
}
