package cluster

import (
	"maps"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

// autoscalerKinds are those that set spec.replicas of what their spec.scaleTargetRef names.
var autoscalerKinds = []schema.GroupKind{{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, {Group: "keda.sh", Kind: "ScaledObject"}}

// autoscalers finds out what scales the objects that somebody scaled: one LIST per namespace with such objects and kind,
// none where nobody did. Where it is forbidden, the field manager tells: a person's tool is no autoscaler.
func (o *observer) autoscalers() {
	scaled := map[string][]object.Ref{}
	for r, l := range o.Live {
		switch {
		case !l.Found || !l.Scaled(o.owned[r]):
		case object.Autoscales(l.ScaleOwner):
			l.Autoscaler = l.ScaleOwner
			o.Live[r] = l
		default:
			scaled[r.Namespace] = append(scaled[r.Namespace], r)
		}
	}
	found := map[object.Ref]string{}
	var mu sync.Mutex
	for _, gk := range autoscalerKinds {
		k, ok := o.s.ByGroupKind(gk)
		if !ok {
			continue
		}
		for ns, refs := range scaled {
			o.wg.Go(func() {
				by := o.autoscalersIn(k, ns, refs)
				mu.Lock()
				defer mu.Unlock()
				maps.Copy(found, by)
			})
		}
	}
	o.wg.Wait()
	for _, refs := range scaled {
		for _, r := range refs {
			l := o.Live[r]
			l.Autoscaler = found[r]
			o.Live[r] = l
		}
	}
}

// autoscalersIn are the autoscalers of one kind in one namespace by what they scale.
func (o *observer) autoscalersIn(k kubeapi.KindInfo, ns string, refs []object.Ref) map[object.Ref]string {
	var list struct {
		Items []map[string]any `json:"items"`
	}
	out := map[object.Ref]string{}
	if _, err := o.s.Do(o.ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path(k.Preferred, ns, ""), Into: &list}); err != nil {
		o.find(diag.Finding{Severity: diag.Info, Code: "no-autoscalers", Why: o.s.Redact(err.Error()),
			What: "the " + k.Resource + " of namespace " + ns + " cannot be read: replicas that a controller set are left to it",
			Fix:  "grant list on " + k.Resource})
		for _, r := range refs {
			if m := o.Live[r].ScaleOwner; !object.ByHand(m) {
				out[r] = m
			}
		}
		return out
	}
	for _, item := range list.Items {
		u := unstructured.Unstructured{Object: item}
		out[object.ScaleTarget(item)] = k.Kind + " " + ns + "/" + u.GetName()
	}
	return out
}
