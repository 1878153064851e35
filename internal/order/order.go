// Package order decides who comes before whom when a bundle's objects are written to one cluster, and when they are
// removed: a graph whose nodes are single steps. Everything in it is a pure function of values.
//
// order must not know plans, records or how a step is carried out.
package order

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

// StepKind is what a node of an order stands for.
type StepKind int

const (
	// Barrier does nothing: it stands between what comes before and what comes after.
	Barrier StepKind = iota
	// Write writes an object, or stands for one that is there already.
	Write
	// Ready waits until an object is ready.
	Ready
	// Remove deletes an object and waits until it is gone.
	Remove
	// Run makes a hook's object and waits until it has done its work.
	Run
	// Pass notes that all hooks of an instance's event have run.
	Pass
	// Discard deletes a hook's object after that.
	Discard
)

// Step is what one node of an order stands for. Ref is zero for barriers and Pass; Instance and Event are those of hooks.
type Step struct {
	Kind     StepKind
	Ref      object.Ref
	Instance string
	Event    object.HookPhase
}

// Order is who comes before whom, and by node what each stands for.
type Order struct {
	Graph dag.Graph[string]
	Steps map[string]Step
}

func (o *Order) add(key string, s Step) string {
	if _, ok := o.Steps[key]; !ok {
		o.Graph.Add(key)
		o.Steps[key] = s
	}
	return key
}

func (o *Order) barrier(format string, args ...any) string {
	return o.add("barrier "+fmt.Sprintf(format, args...), Step{})
}

// edge adds before -> after unless that would close a cycle, and reports whether it did.
func (o *Order) edge(before, after string) bool {
	if before == after || o.Graph.Reaches(after, before) {
		return false
	}
	o.Graph.Edge(before, after)
	return true
}

func key(kind string, r object.Ref) string {
	return kind + " " + r.Group + "/" + r.Kind + " " + r.Namespace + "/" + r.Name
}

func writeKey(r object.Ref) string  { return key("write", r) }
func readyKey(r object.Ref) string  { return key("ready", r) }
func removeKey(r object.Ref) string { return key("remove", r) }

// Item is one object of the bundle, as far as ordering cares.
type Item struct {
	Ref      object.Ref
	Instance string
	Stage    int
	// Body may be nil for objects that are not written: then nothing is known of what they serve or select.
	Body map[string]any
	// Waits: readiness is waited for.
	Waits bool
	// Left: it was made by a hook and goes when everything else of its instance has gone.
	Left bool
	// Aggregates: a ClusterRole that is filled from others.
	Aggregates bool

	class object.Class
}

// Input is everything an order of writes is made from. Items are sorted in place.
type Input struct {
	Items []Item
	// First are objects that are removed before anything is written.
	First []object.Ref
	// Depends are instances by the instances they need.
	Depends map[string][]string
	// Wait: readiness gates stages and dependent instances; else only what writing needs is waited for.
	Wait bool
	// Plural is the resource name of a kind, "" when unknown; nil knows none.
	Plural func(schema.GroupKind) string
	// Hooks are the runs of hooks; those of one instance and event in the order in which they come.
	Hooks []Hook
	// Ends are by instance the events with which what happens to it is over, also when no hook runs for them.
	Ends map[string]object.HookPhase
}

// writer builds the order of writes.
type writer struct {
	Input
	Order
	byRef map[object.Ref]*Item
	// needed are objects whose readiness writing needs: CRDs, and what runs behind webhooks and API services.
	needed map[object.Ref]bool
	// serves are the workloads of the Set behind each hook or converting CRD; served tells that its Service is in the Set.
	serves map[object.Ref][]object.Ref
	stages map[string][]int
	lines  map[string]line
}

// Writes is the order in which a bundle's objects are written on one cluster. The error is a cycle.
func Writes(in Input) (*Order, error) {
	w := &writer{Input: in, byRef: map[object.Ref]*Item{}, needed: map[object.Ref]bool{},
		serves: map[object.Ref][]object.Ref{}, stages: map[string][]int{}, lines: map[string]line{}}
	w.Steps = map[string]Step{}
	for i := range w.Items {
		w.byRef[w.Items[i].Ref] = &w.Items[i]
	}
	for _, build := range []func(){
		w.backends,     // first: it tells whose readiness is needed and which custom resources come last
		w.classes,      // then every object's class is known
		w.nodes,        // one node per write, one per readiness waited for
		w.chains,       // classes within a stage, stages within an instance
		w.hookLines,    // hooks before and after them
		w.foundations,  // namespaces and CRDs before what needs them, in whatever instance
		w.dependsOn,    // instances after those they need
		w.webhooks,     // webhooks and API services after what serves them
		w.bindings,     // after the roles that they give
		w.removedFirst, // what would refuse writes
		w.customs,      // last: these edges give way where they would close a cycle
	} {
		build()
	}
	return &w.Order, w.Graph.Cycle()
}

