package cluster

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// discoveryType asks for the aggregated form: every group, version and kind in one answer. API servers from 1.27 on
// know it (v2 from 1.30).
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

// KindInfo is one kind as a cluster serves it.
type KindInfo struct {
	Group, Kind string
	// Resource is the plural name in paths.
	Resource   string
	Namespaced bool
	// Preferred is the version the server prefers of those that have the kind; Versions are all of them, preferred first.
	Preferred string
	Versions  []string
	// Custom: the group is not one of Kubernetes' own.
	Custom bool
	// Watch, List and Delete: the verbs are served at all.
	Watch, List, Delete bool
}

// path of the kind's collection, or of one object with a name.
func (k KindInfo) path(version, namespace, name string) string {
	return object.Path(k.Group, version, namespace, k.Resource, name)
}

// kinds are the kinds a cluster serves. Immutable once in a Session, but for added.
type kinds struct {
	byKind map[schema.GroupKind]KindInfo
	// stale are groups whose API server did not answer discovery: what they serve is not known.
	stale map[string]bool
}

func (k *kinds) apis() []string {
	var out []string
	for gk, info := range k.byKind {
		for _, v := range info.Versions {
			out = append(out, strings.TrimPrefix(gk.Group+"/"+v+"/"+gk.Kind, "/"))
		}
	}
	slices.Sort(out)
	return out
}

// Kind returns how the cluster serves a version of a kind.
func (s *Session) Kind(gvk schema.GroupVersionKind) (KindInfo, bool) {
	info, ok := s.ByGroupKind(gvk.GroupKind())
	return info, ok && slices.Contains(info.Versions, gvk.Version)
}

// ByGroupKind returns how the cluster serves a kind, at whatever version.
func (s *Session) ByGroupKind(gk schema.GroupKind) (KindInfo, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	info, ok := s.kinds.byKind[gk]
	return info, ok
}

// nearKind is the kind that a name which is not served may mean: the same kind at another version or of another group,
// or the most similar name; "" when none is close.
func (s *Session) nearKind(gvk schema.GroupVersionKind) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	same := map[string]string{}
	for gk, info := range s.kinds.byKind {
		served := strings.TrimPrefix(gk.Group+"/"+info.Preferred, "/") + " " + gk.Kind
		if gk.Kind == gvk.Kind && (gk.Group == gvk.Group || same[gk.Kind] == "" || served < same[gk.Kind]) {
			same[gk.Kind] = served
		}
		if gk.Group == gvk.Group && slices.Contains(info.Versions, gvk.Version) {
			names = append(names, gk.Kind)
		}
	}
	slices.Sort(names)
	if near := diag.Nearest(gvk.Kind, names); near != "" {
		return gvk.GroupVersion().String() + " " + near
	}
	return same[gvk.Kind]
}

// stale reports whether the kinds of a group are unknown because its API server does not answer.
func (s *Session) stale(group string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.kinds.stale[group]
}

// Refresh asks which kinds the cluster serves now.
func (s *Session) Refresh(ctx context.Context) error {
	s.refresh.Lock()
	defer s.refresh.Unlock()
	var core, groups apidiscovery.APIGroupDiscoveryList
	errs := make(chan error, 2)
	go func() { errs <- s.discover(ctx, "/api", &core) }()
	go func() { errs <- s.discover(ctx, "/apis", &groups) }()
	err1, err2 := <-errs, <-errs
	if err1 != nil {
		return err1
	}
	if err2 != nil {
		return err2
	}
	k := kindsOf(core, groups)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = k
	return nil
}

func (s *Session) discover(ctx context.Context, path string, into *apidiscovery.APIGroupDiscoveryList) error {
	_, err := s.do(ctx, call{method: http.MethodGet, path: path, accept: discoveryType, into: into, limits: answer.Discovery})
	return err
}

func kindsOf(lists ...apidiscovery.APIGroupDiscoveryList) *kinds {
	k := &kinds{byKind: map[schema.GroupKind]KindInfo{}, stale: map[string]bool{}}
	for _, list := range lists {
		for _, g := range list.Items {
			for _, v := range g.Versions {
				if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
					k.stale[g.Name] = true
					continue
				}
				for _, r := range v.Resources {
					k.add(g.Name, v.Version, r)
				}
			}
		}
	}
	return k
}

// add learns one resource. Resources that cannot be applied (reviews, bindings) are kinds all the same.
func (k *kinds) add(group, version string, r apidiscovery.APIResourceDiscovery) {
	if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
		return
	}
	kind := r.ResponseKind.Kind
	if g := r.ResponseKind.Group; g != "" && g != group {
		return // a resource that answers with another group's kind
	}
	gk := schema.GroupKind{Group: group, Kind: kind}
	info, seen := k.byKind[gk]
	if !seen {
		info = KindInfo{Group: group, Kind: kind, Resource: r.Resource, Namespaced: r.Scope == apidiscovery.ScopeNamespace,
			Preferred: version, Custom: object.Ref{Group: group, Kind: kind}.Custom(), Watch: slices.Contains(r.Verbs, "watch"),
			List: slices.Contains(r.Verbs, "list"), Delete: slices.Contains(r.Verbs, "delete")}
	}
	if info.Resource == r.Resource && !slices.Contains(info.Versions, version) {
		info.Versions = append(info.Versions, version)
	}
	k.byKind[gk] = info
}

// learn adds a kind that a CRD just brought, before discovery shows it.
func (s *Session) learn(crd object.Object) {
	defined := object.DefinedKinds([]object.Object{crd})
	plural := strings.TrimSuffix(crd.Ref().Name, "."+groupOf(crd))
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &kinds{byKind: maps.Clone(s.kinds.byKind), stale: s.kinds.stale}
	for gk, d := range defined {
		info := KindInfo{Group: gk.Group, Kind: gk.Kind, Resource: plural, Namespaced: d.Namespaced, Custom: true, Watch: true, List: true, Delete: true}
		for v := range d.Versions {
			info.Versions = append(info.Versions, v)
		}
		slices.Sort(info.Versions)
		if len(info.Versions) > 0 {
			info.Preferred = info.Versions[len(info.Versions)-1]
		}
		if old, ok := next.byKind[gk]; ok && slices.Contains(info.Versions, old.Preferred) {
			info.Preferred = old.Preferred
		}
		next.byKind[gk] = info
	}
	s.kinds = next
}

func groupOf(crd object.Object) string {
	spec, _ := crd.Body["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	return group
}

// staleFinding says that a kind cannot be looked at because the server behind its group does not answer.
func (s *Session) staleFinding(ref object.Ref) diag.Finding {
	f := diag.Errorf("api-unavailable", "the API group %s does not answer: its objects cannot be looked at", ref.Group)
	f.Object, f.Cluster = ref.String(), s.cfg.Name
	f.Fix = "look at: kubectl get apiservices"
	return f
}
