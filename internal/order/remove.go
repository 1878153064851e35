package order

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

// Removals is the order in which objects go: webhook configurations and API services first, dependent instances
// before those they need, later stages before earlier ones, custom resources before controllers and definitions,
// namespaces last.
func Removals(items []Item, depends map[string][]string, plural func(schema.GroupKind) string) (*Order, error) {
	o := &Order{Steps: map[string]Step{}}
	stages := map[string][]int{}
	for _, it := range items {
		if !slices.Contains(stages[it.Instance], it.Stage) {
			stages[it.Instance] = append(stages[it.Instance], it.Stage)
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
			o.Graph.Edge(before, start(instance, stage))
			for c := range removalClasses {
				o.Graph.Edge(o.barrier("%s/%d/%d", instance, stage, c), o.barrier("%s/%d/%d", instance, stage, c+1))
			}
			before = end(instance, stage)
		}
		o.Graph.Edge(before, last)
	}
	for _, it := range items {
		k := o.add(removeKey(it.Ref), Step{Kind: Remove, Ref: it.Ref})
		switch {
		case it.Ref.IsHook():
			o.Graph.Edge(k, hooks)
		case it.Ref.Group == "" && it.Ref.Kind == "Namespace":
			o.Graph.Edge(last, k)
		default:
			c := max(0, slices.IndexFunc(removalClasses, func(in func(object.Ref) bool) bool { return in(it.Ref) }))
			o.Graph.Edge(o.barrier("%s/%d/%d", it.Instance, it.Stage, c), k)
			o.Graph.Edge(k, o.barrier("%s/%d/%d", it.Instance, it.Stage, c+1))
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
	return o, o.Graph.Cycle()
}

// customsFirst puts custom resources before their definition, and before what runs in the definition's instance: that
// is where their controller is.
func (o *Order) customsFirst(items []Item, plural func(schema.GroupKind) string) {
	for _, crd := range items {
		if !crd.Ref.IsCRD() {
			continue
		}
		for _, it := range items {
			if it.Ref.Custom() && strings.HasPrefix(crd.Ref.Name, plural(it.Ref.GroupKind())+".") && strings.HasSuffix(crd.Ref.Name, "."+it.Ref.Group) {
				o.edge(removeKey(it.Ref), removeKey(crd.Ref))
				o.edge(removeKey(it.Ref), o.barrier("%s/%d/1", crd.Instance, crd.Stage))
			}
		}
	}
}
