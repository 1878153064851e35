package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// listFrom is the number of unknown names in one (kind, namespace) from which one LIST is cheaper than GETs.
const listFrom = 6

// Observe reads what Compute needs to know, metadata only. What the inventory names costs one LIST by owner label per
// kind; a name missing there is read by itself before it counts as gone, because a label can be removed. Names not in
// the inventory are looked for without a label, because they may be somebody else's. Namespaces that hold inventoried
// objects exist; the others with unknown names are asked for first, and nothing is looked for in one that is missing.
func (s *Session) Observe(ctx context.Context, req ObserveRequest) (Observation, diag.Findings) {
	o := &observer{s: s, ctx: ctx, req: req, definitions: s.definitions(), manager: object.Manager(req.Owner), owned: map[object.Ref]plan.InventoryEntry{}, ignore: map[object.Ref]*object.Ignore{},
		Observation: Observation{Live: map[object.Ref]plan.Live{}, Schema: map[string]string{},
			NamespaceExists: map[string]bool{}}}
	for _, ow := range req.Inventory {
		o.owned[ow.Ref], o.ignore[ow.Ref] = ow, ow.Ignore
	}
	for _, d := range req.Desired {
		o.ignore[d.Ref] = d.Ignore
	}
	o.inventoried()
	o.unknown()
	o.autoscalers()
	for r := range o.ignore { // everything declared and owned: every ref has an entry
		if _, ok := o.Live[r]; !ok {
			o.Live[r] = plan.Live{}
		}
	}
	return o.Observation, o.findings.OnCluster(s.Name()).Sorted()
}

type observer struct {
	Observation
	s           *Session
	definitions *kubeapi.Definitions
	ctx         context.Context
	req         ObserveRequest
	manager     string
	owned       map[object.Ref]plan.InventoryEntry
	ignore      map[object.Ref]*object.Ignore // by what is declared now, else as recorded

	mu       sync.Mutex
	findings diag.Findings
	wg       broke.Group
}

func (o *observer) find(f diag.Finding) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.findings = append(o.findings, f)
}

func (o *observer) see(r object.Ref, l plan.Live) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Live[r] = l
	if r.Namespace != "" && l.Found {
		o.NamespaceExists[r.Namespace] = true
	}
	if r.IsNamespace() {
		o.NamespaceExists[r.Name] = l.Found && !l.Terminating
	}
}

func (o *observer) seen(r object.Ref) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.Live[r]
	return ok
}

// inventoried is the first round: LISTs by owner label, the CRDs' schema keys, and the namespaces of which the
// inventory tells nothing; then GETs for what the LISTs missed.
func (o *observer) inventoried() {
	byKind := map[schema.GroupKind][]object.Ref{}
	for r := range o.owned {
		byKind[r.GroupKind()] = append(byKind[r.GroupKind()], r)
	}
	for gk, refs := range byKind {
		slices.SortFunc(refs, object.Ref.Compare)
		o.wg.Go(func() { o.listOwned(gk, refs) })
	}
	o.wg.Go(o.schemas)
	for _, ns := range o.freshNamespaces() {
		o.wg.Go(func() { o.namespace(ns) })
	}
	o.wg.Wait()
	for r := range o.owned {
		if !o.seen(r) {
			o.wg.Go(func() { o.get(r) })
		}
	}
	o.wg.Wait()
}

// freshNamespaces are those with unknown names and no inventoried object.
func (o *observer) freshNamespaces() []string {
	known := map[string]bool{}
	for r, ow := range o.owned {
		if ow.UID != "" {
			known[r.Namespace] = true
			if r.IsNamespace() {
				known[r.Name] = true
			}
		}
	}
	return slices.DeleteFunc(o.wantedNamespaces(), func(ns string) bool { return known[ns] })
}

