package kubeapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/broke"
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

// Path of the kind's collection, or of one object with a name.
func (k KindInfo) Path(version, namespace, name string) string {
	return object.Path(k.Group, version, namespace, k.Resource, name)
}

// kinds are the kinds a cluster serves. Immutable once in a Client, but for added.
type kinds struct {
	byKind map[schema.GroupKind]KindInfo
	// stale are groups, and their versions, whose API server did not answer discovery: what they serve is not known.
	stale map[string][]string
}

// APIs are the kinds that are served, as "GROUP/VERSION/KIND" ("VERSION/KIND" of the core group), sorted.
func (c *Client) APIs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds.apis()
}

// Kinds are all kinds that are served, in no order, and the groups, and versions of them, whose kinds are unknown because
// their API server does not answer.
func (c *Client) Kinds() (served []KindInfo, stale map[string][]string) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Values(c.kinds.byKind)), c.kinds.stale
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

// texts are all names that an API server gives to what it serves.
func (k *kinds) texts() []string {
	out := k.apis()
	for _, info := range k.byKind {
		out = append(out, info.Resource)
	}
	for group, versions := range k.stale {
		out = append(append(out, group), versions...)
	}
	return out
}

// Kind returns how the cluster serves a version of a kind.
func (c *Client) Kind(gvk schema.GroupVersionKind) (KindInfo, bool) {
	info, ok := c.ByGroupKind(gvk.GroupKind())
	return info, ok && slices.Contains(info.Versions, gvk.Version)
}

// ByGroupKind returns how the cluster serves a kind, at whatever version.
func (c *Client) ByGroupKind(gk schema.GroupKind) (KindInfo, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	info, ok := c.kinds.byKind[gk]
	return info, ok
}

// Plural is the name of a kind in paths, "" where it is not served.
func (c *Client) Plural(gk schema.GroupKind) string {
	info, _ := c.ByGroupKind(gk)
	return info.Resource
}

// NearKind is the kind that a name which is not served may mean: the same kind at another version or of another group,
// or the most similar name; "" when none is close.
func (c *Client) NearKind(gvk schema.GroupVersionKind) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var names []string
	same := map[string]string{}
	for gk, info := range c.kinds.byKind {
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

// Stale reports whether the kinds of a group are unknown because its API server does not answer.
func (c *Client) Stale(group string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.kinds.stale[group]) > 0
}

// Refresh asks which kinds the cluster serves now.
func (c *Client) Refresh(ctx context.Context) error { return c.Discover(ctx, Request{}) }

// Discover asks which kinds the cluster serves now; like says how long and how often each of its two requests is tried.
// The error of an API server without aggregated discovery says so.
func (c *Client) Discover(ctx context.Context, like Request) error {
	c.refresh.Lock()
	defer c.refresh.Unlock()
	c.wrote.Store(false)
	var core, groups apidiscovery.APIGroupDiscoveryList
	like.Method, like.Accept, like.Limits = http.MethodGet, discoveryType, answer.Discovery
	ask := func(path string, into *apidiscovery.APIGroupDiscoveryList) error {
		r := like
		r.Path, r.Into = path, into
		_, err := c.Do(ctx, r)
		return err
	}
	var wg broke.Group
	var errCore, errGroups error
	wg.Go(func() { errCore = ask("/api", &core) })
	wg.Go(func() { errGroups = ask("/apis", &groups) })
	wg.Wait()
	switch {
	case errCore != nil:
		return errCore
	case errGroups != nil:
		return errGroups
	case len(core.Items) == 0:
		return errors.New("the API server does not speak aggregated discovery (Kubernetes 1.27 or later is needed)")
	}
	k := kindsOf(core, groups)
	if err := c.echoed("what it serves", k.texts()...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds = k
	return nil
}

func kindsOf(lists ...apidiscovery.APIGroupDiscoveryList) *kinds {
	k := &kinds{byKind: map[schema.GroupKind]KindInfo{}, stale: map[string][]string{}}
	for _, list := range lists {
		for _, g := range list.Items {
			for _, v := range g.Versions {
				if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
					k.stale[g.Name] = append(k.stale[g.Name], v.Version)
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

// Learn adds a kind that a CRD just brought, before discovery shows it.
func (c *Client) Learn(crd object.Object) {
	defined := object.DefinedKinds([]object.Object{crd})
	plural := strings.TrimSuffix(crd.Ref().Name, "."+groupOf(crd))
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &kinds{byKind: maps.Clone(c.kinds.byKind), stale: c.kinds.stale}
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
	c.kinds = next
}

// Unlearn forgets the kinds of a definition that is gone.
func (c *Client) Unlearn(crd object.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &kinds{byKind: maps.Clone(c.kinds.byKind), stale: c.kinds.stale}
	maps.DeleteFunc(next.byKind, func(_ schema.GroupKind, k KindInfo) bool { return k.Resource+"."+k.Group == crd.Name })
	c.kinds = next
}

func groupOf(crd object.Object) string {
	spec, _ := crd.Body["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	return group
}
