package cluster

import (
	"context"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Health tells the state of inventoried objects now: one LIST by owner label per kind with a state of its own (per
// namespace or by name where rights are narrow), and the pods of workloads that are not ready. Other kinds are ready
// by being there, which Observe tells; for them nothing is asked.
func (s *Session) Health(ctx context.Context, owner string, owned []plan.InventoryEntry, rules map[string]health.Rules) (map[object.Ref]health.Status, diag.Findings) {
	h := &healths{s: s, ctx: ctx, owner: owner, rules: rules, byRef: map[object.Ref]plan.InventoryEntry{}, out: map[object.Ref]health.Status{}}
	byKind := map[schema.GroupKind][]plan.InventoryEntry{}
	for _, o := range owned {
		h.byRef[o.Ref] = o
		if !health.Judged(o.Ref) && !rules[o.Instance].Has(o.Ref) {
			h.out[o.Ref] = health.Status{State: health.Ready}
			continue
		}
		byKind[o.Ref.GroupKind()] = append(byKind[o.Ref.GroupKind()], o)
	}
	for gk, list := range byKind {
		h.wg.Go(func() { h.kind(gk, list) })
	}
	h.wg.Wait()
	h.findings = append(h.findings, health.Cut(len(h.byRef)-len(h.out)-len(h.findings), context.Cause(ctx))...)
	return h.out, h.findings.OnCluster(s.Name()).Sorted()
}

type healths struct {
	s     *Session
	ctx   context.Context
	owner string
	rules map[string]health.Rules
	byRef map[object.Ref]plan.InventoryEntry
	wg    broke.Group

	mu       sync.Mutex
	out      map[object.Ref]health.Status
	findings diag.Findings
}

func (h *healths) kind(gk schema.GroupKind, list []plan.InventoryEntry) {
	k, ok := h.s.ByGroupKind(gk)
	if !ok {
		for _, o := range list {
			h.set(o.Ref, health.Status{State: health.Unknown, Reason: plan.Unserved(o).Unseen})
		}
		return
	}
	seen := map[object.Ref]map[string]any{}
	err := h.list(k, "", seen)
	if apierrors.IsForbidden(err) && k.Namespaced {
		tried := map[string]bool{}
		for _, o := range list {
			if !tried[o.Ref.Namespace] {
				tried[o.Ref.Namespace] = true
				_ = h.list(k, o.Ref.Namespace, seen) // what it does not show is read by name
			}
		}
	}
	dag.Each(len(list), 0, func(i int) { h.judge(k, list[i], seen[list[i].Ref]) })
}

func (h *healths) list(k kubeapi.KindInfo, ns string, seen map[object.Ref]map[string]any) error {
	items, err := h.s.listItems(h.ctx, k.Path(k.Preferred, ns, ""), url.Values{"labelSelector": {object.LabelOwner + "=" + h.owner}})
	if err != nil {
		return err
	}
	for _, m := range items {
		k.Typed(m)
		u := unstructured.Unstructured{Object: m}
		seen[object.Ref{Group: k.Group, Kind: k.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}] = m
	}
	return nil
}

func (h *healths) judge(k kubeapi.KindInfo, o plan.InventoryEntry, obj map[string]any) {
	var err error
	if obj == nil {
		obj, err = h.s.whole(h.ctx, k, k.Preferred, o.Ref)
	}
	var st health.Status
	if err == nil {
		st, err = h.s.judged(h.ctx, o.Ref, obj, h.rules[o.Instance])
	}
	switch {
	case apierrors.IsNotFound(err) && o.Expired(false):
		h.set(o.Ref, health.Status{State: health.Ready, Reason: health.DoneAndGone})
		return
	case apierrors.IsNotFound(err):
		h.set(o.Ref, health.Status{State: health.Missing, Reason: "not in the cluster"})
		return
	case err != nil && h.ctx.Err() != nil: // it was cut off: nothing is known against the object
		return
	case err != nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.findings = append(h.findings, health.Unseen(o.Ref, o.Instance, h.s.text(err, o.Ref)))
		return
	}
	if st.State != health.Ready && o.Ref.IsWorkload() {
		st = h.s.podReasons(h.ctx, o.Ref, obj)(st)
	}
	h.set(o.Ref, h.s.said(st))
}

// judgedAtOnce is how many objects of a cluster are judged by rules of files and records at once: such a rule may take much memory.
const judgedAtOnce = 4

// judged is the health of an object, or why the context has ended before its turn.
func (s *Session) judged(ctx context.Context, r object.Ref, obj map[string]any, rules health.Rules) (health.Status, error) {
	if rules.Has(r) {
		select {
		case s.judging <- struct{}{}:
			defer func() { <-s.judging }()
		case <-ctx.Done():
		}
		if cause := context.Cause(ctx); cause != nil {
			return health.Status{}, cause
		}
	}
	return health.Of(obj, rules.On(s.Name())), nil
}

func (h *healths) set(r object.Ref, st health.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out[r] = st
}
