package object

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HandoverManager is the field manager that takes over a live spec.replicas before a bundle drops the field.
const HandoverManager = "hawser:handover"

// managerPrefix starts every field manager of ours, of this bundle or another.
const managerPrefix = "hawser:"

// OwnEntry returns the hash of a manager's Apply entry in managed fields and the API version it was written at; both
// are "" when there is none. The hash covers API version, fields and time, so it moves whenever somebody takes a
// field that we declared away, and stays under status writes, foreign fields and identical applies.
func OwnEntry(entries []metav1.ManagedFieldsEntry, manager string) (hash, apiVersion string) {
	e, ok := applyEntry(entries, manager)
	if !ok {
		return "", ""
	}
	h := sha256.New()
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
	return hex.EncodeToString(h.Sum(nil))[:32], e.APIVersion
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
		if e.Subresource == "scale" && hasField(e, "f:spec", "f:replicas") {
			return e.Manager
		}
	}
	return ""
}

// MakesClaims reports whether the managed fields tell of volumeClaimTemplates: a StatefulSet that makes volume claims.
func MakesClaims(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return hasField(e, "f:spec", "f:volumeClaimTemplates") })
}

// Foreign is who else manages an object, besides the controllers that every cluster runs.
type Foreign struct {
	// Owner is for people: "Helm release shop/api", "" when nobody else manages the object.
	Owner string
	// Managers are the other owner's field managers, sorted.
	Managers []string
	// Reconciled: the owner is known to write the object again and again.
	Reconciled bool
	// Bundle: the owner is another Hawser bundle.
	Bundle bool
}

// detectors are asked in order; the first that knows the owner names it. Reconcilers come before the tools they use
// (Flux runs Helm), tools before bare field managers.
var detectors = []func(owned) (Foreign, bool){
	byBundle, byFlux, byArgo, byTimoni, byHelm, byKubectl, byManager,
}

// owned is what detectors look at: marks that our own entry declares are left out, they are ours.
type owned struct {
	labels, annotations map[string]string
	managers            []string
	owner               string // the owner id in our manager's name
}

// ForeignOwner finds out who else manages an object, from its marks and managed fields. manager is our own name.
func ForeignOwner(labels, annotations map[string]string, entries []metav1.ManagedFieldsEntry, manager string) Foreign {
	own, _ := applyEntry(entries, manager)
	marks, _ := fieldTree(own)["f:metadata"].(map[string]any)
	in := owned{
		labels:      without(labels, marks["f:labels"]),
		annotations: without(annotations, marks["f:annotations"]),
		managers:    otherManagers(entries, manager),
		owner:       strings.TrimPrefix(manager, managerPrefix),
	}
	if o := labels[LabelOwner]; o != "" {
		in.labels[LabelOwner] = o // also when we declare it: its value decides
	}
	for _, detect := range detectors {
		if f, ok := detect(in); ok {
			f.Managers = in.managers
			return f
		}
	}
	return Foreign{}
}

func without(marks map[string]string, declared any) map[string]string {
	ours, _ := declared.(map[string]any)
	out := make(map[string]string, len(marks))
	for k, v := range marks {
		if _, ok := ours["f:"+k]; !ok {
			out[k] = v
		}
	}
	return out
}

// systemManagers write status, defaults and bookkeeping everywhere; they never own an object in our sense.
var systemManagers = []string{"kube-controller-manager", "kubelet", "kube-scheduler", "kube-apiserver", "apiserver",
	"kube-proxy", "cloud-controller-manager", "cluster-autoscaler", "vpa-recommender", "before-first-apply", "endpoint-controller"}

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
	return Foreign{Owner: "Hawser bundle " + name, Bundle: true}, true
}

func byFlux(in owned) (Foreign, bool) {
	for _, c := range []struct{ kind, prefix string }{
		{"Flux Kustomization", "kustomize.toolkit.fluxcd.io/"}, {"Flux HelmRelease", "helm.toolkit.fluxcd.io/"},
	} {
		if name := in.labels[c.prefix+"name"]; name != "" {
			return Foreign{Owner: c.kind + " " + slash(in.labels[c.prefix+"namespace"], name), Reconciled: true}, true
		}
	}
	for _, m := range []string{"kustomize-controller", "helm-controller"} {
		if slices.Contains(in.managers, m) {
			return Foreign{Owner: "Flux (" + m + ")", Reconciled: true}, true
		}
	}
	return Foreign{}, false
}

func byArgo(in owned) (Foreign, bool) {
	app, _, _ := strings.Cut(in.annotations["argocd.argoproj.io/tracking-id"], ":")
	controller := slices.ContainsFunc(in.managers, func(m string) bool { return strings.HasPrefix(m, "argocd-") })
	switch {
	case app != "":
	case in.labels["argocd.argoproj.io/instance"] != "":
		app = in.labels["argocd.argoproj.io/instance"]
	case controller:
		app = in.labels["app.kubernetes.io/instance"]
	default:
		return Foreign{}, false
	}
	return Foreign{Owner: strings.TrimSpace("Argo CD application " + app), Reconciled: true}, true
}

func byTimoni(in owned) (Foreign, bool) {
	if !slices.Contains(in.managers, "timoni") {
		return Foreign{}, false
	}
	for _, l := range []string{"instance.timoni.sh/name", "app.kubernetes.io/name"} {
		if n := in.labels[l]; n != "" {
			return Foreign{Owner: "Timoni instance " + slash(in.labels["instance.timoni.sh/namespace"], n)}, true
		}
	}
	return Foreign{Owner: "Timoni"}, true
}

func byHelm(in owned) (Foreign, bool) {
	if name := in.annotations["meta.helm.sh/release-name"]; name != "" {
		return Foreign{Owner: "Helm release " + slash(in.annotations["meta.helm.sh/release-namespace"], name)}, true
	}
	if slices.Contains(in.managers, "helm") {
		return Foreign{Owner: "Helm"}, true
	}
	return Foreign{}, false
}

func byKubectl(in owned) (Foreign, bool) {
	for _, m := range in.managers {
		if strings.HasPrefix(m, "kubectl") {
			return Foreign{Owner: m}, true
		}
	}
	if in.annotations[LastApplied] != "" {
		return Foreign{Owner: "kubectl apply"}, true
	}
	return Foreign{}, false
}

func byManager(in owned) (Foreign, bool) {
	if len(in.managers) == 0 {
		return Foreign{}, false
	}
	return Foreign{Owner: strings.Join(in.managers, ", ")}, true
}

func slash(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// hasField reports whether an entry's fields contain the path ("f:spec", "f:replicas").
func hasField(e metav1.ManagedFieldsEntry, path ...string) bool {
	node := fieldTree(e)
	for _, p := range path {
		next, ok := node[p].(map[string]any)
		if !ok {
			return false
		}
		node = next
	}
	return node != nil
}

func fieldTree(e metav1.ManagedFieldsEntry) map[string]any {
	if e.FieldsV1 == nil {
		return nil
	}
	var tree map[string]any
	if json.Unmarshal(e.FieldsV1.GetRawBytes(), &tree) != nil {
		return nil
	}
	return tree
}
