package object

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/advice"
	"hawser.dev/hawser/internal/diag"
)

// Scoped is an object whose kind is known to be namespaced or not, its namespace filled in.
type Scoped struct {
	Object
	Namespaced bool
	digest     string
}

// Digest is the object's digest; of a marked one it is known already.
func (s Scoped) Digest() string {
	if s.digest == "" {
		return s.Object.Digest()
	}
	return s.digest
}

// Marked is the object with Hawser's labels (see Object.Marked), its digest made once.
func (s Scoped) Marked(owner, bundle string) Scoped {
	s.Object = s.Object.Marked(owner, bundle)
	s.digest = s.Object.Digest()
	return s
}

// DefinedKind is a kind that a CustomResourceDefinition in the Set brings along.
type DefinedKind struct {
	Namespaced bool
	Versions   map[string]bool
	// CRD is the definition's identity.
	CRD Ref
}

// Brings says why an object in a version cannot be tried before its definition is written, "" where it can: the definition is new, or
// the version is, and not among those served.
func (d DefinedKind) Brings(version string, isNew bool, served []string) string {
	switch {
	case isNew:
		return "CRD " + d.CRD.Name + " is new"
	case len(served) > 0 && d.Versions[version] && !slices.Contains(served, version):
		return "version " + version + " comes with CRD " + d.CRD.Name
	}
	return ""
}

// DefinedKinds returns the kinds defined by the CRDs among the objects.
func DefinedKinds(objs []Object) map[schema.GroupKind]DefinedKind {
	out := map[schema.GroupKind]DefinedKind{}
	for _, o := range objs {
		if gvk := o.GVK(); gvk.Group != "apiextensions.k8s.io" || gvk.Kind != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(o.Body, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Body, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(o.Body, "spec", "scope")
		d := DefinedKind{Namespaced: scope != "Cluster", Versions: map[string]bool{}, CRD: o.Ref()}
		versions, _, _ := unstructured.NestedSlice(o.Body, "spec", "versions")
		for _, v := range versions {
			m, ok := v.(map[string]any)
			if !ok {
				continue
			}
			name, _ := m["name"].(string)
			if served, ok := m["served"].(bool); name != "" && (!ok || served) {
				d.Versions[name] = true
			}
		}
		out[schema.GroupKind{Group: group, Kind: kind}] = d
	}
	return out
}

// Scope fills in the namespace of namespaced objects that have none and refuses kinds the cluster does not serve.
// known reports whether the cluster serves the version of a kind, and whether it is namespaced; defined are the kinds
// the Set brings along.
func Scope(objs []Object, namespace string, known func(schema.GroupVersionKind) (namespaced, ok bool),
	defined map[schema.GroupKind]DefinedKind,
) ([]Scoped, diag.Findings) {
	var findings diag.Findings
	out := make([]Scoped, 0, len(objs))
	for _, o := range objs {
		gvk := o.GVK()
		namespaced, ok := served(gvk, known, defined)
		ref := o.Ref()
		if !ok {
			f := diag.Errorf(CodeUnknownKind, "the cluster does not know the kind %s of %s", gvk.Kind, gvk.GroupVersion())
			f.Object, f.Instance, f.Pos = ref.String(), o.Instance, o.Pos
			f.Fix = advice.Kind(gvk.Group, "install its definition first, declare it in the bundle, or correct apiVersion and kind")
			findings = append(findings, f)
			continue
		}
		s, f := scoped(o, ref, namespace, namespaced)
		if f != nil {
			findings = append(findings, *f)
			continue
		}
		out = append(out, s)
	}
	return out, findings
}

func served(gvk schema.GroupVersionKind, known func(schema.GroupVersionKind) (namespaced, ok bool), defined map[schema.GroupKind]DefinedKind) (namespaced, ok bool) {
	namespaced, ok = known(gvk)
	if d, brought := defined[gvk.GroupKind()]; brought {
		namespaced, ok = d.Namespaced, ok || d.Versions[gvk.Version]
	}
	return namespaced, ok
}

// Serving are the kinds that a cluster serves ("GROUP/VERSION/KIND", sorted) with the defined ones, as it will serve them.
func Serving(served []string, defined map[schema.GroupKind]DefinedKind) []string {
	if len(defined) == 0 {
		return served
	}
	out := slices.Clone(served)
	for kind, d := range defined {
		for version := range d.Versions {
			out = append(out, kind.Group+"/"+version+"/"+kind.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unserved reports whether Scope refuses one of the objects, as the cluster does not serve its kind.
func Unserved(objs []Object, known func(schema.GroupVersionKind) (namespaced, ok bool), defined map[schema.GroupKind]DefinedKind) bool {
	return slices.ContainsFunc(objs, func(o Object) bool {
		_, ok := served(o.GVK(), known, defined)
		return !ok
	})
}

// CodeUnknownKind is the code of the finding about an object of a kind that the cluster does not know.
const CodeUnknownKind = "unknown-kind"

// CodeNoNamespace is the code of the finding about a namespaced object for which nobody says a namespace.
const CodeNoNamespace = "no-namespace"

func scoped(o Object, ref Ref, namespace string, namespaced bool) (Scoped, *diag.Finding) {
	switch {
	case namespaced && ref.Namespace == "":
		if namespace == "" {
			f := diag.Errorf(CodeNoNamespace, "the object has no namespace and neither has its instance")
			f.Object, f.Instance, f.Pos = ref.String(), o.Instance, o.Pos
			f.Fix = fmt.Sprintf("set metadata.namespace, or namespace on instance %s", o.Instance)
			return Scoped{}, &f
		}
		u := (&unstructured.Unstructured{Object: o.Body}).DeepCopy()
		u.SetNamespace(namespace)
		o.Body = u.Object
	case !namespaced && ref.Namespace != "":
		u := (&unstructured.Unstructured{Object: o.Body}).DeepCopy()
		u.SetNamespace("")
		o.Body = u.Object
	}
	return Scoped{Object: o, Namespaced: namespaced}, nil
}

// OfNoInstance says of plain manifests what there is to do about a missing namespace: they have no instance to write it on.
func OfNoInstance(fs diag.Findings) diag.Findings {
	for i := range fs {
		if fs[i].Code == CodeNoNamespace {
			fs[i].What, fs[i].Fix = "the object has no namespace", "say where plain manifests go with -n NAMESPACE, or set metadata.namespace"
			fs[i].Instance = ""
		}
	}
	return fs
}
