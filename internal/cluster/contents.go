package cluster

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Contents looks at what is in Namespaces, and at the objects of definitions, metadata only: one LIST per namespaced kind
// that can be listed and deleted, one GET and one LIST per definition. Discovery is asked anew. What cannot be looked at is
// in Unseen: it is never taken for nothing. owner is the id of the bundle whose marks are ours.
func (s *Session) Contents(ctx context.Context, owner string, holders []object.Ref) map[object.Ref]plan.Contents {
	out := make(map[object.Ref]plan.Contents, len(holders))
	if err := s.Refresh(ctx); err != nil {
		for _, r := range holders {
			out[r] = plan.Contents{Unseen: []string{"the kinds of the cluster cannot be listed: " + s.text(err, r)}}
		}
		return out
	}
	var mu sync.Mutex
	var wg broke.Group
	shared := s.definitions()
	for _, r := range holders {
		wg.Go(func() {
			l := &looker{s: s, ctx: ctx, owner: owner, listed: shared, uids: map[string]bool{}, defined: map[string]bool{}}
			if r.IsCRD() {
				l.definition(r)
			} else {
				l.namespace(r.Name)
			}
			slices.SortFunc(l.Items, func(a, b plan.Content) int { return a.Ref.Compare(b.Ref) })
			slices.Sort(l.Unseen)
			slices.SortFunc(l.Silent, object.Ref.Compare)
			mu.Lock()
			defer mu.Unlock()
			out[r] = l.Contents
		})
	}
	wg.Wait()
	return out
}

// looker looks into one Namespace or definition.
type looker struct {
	plan.Contents
	s     *Session
	ctx   context.Context
	owner string
	// listed are the definitions when the look began.
	listed *kubeapi.Definitions

	// defined are the names of the definitions that are there: what serves another custom kind may go and keep its objects.
	defined map[string]bool

	mu   sync.Mutex
	uids map[string]bool // an object that two groups serve counts once
}

func (l *looker) unseen(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Unseen = append(l.Unseen, text)
}

// namespace lists every kind that lives in namespaces. Events are no content of anybody's.
func (l *looker) namespace(name string) {
	kinds, stale := l.s.Kinds()
	for group, versions := range stale {
		for _, version := range versions {
			l.Silent = append(l.Silent, object.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: version + "." + group})
		}
	}
	names, _ := l.listed.Names(l.ctx) // what is not seen is not known
	for name := range names {
		l.defined[name] = true
	}
	var wg broke.Group
	for _, k := range kinds {
		if inside(k) {
			wg.Go(func() { l.list(k, name) })
		}
	}
	wg.Wait()
}

// inside reports whether objects of a kind are content of a Namespace.
func inside(k kubeapi.KindInfo) bool {
	return k.Namespaced && k.List && k.Delete && (k.Kind != "Event" || k.Custom)
}

// definition lists the objects of the kind that a definition makes, at a version that it serves: discovery may not show
// it (yet, or any more).
func (l *looker) definition(r object.Ref) {
	var crd struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind   string `json:"kind"`
				Plural string `json:"plural"`
			} `json:"names"`
			Versions []struct {
				Name    string `json:"name"`
				Served  bool   `json:"served"`
				Storage bool   `json:"storage"`
			} `json:"versions"`
		} `json:"spec"`
	}
	_, err := l.s.Do(l.ctx, kubeapi.Request{Method: http.MethodGet, Path: kubeapi.DefinitionsPath + "/" + url.PathEscape(r.Name), Into: &crd})
	if apierrors.IsNotFound(err) {
		return // gone meanwhile, with everything
	}
	if err != nil {
		l.unseen("the definition cannot be read: " + l.s.text(err, r))
		return
	}
	version := ""
	for _, v := range crd.Spec.Versions { // the stored version needs no conversion
		if v.Served && (version == "" || v.Storage) {
			version = v.Name
		}
	}
	if version == "" {
		l.unseen("it serves no version of " + crd.Spec.Names.Kind + ", so that its objects cannot be counted")
		return
	}
	l.defined[r.Name] = true
	l.list(kubeapi.KindInfo{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Resource: crd.Spec.Names.Plural, Preferred: version}, "")
}

// list reads the metadata of a kind, in one namespace or all.
func (l *looker) list(k kubeapi.KindInfo, ns string) {
	var items []plan.Content
	err := l.s.ListMeta(l.ctx, k.Path(k.Preferred, ns, ""), nil, func() { items = nil },
		func(m meta) {
			items = append(items, plan.ContentOf(object.Ref{Group: k.Group, Kind: k.Kind, Namespace: m.Namespace, Name: m.Name}, m.ObjectMeta, l.owner))
		})
	name := k.Resource + "." + k.Group
	_, removed := l.s.removed.Load(object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: name})
	switch {
	case apierrors.IsNotFound(err) && (removed || l.defined[name]) && l.s.undefined(l.ctx, schema.GroupKind{Group: k.Group, Kind: k.Kind}, plan.InventoryEntry{}, l.s.definitions()):
		return // its definition was deleted a moment ago, and with it what was here
	case err != nil:
		l.unseen(k.Resource + " cannot be listed: " + l.s.text(err, object.Ref{Group: k.Group, Kind: k.Kind, Namespace: ns}))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range items {
		if !l.uids[c.UID] {
			l.uids[c.UID] = true
			l.Items = append(l.Items, c)
		}
	}
}