// backends finds the Services of the Set that hooks and converting CRDs call, and the workloads behind them.
func (w *writer) backends() {
	for _, it := range w.Items {
		if it.Ref.IsCRD() {
			w.needed[it.Ref] = true
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
		w.serves[it.Ref] = behind
		if it.Ref.IsAPIService() && !w.Wait {
			continue // written before its backend answers it refuses nobody's writes, unlike a webhook
		}
		for _, b := range behind {
			w.needed[b] = true
		}
	}
}

// selected are the workloads whose pods a Service selects.
func (w *writer) selected(svc *Item) []object.Ref {
	selector, _, _ := unstructured.NestedStringMap(svc.Body, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	var out []object.Ref
	for _, it := range w.Items {
		if !it.Ref.IsWorkload() || it.Ref.Namespace != svc.Ref.Namespace {
			continue
		}
		labels, _, _ := unstructured.NestedStringMap(it.Body, "spec", "template", "metadata", "labels")
		matches := len(labels) > 0
		for k, v := range selector {
			matches = matches && labels[k] == v
		}
		if matches {
			out = append(out, it.Ref)
		}
	}
	return out
}

// servicesOf are the Services that an object makes the API server call.
func servicesOf(it Item) []object.Ref {
	var blocks []map[string]any
	switch {
	case it.Ref.IsCRD():
		if c, ok, _ := unstructured.NestedMap(it.Body, "spec", "conversion", "webhook", "clientConfig", "service"); ok {
			blocks = append(blocks, c)
		}
	case it.Ref.IsAPIService():
		if c, ok, _ := unstructured.NestedMap(it.Body, "spec", "service"); ok {
			blocks = append(blocks, c)
		}
	case it.Ref.IsWebhookConfiguration():
		for _, h := range webhooksOf(it.Body) {
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
	for i := range w.Items {
		it := &w.Items[i]
		it.class = object.ClassOf(it.Ref)
		if it.class != object.ClassWorkload || !it.Ref.Custom() {
			continue
		}
		for _, server := range w.Items {
			if _, served := w.serves[server.Ref]; served && w.matches(server, *it) {
				it.class = object.ClassCustom
				break
			}
		}
	}
}

// matches reports whether writing a custom resource makes the API server call a hook or converting CRD.
func (w *writer) matches(server, custom Item) bool {
	group := custom.Ref.Group
	switch {
	case server.Ref.IsCRD():
		kind, _, _ := unstructured.NestedString(server.Body, "spec", "names", "kind")
		g, _, _ := unstructured.NestedString(server.Body, "spec", "group")
		return g == group && kind == custom.Ref.Kind
	case server.Ref.IsAPIService():
		g, _, _ := unstructured.NestedString(server.Body, "spec", "group")
		return g == group
	}
	plural := w.pluralOf(custom.Ref.GroupKind())
	for _, h := range webhooksOf(server.Body) {
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
	for _, it := range w.Items {
		if !it.Ref.IsCRD() {
			continue
		}
		group, _, _ := unstructured.NestedString(it.Body, "spec", "group")
		kind, _, _ := unstructured.NestedString(it.Body, "spec", "names", "kind")
		if group == gk.Group && kind == gk.Kind {
			plural, _, _ := unstructured.NestedString(it.Body, "spec", "names", "plural")
			return plural
		}
	}
	if w.Plural == nil {
		return ""
	}
	return w.Plural(gk)
}

// listed reports whether a webhook rule's list names a value or everything.
func listed(list any, value string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(value)) || slices.Contains(items, any("*")) || slices.Contains(items, any("*/*")) ||
		slices.Contains(items, any(value+"/*"))
}

func (w *writer) nodes() {
	slices.SortFunc(w.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Stage, b.Stage), a.Ref.Compare(b.Ref))
	})
	for i := range w.Items {
		it := &w.Items[i]
		w.byRef[it.Ref] = it
		wk := w.add(writeKey(it.Ref), Step{Kind: Write, Ref: it.Ref})
		if (w.Wait || w.tests(it.Instance)) && it.Waits || w.needed[it.Ref] {
			w.Graph.Edge(wk, w.add(readyKey(it.Ref), Step{Kind: Ready, Ref: it.Ref}))
		}
		if !slices.Contains(w.stages[it.Instance], it.Stage) {
			w.stages[it.Instance] = append(w.stages[it.Instance], it.Stage)
		}
	}
	for _, s := range w.stages {
		slices.Sort(s)
	}
}

// done is the node after which an object counts as done: ready where that is waited for, else written.
func (w *writer) done(r object.Ref) string {
	if k := readyKey(r); w.Graph.Has(k) {
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
// stage; within it only what a later class really needs waits (see webhooks).
func (w *writer) chains() {
	for _, instance := range slices.Sorted(maps.Keys(w.stages)) {
		before := ""
		for _, stage := range w.stages[instance] {
			for c := object.ClassConfig; c <= object.ClassCustom; c++ {
				w.Graph.Edge(w.barrier("%s/%d/%d", instance, stage, c), w.barrier("%s/%d/%d", instance, stage, c+1))
			}
			if before != "" {
				w.Graph.Edge(before, w.start(instance, stage))
			}
			before = w.end(instance, stage)
		}
	}
	for _, it := range w.Items {
		wk := writeKey(it.Ref)
		if it.class > object.ClassFoundation {
			w.Graph.Edge(w.barrier("%s/%d/%d", it.Instance, it.Stage, it.class), wk)
			w.Graph.Edge(wk, w.barrier("%s/%d/%d", it.Instance, it.Stage, it.class+1))
			w.Graph.Edge(w.done(it.Ref), w.end(it.Instance, it.Stage))
		} else {
			w.Graph.Edge(w.done(it.Ref), w.start(it.Instance, it.Stage))
		}
	}
}

// hookLines puts the hooks of an instance before its first stage and behind its last. Namespaces and definitions of
// the first stage come before all of them.
func (w *writer) hookLines() {
	for instance, stages := range w.stages {
		w.lines[instance] = line{w.start(instance, stages[0]), w.end(instance, stages[len(stages)-1])}
	}
	for _, instance := range w.Input.instances() {
		inner, hasStages := w.lines[instance]
		l := w.line(w.Input, instance, inner)
		w.lines[instance] = l
		if !hasStages {
			continue
		}
		for _, it := range w.Items {
			if it.Instance == instance && it.class == object.ClassFoundation && it.Stage == w.stages[instance][0] {
				w.Graph.Edge(w.done(it.Ref), l.first)
			}
		}
	}
}

// foundations: an object comes after its namespace and after the CRD of its kind.
func (w *writer) foundations() {
	crds := map[schema.GroupKind]object.Ref{}
	for _, it := range w.Items {
		if it.Ref.IsCRD() {
			for gk := range object.DefinedKinds([]object.Object{{Body: it.Body}}) {
				crds[gk] = it.Ref
			}
		}
	}
	for _, it := range w.Items {
		if ns, ok := w.byRef[object.Ref{Kind: "Namespace", Name: it.Ref.Namespace}]; ok && it.Ref.Namespace != "" {
			w.Graph.Edge(writeKey(ns.Ref), writeKey(it.Ref))
		}
		if crd, ok := crds[it.Ref.GroupKind()]; ok {
			w.Graph.Edge(w.done(crd), writeKey(it.Ref))
		}
	}
	for _, h := range w.Hooks {
		if ns, ok := w.byRef[object.Ref{Kind: "Namespace", Name: h.Ref.Namespace}]; ok && h.Ref.Namespace != "" {
			w.Graph.Edge(writeKey(ns.Ref), h.key("run"))
		}
		if crd, ok := crds[h.Ref.GroupKind()]; ok {
			w.Graph.Edge(w.done(crd), h.key("run"))
		}
	}
}

func (w *writer) dependsOn() {
	for _, instance := range slices.Sorted(maps.Keys(w.Depends)) {
		own, ok := w.lines[instance]
		if !ok {
			continue
		}
		for _, need := range w.Depends[instance] {
			if l, ok := w.lines[need]; ok {
				w.Graph.Edge(l.last, own.first)
			}
		}
	}
}

// webhooks: webhook configurations and API services are written after their Service and after what runs behind it is ready.
func (w *writer) webhooks() {
	for _, it := range w.Items {
		behind, served := w.serves[it.Ref]
		if !served || !it.Ref.IsWebhookConfiguration() {
			continue
		}
		for _, svc := range servicesOf(it) {
			if _, ok := w.byRef[svc]; ok {
				w.edge(writeKey(svc), writeKey(it.Ref))
			}
		}
		for _, b := range behind {
			w.edge(w.done(b), writeKey(it.Ref))
		}
	}
}

// customs come after the hooks that match them and after what converts them. A hook's own ancestors do not: they have
// to be there before anything can answer for the hook.
func (w *writer) customs() {
	for _, server := range w.Items {
		behind, served := w.serves[server.Ref]
		if !served {
			continue
		}
		before := []string{w.done(server.Ref)}
		if server.Ref.IsCRD() {
			before = nil
			for _, b := range behind {
				before = append(before, w.done(b))
			}
		}
		for _, b := range before {
			ancestors := w.Graph.Ancestors(b)
			for _, it := range w.Items {
				if !it.Ref.Custom() || !w.matches(server, it) {
					continue
				}
				k := writeKey(it.Ref)
				if _, own := slices.BinarySearch(ancestors, k); !own && k != b {
					w.Graph.Edge(b, k)
				}
			}
		}
	}
}
