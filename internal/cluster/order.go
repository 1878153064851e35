package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/object"
)

// stepKind is what a node of an order stands for.
type stepKind int

const (
	// stepBarrier does nothing: it stands between what comes before and what comes after.
	stepBarrier stepKind = iota
	// stepWrite writes an object, or stands for one that is there already.
	stepWrite
	// stepReady waits until an object is ready.
	stepReady
	// stepRemove deletes an object and waits until it is gone.
	stepRemove
)

type step struct {
	kind stepKind
	ref  object.Ref
}

// order is who comes before whom, and what each node stands for.
type order struct {
	graph dag.Graph[string]
	steps map[string]step
}

func (o *order) add(key string, s step) string {
	if _, ok := o.steps[key]; !ok {
		o.graph.Add(key)
		o.steps[key] = s
	}
	return key
}

func (o *order) barrier(format string, args ...any) string {
	return o.add("barrier "+fmt.Sprintf(format, args...), step{})
}

// edge adds before -> after unless that would close a cycle, and reports whether it did.
func (o *order) edge(before, after string) bool {
	if before == after || o.graph.Reaches(after, before) {
		return false
	}
	o.graph.Edge(before, after)
	return true
}

func key(kind string, r object.Ref) string {
	return kind + " " + r.Group + "/" + r.Kind + " " + r.Namespace + "/" + r.Name
}

func writeKey(r object.Ref) string  { return key("write", r) }
func readyKey(r object.Ref) string  { return key("ready", r) }
func removeKey(r object.Ref) string { return key("remove", r) }

// item is one object of the bundle, as far as ordering cares.
type item struct {
	ref      object.Ref
	instance string
	stage    int
	// body may be nil for objects that are not written: then nothing is known of what they serve or select.
	body map[string]any
	// waits: readiness is waited for.
	waits bool
	class object.Class
}

// orderInput is everything an order of writes is made from.
type orderInput struct {
	items   []item
	depends map[string][]string
	// wait: readiness gates stages and dependent instances; else only what writing needs is waited for.
	wait bool
	// plural is the resource name of a kind, "" when unknown.
	plural func(schema.GroupKind) string
}

// writer builds the order of writes.
type writer struct {
	orderInput
	order
	byRef map[object.Ref]*item
	// needed are objects whose readiness writing needs: CRDs, and what runs behind webhooks and API services.
	needed map[object.Ref]bool
	// serves are the workloads of the Set behind each hook or converting CRD; served tells that its Service is in the Set.
	serves map[object.Ref][]object.Ref
	stages map[string][]int
}

// orderWrites is the order in which a bundle's objects are written on one cluster.
func orderWrites(in orderInput) (*order, error) {
	w := &writer{orderInput: in, byRef: map[object.Ref]*item{}, needed: map[object.Ref]bool{},
		serves: map[object.Ref][]object.Ref{}, stages: map[string][]int{}}
	w.steps = map[string]step{}
	for i := range w.items {
		w.byRef[w.items[i].ref] = &w.items[i]
	}
	for _, build := range []func(){
		w.backends,    // first: it tells whose readiness is needed and which custom resources come last
		w.classes,     // then every object's class is known
		w.nodes,       // one node per write, one per readiness waited for
		w.chains,      // classes within a stage, stages within an instance
		w.foundations, // namespaces and CRDs before what needs them, in whatever instance
		w.dependsOn,   // instances after those they need
		w.hooks,       // webhooks and API services after what serves them
		w.customs,     // last: these edges give way where they would close a cycle
	} {
		build()
	}
	return &w.order, w.graph.Cycle()
}

// backends finds the Services of the Set that hooks and converting CRDs call, and the workloads behind them.
func (w *writer) backends() {
	for _, it := range w.items {
		if it.ref.IsCRD() {
			w.needed[it.ref] = true
		}
		services := servicesOf(it)
		if len(services) == 0 {
			continue
		}
		var behind []object.Ref
		found := false
		for _, svc := range services {
			s, ok := w.byRef[svc]
			if !ok {
				continue
			}
			found = true
			behind = append(behind, w.selected(s)...)
		}
		if !found {
			continue // served from elsewhere: an ordinary object
		}
		w.serves[it.ref] = behind
		if it.ref.Kind == "APIService" && !w.wait {
			continue // written before its backend answers it refuses nobody's writes, unlike a webhook
		}
		for _, b := range behind {
			w.needed[b] = true
		}
	}
}