// wantedNamespaces are those whose existence matters: with unknown names in them, or asked for.
func (o *observer) wantedNamespaces() []string {
	out := map[string]bool{}
	for _, ns := range o.req.Namespaces {
		out[ns] = true
	}
	for _, d := range o.req.Desired {
		if _, ok := o.owned[d.Ref]; ok {
			continue
		}
		switch {
		case d.Ref.Namespace != "":
			out[d.Ref.Namespace] = true
		case d.Ref.IsNamespace():
			out[d.Ref.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// namespace reads one namespace. Where that is forbidden its existence stays unknown.
func (o *observer) namespace(name string) {
	r := object.Ref{Kind: "Namespace", Name: name}
	if o.seen(r) {
		return
	}
	var m meta
	_, err := o.s.Do(o.ctx, kubeapi.Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + url.PathEscape(name), Named: name, Accept: kubeapi.MetadataType, Into: &m})
	switch {
	case err == nil:
		o.see(r, o.live(r, m))
	case apierrors.IsNotFound(err):
		o.see(r, plan.Live{})
	case apierrors.IsForbidden(err):
	default:
		o.find(o.failed(r, err))
	}
}

// listOwned is the LIST by owner label of one kind; with narrow rights per namespace, then GETs (by the caller).
func (o *observer) listOwned(gk schema.GroupKind, refs []object.Ref) {
	k, ok := o.s.ByGroupKind(gk)
	if !ok {
		live := plan.Live{}
		stale := o.s.Stale(gk.Group)
		if stale {
			f := o.s.staleFinding(refs[0])
			o.find(f)
			live.Unseen = f.What
		}
		defined := !stale && !o.s.undefined(o.ctx, gk, plan.InventoryEntry{}, o.definitions)
		for _, r := range refs {
			if known := o.owned[r]; !stale && (defined || known.Aggregated()) {
				o.see(r, plan.Unserved(known))
				continue
			}
			o.see(r, live)
		}
		return
	}
	selector := url.Values{"labelSelector": {object.LabelOwner + "=" + o.req.Owner}}
	err := o.list(k, "", selector)
	if !apierrors.IsForbidden(err) {
		o.check(refs[0], err)
		return
	}
	if !k.Namespaced {
		o.narrow(k, "")
		return
	}
	namespaces := map[string]bool{}
	for _, r := range refs {
		namespaces[r.Namespace] = true
	}
	var wg broke.Group
	for ns := range namespaces {
		wg.Go(func() {
			err := o.list(k, ns, selector)
			if apierrors.IsForbidden(err) {
				o.narrow(k, ns)
				return
			}
			o.check(refs[0], err)
		})
	}
	wg.Wait()
}

// check records a failed LIST; NotFound means the kind is gone, and the GETs that follow will say the same.
func (o *observer) check(r object.Ref, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		r.Name = "*"
		o.find(o.failed(r, err))
	}
}

// narrow says that objects are read one by one because listing is forbidden.
func (o *observer) narrow(k kubeapi.KindInfo, ns string) {
	where := map[bool]string{true: "in the cluster", false: "in namespace " + ns}[ns == ""]
	o.find(diag.Finding{Severity: diag.Info, Code: "no-list", What: fmt.Sprintf("listing %s %s is forbidden: its objects are read one by one", k.Resource, where),
		Fix: "grant list on " + k.Resource + " to save requests"})
}

func (o *observer) failed(r object.Ref, err error) diag.Finding {
	f := diag.Errorf("observe", "the object cannot be looked at")
	f.Object, f.Why = r.String(), o.s.text(err, r)
	if apierrors.IsForbidden(err) {
		f.Fix = "grant get and list on it, or use other credentials"
	}
	return f
}

// list reads the metadata of a kind, of one namespace or all, and remembers what is desired or owned.
func (o *observer) list(k kubeapi.KindInfo, ns string, query url.Values) error {
	return o.s.ListMeta(o.ctx, k.Path(k.Preferred, ns, ""), query, func() {}, func(m meta) {
		r := object.Ref{Group: k.Group, Kind: k.Kind, Namespace: m.Namespace, Name: m.Name}
		o.see(r, o.live(r, m))
	})
}

// get reads the metadata of one object.
func (o *observer) get(r object.Ref) {
	k, ok := o.s.ByGroupKind(r.GroupKind())
	if !ok {
		return
	}
	m, err := o.s.getMeta(o.ctx, k, r)
	switch {
	case err == nil:
		o.see(r, o.live(r, m))
	case o.s.notThere(o.ctx, err, r, o.owned[r], o.definitions):
		o.see(r, plan.Live{})
	case apierrors.IsNotFound(err):
		o.see(r, plan.Unserved(plan.InventoryEntry{Ref: r}))
	default:
		f := o.failed(r, err)
		o.find(f)
		o.see(r, plan.Live{Unseen: f.Why})
	}
}

// getMeta reads the metadata of one object at the kind's preferred version.
func (s *Session) getMeta(ctx context.Context, k kubeapi.KindInfo, r object.Ref) (meta, error) {
	var m meta
	_, err := s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path(k.Preferred, r.Namespace, r.Name), Named: r.Name, Accept: kubeapi.MetadataType, Into: &m})
	return m, err
}

