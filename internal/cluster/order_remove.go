package cluster

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/object"
)

// The order in which the objects of one stage of one instance go. Hooks and namespaces have places of their own: first
// and last of all.
var removalClasses = []func(object.Ref) bool{
	func(r object.Ref) bool { return r.Custom() },                                               // while their controllers still answer finalizers
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassWorkload && !r.Custom() }, // then what runs
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassService },                 // then its address
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassConfig || hookLike(r) },   // then what it read
	func(r object.Ref) bool { return r.IsCRD() },                                                // then the kinds
}

// hookLike are of the admission group without calling anybody: policies and their bindings.
func hookLike(r object.Ref) bool { return object.ClassOf(r) == object.ClassHook && !r.IsHook() }

// orderRemovals is the order in which objects go: webhook configurations and API services first, dependent instances
// before those they need, later stages before earlier ones, custom resources before controllers and definitions,
// namespaces last.
func orderRemovals(items []item, depends map[string][]string, plural func(schema.GroupKind) string) (*order, error) {
	o := &order{steps: map[string]step{}}
	stages := map[string][]int{}
	for _, it := range items {
		if !slices.Contains(stages[it.instance], it.stage) {
			stages[it.instance] = append(stages[it.instance], it.stage)
		}
	}
	hooks, last := o.barrier("hooks are gone"), o.barrier("namespaces")
	start := func(instance string, stage int) string { return o.barrier("%s/%d/0", instance, stage) }
	end := func(instance string, stage int) string {
		return o.barrier("%s/%d/%d", instance, stage, len(removalClasses))
	}
	for _, instance := range slices.Sorted(maps.Keys(stages)) {
		slices.Sort(stages[instance])
		before := hooks
		for _, stage := range slices.Backward(stages[instance]) {
			o.graph.Edge(before, start(instance, stage))
			for c := range removalClasses {
				o.graph.Edge(o.barrier("%s/%d/%d", instance, stage, c), o.barrier("%s/%d/%d", instance, stage, c+1))
			}
			before = end(instance, stage)
		}
		o.graph.Edge(before, last)
	}
	for _, it := range items {
		k := o.add(removeKey(it.ref), step{kind: stepRemove, ref: it.ref})
		switch {
		case it.ref.IsHook():
			o.graph.Edge(k, hooks)
		case it.ref.Group == "" && it.ref.Kind == "Namespace":
			o.graph.Edge(last, k)
		default:
			c := max(0, slices.IndexFunc(removalClasses, func(in func(object.Ref) bool) bool { return in(it.ref) }))
			o.graph.Edge(o.barrier("%s/%d/%d", it.instance, it.stage, c), k)
			o.graph.Edge(k, o.barrier("%s/%d/%d", it.instance, it.stage, c+1))
		}
	}
	for _, instance := range slices.Sorted(maps.Keys(depends)) {
		own := stages[instance]
		for _, need := range depends[instance] {
			if s := stages[need]; len(s) > 0 && len(own) > 0 {
				o.edge(end(instance, own[0]), start(need, s[len(s)-1]))
			}
		}
	}
	o.customsFirst(items, plural)
	return o, o.graph.Cycle()
}

// customsFirst puts custom resources before their definition, and before what runs in the definition's instance: that
// is where their controller is.
func (o *order) customsFirst(items []item, plural func(schema.GroupKind) string) {
	for _, crd := range items {
		if !crd.ref.IsCRD() {
			continue
		}
		for _, it := range items {
			if it.ref.Custom() && strings.HasPrefix(crd.ref.Name, plural(it.ref.GroupKind())+".") && strings.HasSuffix(crd.ref.Name, "."+it.ref.Group) {
				o.edge(removeKey(it.ref), removeKey(crd.ref))
				o.edge(removeKey(it.ref), o.barrier("%s/%d/1", crd.instance, crd.stage))
			}
		}
	}
}