// selected are the workloads whose pods a Service selects.
func (w *writer) selected(svc *item) []object.Ref {
	selector, _, _ := unstructured.NestedStringMap(svc.body, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	var out []object.Ref
	for _, it := range w.items {
		if !it.ref.IsWorkload() || it.ref.Namespace != svc.ref.Namespace {
			continue
		}
		labels, _, _ := unstructured.NestedStringMap(it.body, "spec", "template", "metadata", "labels")
		matches := len(labels) > 0
		for k, v := range selector {
			matches = matches && labels[k] == v
		}
		if matches {
			out = append(out, it.ref)
		}
	}
	return out
}

// servicesOf are the Services that an object makes the API server call.
func servicesOf(it item) []object.Ref {
	var blocks []map[string]any
	switch {
	case it.ref.IsCRD():
		if c, ok, _ := unstructured.NestedMap(it.body, "spec", "conversion", "webhook", "clientConfig", "service"); ok {
			blocks = append(blocks, c)
		}
	case it.ref.Kind == "APIService" && it.ref.IsHook():
		if c, ok, _ := unstructured.NestedMap(it.body, "spec", "service"); ok {
			blocks = append(blocks, c)
		}
	case it.ref.IsHook():
		for _, h := range webhooksOf(it.body) {
			if c, ok, _ := unstructured.NestedMap(h, "clientConfig", "service"); ok {
				blocks = append(blocks, c)
			}
		}
	}
	var out []object.Ref
	for _, b := range blocks {
		ns, _ := b["namespace"].(string)
		name, _ := b["name"].(string)
		out = append(out, object.Ref{Kind: "Service", Namespace: ns, Name: name})
	}
	return out
}

func webhooksOf(body map[string]any) []map[string]any {
	list, _ := body["webhooks"].([]any)
	var out []map[string]any
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// classes moves custom resources that something of the Set has to serve behind it.
func (w *writer) classes() {
	for i := range w.items {
		it := &w.items[i]
		it.class = object.ClassOf(it.ref)
		if it.class != object.ClassWorkload || !it.ref.Custom() {
			continue
		}
		for _, server := range w.items {
			if _, served := w.serves[server.ref]; served && w.matches(server, *it) {
				it.class = object.ClassCustom
				break
			}
		}
	}
}

// matches reports whether writing a custom resource makes the API server call a hook or converting CRD.
func (w *writer) matches(server, custom item) bool {
	group := custom.ref.Group
	switch {
	case server.ref.IsCRD():
		kind, _, _ := unstructured.NestedString(server.body, "spec", "names", "kind")
		g, _, _ := unstructured.NestedString(server.body, "spec", "group")
		return g == group && kind == custom.ref.Kind
	case server.ref.Kind == "APIService":
		g, _, _ := unstructured.NestedString(server.body, "spec", "group")
		return g == group
	}
	plural := w.pluralOf(custom.ref.GroupKind())
	for _, h := range webhooksOf(server.body) {
		rules, _ := h["rules"].([]any)
		for _, x := range rules {
			rule, _ := x.(map[string]any)
			if listed(rule["apiGroups"], group) && (plural == "" || listed(rule["resources"], plural)) {
				return true
			}
		}
	}
	return false
}

// pluralOf is a kind's resource name, from a CRD of the Set or from the cluster.
func (w *writer) pluralOf(gk schema.GroupKind) string {
	for _, it := range w.items {
		if !it.ref.IsCRD() {
			continue
		}
		group, _, _ := unstructured.NestedString(it.body, "spec", "group")
		kind, _, _ := unstructured.NestedString(it.body, "spec", "names", "kind")
		if group == gk.Group && kind == gk.Kind {
			plural, _, _ := unstructured.NestedString(it.body, "spec", "names", "plural")
			return plural
		}
	}
	if w.plural == nil {
		return ""
	}
	return w.plural(gk)
}

// listed reports whether a webhook rule's list names a value or everything.
func listed(list any, value string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(value)) || slices.Contains(items, any("*")) || slices.Contains(items, any("*/*")) ||
		slices.Contains(items, any(value+"/*"))
}

func (w *writer) nodes() {
	slices.SortFunc(w.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.stage, b.stage), a.ref.Compare(b.ref))
	})
	for i := range w.items {
		it := &w.items[i]
		w.byRef[it.ref] = it
		wk := w.add(writeKey(it.ref), step{kind: stepWrite, ref: it.ref})
		if w.wait && it.waits || w.needed[it.ref] {
			w.graph.Edge(wk, w.add(readyKey(it.ref), step{kind: stepReady, ref: it.ref}))
		}
		if !slices.Contains(w.stages[it.instance], it.stage) {
			w.stages[it.instance] = append(w.stages[it.instance], it.stage)
		}
	}
	for _, s := range w.stages {
		slices.Sort(s)
	}
}

