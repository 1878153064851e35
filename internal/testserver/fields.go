package testserver

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// typed knows the fields of Kubernetes' own kinds: which lists have keys, and which are one value.
var typed = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// fieldsOf is what API servers themselves merge an apply with, and keep in managedFields by: Kubernetes' library.
func fieldsOf(gvk schema.GroupVersionKind) (*managedfields.FieldManager, error) {
	return managedfields.NewDefaultCRDFieldManager(typed(), asItIs{}, asItIs{}, asItIs{}, gvk, gvk.GroupVersion(), "", nil)
}

// asItIs converts and defaults nothing: there is one version of each kind.
type asItIs struct{}

func (asItIs) Default(runtime.Object) {}

func (asItIs) New(gvk schema.GroupVersionKind) (runtime.Object, error) { return empty(gvk), nil }

func (asItIs) Convert(_, _, _ any) error { return nil }

func (asItIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asItIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func empty(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u
}

// applied is an object, nil for none, after a manager applied another one: the answer of the library's conflict else.
func applied(live, config *unstructured.Unstructured, manager string, force bool) (*unstructured.Unstructured, error) {
	gvk := config.GroupVersionKind()
	fields, err := fieldsOf(gvk)
	if err != nil {
		return nil, err
	}
	if live == nil {
		live = empty(gvk)
	}
	out, err := fields.Apply(live.DeepCopy(), config.DeepCopy(), manager, force)
	if err != nil {
		return nil, err
	}
	return out.(*unstructured.Unstructured), nil
}

// updated is an object that a manager put in the place of another one, nil for none, with what it owns now.
func updated(live, now *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	gvk := now.GroupVersionKind()
	fields, err := fieldsOf(gvk)
	if err != nil || manager == "" {
		return now
	}
	if live == nil {
		live = empty(gvk)
	}
	out, err := fields.Update(live.DeepCopy(), now.DeepCopy(), manager)
	if err != nil { // it is of no kind that Kubernetes has
		return now
	}
	return out.(*unstructured.Unstructured)
}