// unknown is the second round: names that the inventory does not have, in namespaces that exist.
func (o *observer) unknown() {
	doubtful := slices.DeleteFunc(o.wantedNamespaces(), func(ns string) bool {
		_, known := o.NamespaceExists[ns]
		return known
	})
	for _, ns := range doubtful { // inventoried objects were expected there, and none is
		o.wg.Go(func() { o.namespace(ns) })
	}
	o.wg.Wait()
	type place struct {
		gk schema.GroupKind
		ns string
	}
	wanted := map[place][]object.Ref{}
	for _, d := range o.req.Desired {
		if o.seen(d.Ref) || o.absentNamespace(d.Ref.Namespace) || o.settledNamespace(d) {
			continue
		}
		if _, ok := o.s.ByGroupKind(d.Ref.GroupKind()); !ok {
			if _, comes := o.req.Defined[d.Ref.GroupKind()]; !comes && o.s.Stale(d.Ref.Group) {
				o.find(o.s.staleFinding(d.Ref))
			}
			continue
		}
		p := place{d.Ref.GroupKind(), d.Ref.Namespace}
		wanted[p] = append(wanted[p], d.Ref)
	}
	for p, refs := range wanted {
		if len(refs) < listFrom {
			for _, r := range refs {
				o.wg.Go(func() { o.get(r) })
			}
			continue
		}
		o.wg.Go(func() { o.listUnknown(p.gk, p.ns, refs) })
	}
	o.wg.Wait()
}

func (o *observer) absentNamespace(ns string) bool {
	exists, known := o.NamespaceExists[ns]
	return ns != "" && known && !exists && !o.terminating(ns)
}

// settledNamespace reports an instance's namespace that is not in the inventory (somebody else made it) and in which
// everything declared was just seen: it is there, and nothing has to be known of it.
func (o *observer) settledNamespace(d plan.Desired) bool {
	if !d.OwnNamespace || !o.NamespaceExists[d.Ref.Name] {
		return false
	}
	for _, other := range o.req.Desired {
		if other.Ref.Namespace == d.Ref.Name && !o.Live[other.Ref].Found {
			return false
		}
	}
	return true
}

// terminating namespaces still hold objects.
func (o *observer) terminating(ns string) bool {
	return o.Live[object.Ref{Kind: "Namespace", Name: ns}].Terminating
}

// listUnknown looks for names in one (kind, namespace) by one LIST without a label; where that is forbidden by GETs. What the
// API server's cache may answer counts only when it has none of them.
func (o *observer) listUnknown(gk schema.GroupKind, ns string, refs []object.Ref) {
	k, _ := o.s.ByGroupKind(gk)
	wanted := map[object.Ref]bool{}
	for _, r := range refs {
		wanted[r] = true
	}
	var there map[object.Ref]plan.Live
	look := func(query url.Values) error {
		return o.s.ListMeta(o.ctx, k.Path(k.Preferred, ns, ""), query, func() { there = map[object.Ref]plan.Live{} }, func(m meta) {
			if r := (object.Ref{Group: k.Group, Kind: k.Kind, Namespace: m.Namespace, Name: m.Name}); wanted[r] {
				there[r] = o.live(r, m)
			}
		})
	}
	var err error
	if o.req.Cached {
		err = look(url.Values{"resourceVersion": {"0"}})
	}
	if !o.req.Cached || len(there) > 0 || err != nil && !apierrors.IsForbidden(err) { // it may have gone meanwhile
		err = look(nil)
	}
	for r, l := range there {
		o.see(r, l)
	}
	if apierrors.IsForbidden(err) {
		o.narrow(k, ns)
		dag.Each(len(refs), 0, func(i int) { o.get(refs[i]) })
		return
	}
	o.check(refs[0], err)
}

// live reduces metadata to what deciding needs.
func (o *observer) live(r object.Ref, m meta) plan.Live {
	l := leftover.Seen(plan.LiveOf(m.ObjectMeta, o.manager), o.owned[r].Stays, m.ManagedFields, o.manager, o.ignore[r])
	if own := o.owned[r].ApplyHash; own != "" && own != l.ApplyHash {
		l.Managed = m.ManagedFields
	}
	if g := o.ignore[r]; g != nil {
		l.Entry = object.EntryOf(m.ManagedFields, o.manager)
		l.LeftToOthers = object.LeftToOthers(o.owned[r].Entry, m.ManagedFields, o.manager, g)
	}
	return l
}

// staleFinding says that a kind cannot be looked at because the server behind its group does not answer.
func (s *Session) staleFinding(ref object.Ref) diag.Finding {
	f := diag.Errorf("api-unavailable", "the API group %s does not answer: its objects cannot be looked at", ref.Group)
	f.Object, f.Cluster = ref.String(), s.Name()
	f.Fix = "look at: kubectl get apiservices"
	return f
}