// done is the node after which an object counts as done: ready where that is waited for, else written.
func (w *writer) done(r object.Ref) string {
	if k := readyKey(r); w.graph.Has(k) {
		return k
	}
	return writeKey(r)
}

func (w *writer) start(instance string, stage int) string {
	return w.barrier("%s/%d/%d", instance, stage, object.ClassConfig)
}

func (w *writer) end(instance string, stage int) string {
	return w.barrier("%s/%d/%d", instance, stage, object.ClassCustom+1)
}

// chains puts the classes of a stage behind each other, and the stages of an instance. Readiness gates the end of a
// stage; within it only what a later class really needs waits (see hooks).
func (w *writer) chains() {
	for _, instance := range slices.Sorted(maps.Keys(w.stages)) {
		before := ""
		for _, stage := range w.stages[instance] {
			for c := object.ClassConfig; c <= object.ClassCustom; c++ {
				w.graph.Edge(w.barrier("%s/%d/%d", instance, stage, c), w.barrier("%s/%d/%d", instance, stage, c+1))
			}
			if before != "" {
				w.graph.Edge(before, w.start(instance, stage))
			}
			before = w.end(instance, stage)
		}
	}
	for _, it := range w.items {
		wk := writeKey(it.ref)
		if it.class > object.ClassFoundation {
			w.graph.Edge(w.barrier("%s/%d/%d", it.instance, it.stage, it.class), wk)
			w.graph.Edge(wk, w.barrier("%s/%d/%d", it.instance, it.stage, it.class+1))
			w.graph.Edge(w.done(it.ref), w.end(it.instance, it.stage))
		} else {
			w.graph.Edge(w.done(it.ref), w.start(it.instance, it.stage))
		}
	}
}

// foundations: an object comes after its namespace and after the CRD of its kind.
func (w *writer) foundations() {
	crds := map[schema.GroupKind]object.Ref{}
	for _, it := range w.items {
		if it.ref.IsCRD() {
			for gk := range object.DefinedKinds([]object.Object{{Body: it.body}}) {
				crds[gk] = it.ref
			}
		}
	}
	for _, it := range w.items {
		if ns, ok := w.byRef[object.Ref{Kind: "Namespace", Name: it.ref.Namespace}]; ok && it.ref.Namespace != "" {
			w.graph.Edge(writeKey(ns.ref), writeKey(it.ref))
		}
		if crd, ok := crds[it.ref.GroupKind()]; ok {
			w.graph.Edge(w.done(crd), writeKey(it.ref))
		}
	}
}

func (w *writer) dependsOn() {
	for _, instance := range slices.Sorted(maps.Keys(w.depends)) {
		stages := w.stages[instance]
		if len(stages) == 0 {
			continue
		}
		for _, need := range w.depends[instance] {
			if s := w.stages[need]; len(s) > 0 {
				w.graph.Edge(w.end(need, s[len(s)-1]), w.start(instance, stages[0]))
			}
		}
	}
}

// hooks are written after their Service and after what runs behind it is ready.
func (w *writer) hooks() {
	for _, it := range w.items {
		behind, served := w.serves[it.ref]
		if !served || !it.ref.IsHook() {
			continue
		}
		for _, svc := range servicesOf(it) {
			if _, ok := w.byRef[svc]; ok {
				w.edge(writeKey(svc), writeKey(it.ref))
			}
		}
		for _, b := range behind {
			w.edge(w.done(b), writeKey(it.ref))
		}
	}
}

// customs come after the hooks that match them and after what converts them. A hook's own ancestors do not: they have
// to be there before anything can answer for the hook.
func (w *writer) customs() {
	for _, server := range w.items {
		behind, served := w.serves[server.ref]
		if !served {
			continue
		}
		before := []string{w.done(server.ref)}
		if server.ref.IsCRD() {
			before = nil
			for _, b := range behind {
				before = append(before, w.done(b))
			}
		}
		for _, b := range before {
			ancestors := w.graph.Ancestors(b)
			for _, it := range w.items {
				if !it.ref.Custom() || !w.matches(server, it) {
					continue
				}
				k := writeKey(it.ref)
				if _, own := slices.BinarySearch(ancestors, k); !own && k != b {
					w.graph.Edge(b, k)
				}
			}
		}
	}
}
