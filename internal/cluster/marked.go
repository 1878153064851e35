package cluster

import (
	"context"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Marked finds every object that carries both marks of a bundle, its owner label and its Apply entry, for a release whose
// record is lost: one metadata LIST by label per kind that can be listed and deleted; where that is forbidden in the whole
// cluster, in the namespaces. What could not be looked at is said too.
func (s *Session) Marked(ctx context.Context, owner string, namespaces ...string) plan.Marks {
	marks := plan.Marks{Cluster: s.Name(), Live: map[object.Ref]plan.Live{}, Unseen: map[string]string{}, Asked: namespaces}
	kinds, stale := s.Kinds()
	for group := range stale {
		marks.Unseen["*."+group], marks.Silent = "the API group does not answer", append(marks.Silent, group)
	}
	var all []kubeapi.KindInfo
	for _, k := range kinds {
		if k.List && k.Delete && k.Preferred != "" {
			all = append(all, k)
		}
	}
	query := url.Values{"labelSelector": {object.LabelOwner + "=" + owner}}
	manager := object.Manager(owner)
	var mu sync.Mutex
	list := func(k kubeapi.KindInfo, ns string) error {
		var items []meta
		err := s.ListMeta(ctx, k.Path(k.Preferred, ns, ""), query, func() { items = nil }, func(m meta) { items = append(items, m) })
		mu.Lock()
		defer mu.Unlock()
		for _, m := range items {
			ref := object.Ref{Group: k.Group, Kind: k.Kind, Namespace: m.Namespace, Name: m.Name}
			l := plan.LiveOf(m.ObjectMeta, manager)
			if l.ApplyHash == "" || l.OwnerLabel != owner || l.Terminating || ref.Namespace == object.SystemNamespace {
				continue
			}
			marks.Live[ref] = l
			marks.Inventory = append(marks.Inventory, plan.FromMarks(ref, k.Preferred, m.Labels[object.LabelInstance], l))
		}
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			return nil
		}
		return err
	}
	var wg broke.Group
	for _, k := range all {
		wg.Go(func() {
			err := list(k, "")
			if apierrors.IsForbidden(err) && k.Namespaced {
				for _, ns := range namespaces {
					if err := list(k, ns); err != nil && !apierrors.IsForbidden(err) {
						break
					}
				}
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				marks.Unseen[schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()] = s.Redact(err.Error())
			}
		})
	}
	wg.Wait()
	return marks
}
