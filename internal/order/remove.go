package order

import (
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
)

// The order in which the objects of one stage of one instance go. Hooks and namespaces have places of their own: first
// and last of all.
var removalClasses = []func(object.Ref) bool{
	func(r object.Ref) bool { return r.Custom() },                                               // while their controllers still answer finalizers
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassWorkload && !r.Custom() }, // then what runs
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassService },                 // then its address
	func(r object.Ref) bool { return isBinding(r) },                                             // then who has which role
	func(r object.Ref) bool { return object.ClassOf(r) == object.ClassConfig || hookLike(r) },   // then what it read
	func(r object.Ref) bool { return r.IsCRD() },                                                // then the kinds
}

// hookLike are of the admission group without calling anybody: policies and their bindings.
func hookLike(r object.Ref) bool {
	return object.ClassOf(r) == object.ClassAdmission && !r.IsWebhookConfiguration()
}

// remover builds the order of removals.
type remover struct {
	Input
	Order
	// hooks is when webhook configurations and API services are gone, last when only namespaces are left.
	hooks, last string
	stages      map[string][]int
	lines       map[string]line
}

// Removals is the order in which objects go: webhook configurations and API services first, dependent instances
// before those they need, later stages before earlier ones, custom resources before controllers and definitions,
// namespaces last. Hooks of a removal run before and after what goes of their instance. The error is a cycle.
func Removals(in Input) (*Order, error) {
	r := &remover{Input: in, stages: map[string][]int{}, lines: map[string]line{}}
	r.Steps = map[string]Step{}
	r.hooks, r.last = r.barrier("hooks are gone"), r.barrier("namespaces")
	for _, it := range r.Items {
		if !it.Left && !slices.Contains(r.stages[it.Instance], it.Stage) {
			r.stages[it.Instance] = append(r.stages[it.Instance], it.Stage)
		}
	}
	for _, build := range []func(){
		r.chains,       // classes within a stage, stages within an instance
		r.hookLines,    // hooks before and after them
		r.nodes,        // one node per removal
		r.dependsOn,    // instances before those they need
		r.aggregates,   // before what they are filled from
		r.customsFirst, // while something still answers their finalizers
		r.hooksFirst,   // last: these edges give way where they would close a cycle
	} {
		build()
	}
	return &r.Order, r.Graph.Cycle()
}

func (r *remover) start(instance string, stage int) string {
	return r.barrier("%s/%d/0", instance, stage)
}

func (r *remover) end(instance string, stage int) string {
	return r.barrier("%s/%d/%d", instance, stage, len(removalClasses))
}

func (r *remover) chains() {
	for _, instance := range slices.Sorted(maps.Keys(r.stages)) {
		stages := r.stages[instance]
		slices.Sort(stages)
		before := r.hooks
		for _, stage := range slices.Backward(stages) {
			r.Graph.Edge(before, r.start(instance, stage))
			for c := range removalClasses {
				r.Graph.Edge(r.barrier("%s/%d/%d", instance, stage, c), r.barrier("%s/%d/%d", instance, stage, c+1))
			}
			before = r.end(instance, stage)
		}
		r.lines[instance] = line{r.start(instance, stages[len(stages)-1]), before}
	}
}

// hookLines puts hooks around what goes of their instance, and what hooks have left behind that.
func (r *remover) hookLines() {
	for _, instance := range r.instances() {
		r.lines[instance] = r.line(r.Input, instance, r.lines[instance])
	}
	for _, it := range r.Items {
		if !it.Left {
			continue
		}
		k := r.add(removeKey(it.Ref), Step{Kind: Remove, Ref: it.Ref})
		over := r.barrier("%s/left", it.Instance)
		if l, ok := r.lines[it.Instance]; ok {
			r.Graph.Edge(l.last, k)
		}
		r.Graph.Edge(k, over)
		r.Graph.Edge(over, r.last)
	}
	for _, l := range r.lines {
		r.Graph.Edge(l.last, r.last)
	}
}

func (r *remover) nodes() {
	for _, it := range r.Items {
		if it.Left {
			continue
		}
		k := r.add(removeKey(it.Ref), Step{Kind: Remove, Ref: it.Ref})
		switch {
		case it.Ref.IsWebhookConfiguration():
			r.Graph.Edge(k, r.hooks)
		case it.Ref.IsNamespace():
			r.Graph.Edge(r.last, k)
		default:
			c := max(0, slices.IndexFunc(removalClasses, func(in func(object.Ref) bool) bool { return in(it.Ref) }))
			r.Graph.Edge(r.barrier("%s/%d/%d", it.Instance, it.Stage, c), k)
			r.Graph.Edge(k, r.barrier("%s/%d/%d", it.Instance, it.Stage, c+1))
		}
	}
}

func (r *remover) dependsOn() {
	for _, instance := range slices.Sorted(maps.Keys(r.Depends)) {
		own, ok := r.lines[instance]
		if !ok {
			continue
		}
		for _, need := range r.Depends[instance] {
			if l, ok := r.lines[need]; ok {
				r.edge(own.last, l.first)
			}
		}
	}
}

// hooksFirst: an instance's webhook configurations go after its hooks have run, unless an instance that has to go
// before it waits for them.
func (r *remover) hooksFirst() {
	for _, it := range r.Items {
		if l := r.lines[it.Instance]; it.Ref.IsWebhookConfiguration() && !it.Left && r.Graph.Has(passKey(it.Instance, object.PreDelete)) && l.first != "" {
			r.edge(passKey(it.Instance, object.PreDelete), removeKey(it.Ref))
		}
	}
}

// aggregates go before the ClusterRoles that may be aggregated into them: the controller that does that would write them when
// one of those goes, and so make them again.
func (r *remover) aggregates() {
	for _, a := range r.Items {
		for _, it := range r.Items {
			if a.Aggregates && !it.Aggregates && a.Ref.GroupKind() == it.Ref.GroupKind() {
				r.edge(removeKey(a.Ref), removeKey(it.Ref))
			}
		}
	}
}

// customsFirst puts custom resources before their definition, and before what runs in the definition's instance: that
// is where their controller is.
func (r *remover) customsFirst() {
	for _, crd := range r.Items {
		if !crd.Ref.IsCRD() {
			continue
		}
		for _, it := range r.Items {
			if it.Ref.Custom() && strings.HasPrefix(crd.Ref.Name, r.Plural(it.Ref.GroupKind())+".") && strings.HasSuffix(crd.Ref.Name, "."+it.Ref.Group) {
				r.edge(removeKey(it.Ref), removeKey(crd.Ref))
				r.edge(removeKey(it.Ref), r.barrier("%s/%d/1", crd.Instance, crd.Stage))
			}
		}
	}
}

// removedFirst: what would refuse writes is gone before all of them.
func (w *writer) removedFirst() {
	if len(w.First) == 0 {
		return
	}
	gone := w.barrier("removed first")
	for _, ref := range w.First {
		w.Graph.Edge(w.add(removeKey(ref), Step{Kind: Remove, Ref: ref}), gone)
	}
	for _, node := range w.Graph.Nodes() {
		if k := w.Steps[node].Kind; k == Write || k == Run {
			w.Graph.Edge(gone, node)
		}
	}
}
