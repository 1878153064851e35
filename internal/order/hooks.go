package order

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/object"
)

// Hook is one run of a hook's object.
type Hook struct {
	Ref      object.Ref
	Instance string
	Event    object.HookPhase
	// Discard: the object goes when all hooks of the event have succeeded.
	Discard bool
}

func (h Hook) key(kind string) string { return key(kind+" "+string(h.Event), h.Ref) }

func passKey(instance string, e object.HookPhase) string { return "pass " + instance + " " + string(e) }

// line is an instance as others see it: the node that everything of it comes after, and the one that comes after
// everything of it.
type line struct{ first, last string }

// instances are those with hooks, or with something that is to be noted as over.
func (in Input) instances() []string {
	names := map[string]bool{}
	for _, h := range in.Hooks {
		names[h.Instance] = true
	}
	for name := range in.Ends {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// of are the hooks of an instance's event, in their order.
func (in Input) of(instance string, events ...object.HookPhase) []Hook {
	var out []Hook
	for _, h := range in.Hooks {
		if h.Instance == instance && slices.Contains(events, h.Event) {
			out = append(out, h)
		}
	}
	return out
}

// tests reports whether the instance is tested: then its readiness is waited for in any case.
func (in Input) tests(instance string) bool { return len(in.of(instance, object.Test)) > 0 }

// line puts an instance's hooks around its objects: those before, one after the other; the objects (inner; empty when
// there are none); those after; the tests. What is not to stay goes when all of its event have run.
func (o *Order) line(in Input, instance string, inner line) line {
	begin, finish := o.barrier("%s/begin", instance), o.barrier("%s/finish", instance)
	at := begin
	over := o.barrier("%s/before", instance) // everything about the hooks before is done
	if before := in.of(instance, object.PreInstall, object.PreUpgrade, object.PreRollback, object.PreDelete); len(before) > 0 {
		at = o.row(instance, before[0].Event, before, at, over)
	}
	if inner.first != "" {
		o.Graph.Edge(at, inner.first)
		at = inner.last
	}
	objects := o.barrier("%s/objects", instance)
	o.Graph.Edge(at, objects)
	o.Graph.Edge(over, objects)
	at = objects
	after := in.of(instance, object.PostInstall, object.PostUpgrade, object.PostRollback, object.PostDelete)
	end := in.Ends[instance]
	if end == "" && len(after) > 0 {
		end = after[0].Event
	}
	if end != "" {
		at = o.row(instance, end, after, at, finish)
	}
	if tests := in.of(instance, object.Test); len(tests) > 0 {
		at = o.row(instance, object.Test, tests, at, finish)
	}
	o.Graph.Edge(at, finish)
	return line{begin, finish}
}

// row puts hooks of one event behind a node, one after the other, and what goes of them behind the last. It returns
// the node that notes that the event has passed; cleaned comes after what goes.
func (o *Order) row(instance string, e object.HookPhase, hooks []Hook, at, cleaned string) string {
	for _, h := range hooks {
		k := o.add(h.key("run"), Step{Kind: Run, Ref: h.Ref, Instance: instance, Event: e})
		o.Graph.Edge(at, k)
		at = k
	}
	passed := o.add(passKey(instance, e), Step{Kind: Pass, Instance: instance, Event: e})
	o.Graph.Edge(at, passed)
	at = passed
	for _, h := range slices.Backward(hooks) {
		if h.Discard {
			k := o.add(h.key("discard"), Step{Kind: Discard, Ref: h.Ref, Instance: instance, Event: e})
			o.Graph.Edge(at, k)
			at = k
		}
	}
	o.Graph.Edge(at, cleaned)
	return passed
}
