package cluster

import (
	"context"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Marked finds every object that carries both marks of a bundle, its owner label and its Apply entry, for a release whose
// record is lost: one metadata LIST by label per kind that can be listed and deleted. Kinds that may not be listed are in
// the findings.
func (s *Session) Marked(ctx context.Context, owner string) ([]plan.Owned, map[object.Ref]plan.Live, diag.Findings) {
	s.mu.RLock()
	var all []KindInfo
	for _, k := range s.kinds.byKind {
		if k.List && k.Delete && k.Preferred != "" {
			all = append(all, k)
		}
	}
	s.mu.RUnlock()
	query := url.Values{"labelSelector": {object.LabelOwner + "=" + owner}}
	manager := object.Manager(owner)
	var mu sync.Mutex
	var owned []plan.Owned
	var findings diag.Findings
	live := map[object.Ref]plan.Live{}
	var wg sync.WaitGroup
	for _, k := range all {
		wg.Go(func() {
			var items []meta
			err := s.listMeta(ctx, k.path(k.Preferred, "", ""), query, func() { items = nil }, func(m meta) { items = append(items, m) })
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
				f := diag.Warnf("not-looked-at", "objects of the kind %s that are the bundle's are not found again", k.Kind)
				f.Why, f.Fix = s.redact(err.Error()), "grant list on "+k.Resource
				findings = append(findings, f)
			}
			for _, m := range items {
				ref := object.Ref{Group: k.Group, Kind: k.Kind, Namespace: m.Namespace, Name: m.Name}
				l := liveOf(m, manager)
				if l.Own == "" || l.OwnerLabel != owner || l.Terminating || ref.Namespace == object.SystemNamespace {
					continue
				}
				live[ref] = l
				owned = append(owned, plan.FromMarks(ref, k.Preferred, m.Labels[object.LabelInstance], l))
			}
		})
	}
	wg.Wait()
	return owned, live, findings.OnCluster(s.cfg.Name).Sorted()
}
