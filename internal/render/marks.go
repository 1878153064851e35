package render

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Marks keeps the marked objects of every distinct render, so that clusters with the same inputs share one copy. The zero
// value is ready to use; it lives as long as one run.
type Marks struct {
	mu   sync.Mutex
	made map[string]*marked
}

type marked struct {
	once     sync.Once
	objects  []object.Scoped
	findings diag.Findings
}

// Marking says how the objects of one instance get their namespaces and marks.
type Marking struct {
	// Render names the render they come from: what has the same name has the same objects.
	Render string
	// Instance and Namespace are those of the instance, Owner and Bundle those of its bundle.
	Instance, Namespace, Owner, Bundle string
	// Known reports whether the cluster serves a kind, and whether that is namespaced; Defined are kinds that come along.
	Known   func(schema.GroupVersionKind) (namespaced, ok bool)
	Defined map[schema.GroupKind]object.DefinedKind
	// Sensitive notes in an object what of it is secret; it gives the same for all clusters.
	Sensitive func(object.Object) object.Object
}

// Of are objects with their namespaces and marks. Clusters share them as long as they agree about the scope of the kinds;
// they must not be changed.
func (m *Marks) Of(objs []object.Object, how Marking) ([]object.Scoped, diag.Findings) {
	var key strings.Builder
	fmt.Fprintln(&key, how.Render, how.Instance, how.Namespace, how.Owner, how.Bundle)
	asked := map[schema.GroupVersionKind]bool{}
	for _, o := range objs {
		gvk := o.GVK()
		if asked[gvk] {
			continue
		}
		asked[gvk] = true
		namespaced, ok := how.Known(gvk)
		d, brought := how.Defined[gvk.GroupKind()]
		fmt.Fprintln(&key, gvk, namespaced, ok, brought, d.Namespaced, d.Versions[gvk.Version])
	}
	m.mu.Lock()
	if m.made == nil {
		m.made = map[string]*marked{}
	}
	e := m.made[key.String()]
	if e == nil {
		e = &marked{}
		m.made[key.String()] = e
	}
	m.mu.Unlock()
	e.once.Do(func() {
		e.objects, e.findings = object.Scope(objs, how.Namespace, how.Known, how.Defined)
		for i, o := range e.objects {
			e.objects[i] = o.Marked(how.Owner, how.Bundle)
			e.objects[i].Object = how.Sensitive(e.objects[i].Object)
		}
	})
	return e.objects, append(diag.Findings(nil), e.findings...)
}
