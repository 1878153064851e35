package cluster

import (
	"context"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

// podReasons asks once why a workload's pods are not ready, and returns what to add to its status: reasons of its
// pods, and where there are none the warnings of its controller. What may not be read adds nothing.
func (s *Session) podReasons(ctx context.Context, ref object.Ref, obj map[string]any) func(health.Status) health.Status {
	nothing := func(st health.Status) health.Status { return st }
	selector := health.PodSelector(obj)
	if selector == "" {
		return nothing
	}
	pods, err := s.listItems(ctx, "/api/v1/namespaces/"+url.PathEscape(ref.Namespace)+"/pods", url.Values{"labelSelector": {selector}})
	if err != nil {
		return nothing
	}
	if len(pods) > 0 {
		return func(st health.Status) health.Status { return s.said(health.WithPods(st, pods)) }
	}
	uid := string((&unstructured.Unstructured{Object: obj}).GetUID())
	events, err := s.listItems(ctx, "/api/v1/namespaces/"+url.PathEscape(ref.Namespace)+"/events",
		url.Values{"fieldSelector": {"involvedObject.uid=" + uid}, "limit": {"20"}})
	if err != nil || len(events) == 0 {
		return nothing
	}
	return func(st health.Status) health.Status { return s.said(health.WithEvents(st, events)) }
}

// said is a status without the secrets in what others say, shortened.
func (s *Session) said(st health.Status) health.Status {
	st.Details = slices.Clone(st.Details)
	for i, d := range st.Details {
		st.Details[i] = s.Redact(d)
	}
	st.Reason = s.Cut(st.Reason, reasonText)
	return st
}

// listItems reads a collection's items.
func (s *Session) listItems(ctx context.Context, path string, query url.Values) ([]map[string]any, error) {
	items, _, err := s.ListObjects(ctx, kubeapi.Request{Path: path, Query: query, Attempts: 2})
	return items, err
}
