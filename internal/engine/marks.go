package engine

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// marks keeps the marked objects of every distinct render, so that clusters with the same inputs share one copy.
type marks struct {
	mu   sync.Mutex
	made map[string]*marked
}

type marked struct {
	once     sync.Once
	objects  []object.Scoped
	findings diag.Findings
}

// of are the objects of a part with their namespaces and marks. Clusters share them as long as they agree about the scope
// of the kinds; they must not be changed.
func (m *marks) of(p *part, s *set, objs []object.Object, known func(schema.GroupVersionKind) (bool, bool),
	defined map[schema.GroupKind]object.DefinedKind, sensitive func(object.Object) object.Object,
) ([]object.Scoped, diag.Findings) {
	var key strings.Builder
	fmt.Fprintln(&key, p.renderer.Name(), p.key, p.instance.Name, p.instance.Namespace, s.owner, s.spec.Name)
	asked := map[schema.GroupVersionKind]bool{}
	for _, o := range objs {
		gvk := o.GVK()
		if asked[gvk] {
			continue
		}
		asked[gvk] = true
		namespaced, ok := known(gvk)
		d, brought := defined[gvk.GroupKind()]
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
		e.objects, e.findings = object.Scope(objs, p.instance.Namespace, known, defined)
		for i, o := range e.objects {
			e.objects[i] = o.Marked(s.owner, s.spec.Name)
			e.objects[i].Object = sensitive(e.objects[i].Object)
		}
	})
	return e.objects, append(diag.Findings(nil), e.findings...)
}
