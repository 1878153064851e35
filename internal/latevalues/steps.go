// Package latevalues decides in which steps a plan is carried out on one cluster, where instances take values that others give only while that
// happens, and what is left of a step when instances have failed before. Everything in it is a pure function of values.
//
// latevalues must not know how a value is read, or how a step is carried out.
package latevalues

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Source is what an instance takes a value of: an object that another instance makes, or has made by a controller.
type Source struct {
	Instance string
	Object   object.Ref
}

// Objects are those that values are taken of, sorted.
func Objects(takes map[string][]Source) []object.Ref {
	var out []object.Ref
	for _, sources := range takes {
		for _, s := range sources {
			out = append(out, s.Object)
		}
	}
	slices.SortFunc(out, object.Ref.Compare)
	return slices.Compact(out)
}

// Uncertain says which instances cannot be rendered with their real values before the plan is carried out, and why:
// those that take a value of an object that does not exist, that the plan writes or deletes, or of an instance that is
// uncertain itself. An object that the plan does not know is a controller's: it is certain only when nothing of its
// instance is written. The plan is that of the whole bundle; what an instance that turns out uncertain would write with
// its old values is no ground to call it certain, so it is rendered with stand-ins and the plan computed again until
// the answer stays the same (it only grows).
func Uncertain(p *plan.Plan, takes map[string][]Source, exists func(object.Ref) bool) map[string]string {
	writes, known, busy := map[object.Ref]plan.Action{}, map[object.Ref]bool{}, map[string]bool{}
	for _, o := range p.Kept {
		known[o.Ref] = true
	}
	for _, ch := range p.Changes {
		known[ch.Ref] = true
		if ch.Action.Writes() && (ch.Hook == nil || ch.Hook.Event != object.Test) {
			writes[ch.Ref], busy[ch.Instance] = ch.Action, true
		}
	}
	out := map[string]string{}
	for instance, sources := range takes {
		for _, s := range sources {
			why := ""
			switch {
			case !exists(s.Object):
				why = s.Object.String() + " is not there yet"
			case writes[s.Object] != "":
				why = s.Object.String() + " changes"
			case !known[s.Object] && busy[s.Instance]:
				why = s.Instance + ", which keeps " + s.Object.String() + ", changes"
			default:
				continue
			}
			if out[instance] == "" {
				out[instance] = why
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for instance, sources := range takes {
			for _, s := range sources {
				if out[instance] == "" && out[s.Instance] != "" {
					out[instance], grown = s.Instance+" is not known yet", true
				}
			}
		}
	}
	return out
}

// Levels puts the instances (in the bundle's order) into steps. An instance stands no lower than what it depends on,
// and an uncertain one above what it takes values from: when a step begins, all values of its instances are known.
// Level 0 holds at least what is certain and depends on nothing uncertain; no level is empty. depends are the
// dependencies of each instance; those of instances that are not listed do not count. What stands on a cycle, which
// is an error of the documents, ends up on one level.
func Levels(instances []string, depends map[string][]string, takes map[string][]Source, uncertain map[string]string) [][]string {
	level := map[string]int{}
	for range instances { // a path is no longer than there are instances
		moved := false
		for _, name := range instances {
			at := level[name]
			for _, d := range depends[name] {
				at = max(at, level[d])
			}
			for _, s := range takes[name] {
				up := 0
				if uncertain[name] != "" {
					up = 1
				}
				at = max(at, level[s.Instance]+up)
			}
			at = min(at, len(instances)-1)
			moved = moved || at != level[name]
			level[name] = at
		}
		if !moved {
			break
		}
	}
	out := make([][]string, len(instances))
	for _, name := range instances {
		out[level[name]] = append(out[level[name]], name)
	}
	return slices.DeleteFunc(out, func(l []string) bool { return len(l) == 0 })
}

// Step is the part of a plan that one level carries out: the writes of its instances. Namespaces and definitions are in the first step, because others
// may stand on them, and so are the deletions that come first (First); the others, and whatever belongs to no listed instance, are in the last one. Of
// the instances with values to come (late) nothing is sure before those have come, not even what they no longer have: what is theirs waits for its
// step, but for new Namespaces, and definitions, that something of an earlier step stands on. The steps together are the plan: every change and everything kept is in
// exactly one (what happens to an instance with its changes), findings and the number of unchanged objects in the first, the brake in the last.
// With anew the plan was computed when the first step was over: what would have been in that one, and is not done, is in its instance's, or is
// a deletion like others.
func Step(p *plan.Plan, levels [][]string, late map[string][]Source, n int, anew bool) *plan.Plan {
	last := max(len(levels)-1, 0)
	of := map[string]int{}
	for i, names := range levels {
		for _, name := range names {
			of[name] = i
		}
	}
	at := func(instance string) int {
		if i, ok := of[instance]; ok {
			return i
		}
		return last
	}
	out := &plan.Plan{Cluster: p.Cluster, Bundle: p.Bundle, Owner: p.Owner, Changes: []plan.Change{}, Refresh: p.Refresh, Suspended: p.Suspended}
	if n == 0 {
		out.Findings, out.Unchanged, out.Forget = p.Findings, p.Unchanged, p.Forget
	}
	if n == last {
		out.Brake = p.Brake
	}
	first := p.First()
	for _, ch := range p.Changes {
		step, open := at(ch.Instance), late[ch.Instance] != nil
		switch {
		case !anew && !open && slices.Contains(first, ch.Ref):
			step = 0
		case ch.Action == plan.Delete || ch.Action == plan.Release:
			step = last
		case !anew && (ch.Ref.IsCRD() || ch.Ref.IsNamespace()) && len(ch.After) == 0 && ch.Hook == nil && (!open || awaited(p, ch, step, at)):
			step = 0
		}
		if step == n {
			out.Changes = append(out.Changes, ch)
		}
	}
	for name, m := range p.Events {
		if at(name) == n {
			if out.Events == nil {
				out.Events = map[string]plan.LifecycleStep{}
			}
			out.Events[name] = m
		}
	}
	for _, o := range p.Kept {
		if at(o.Instance) == n {
			out.Kept = append(out.Kept, o)
		}
	}
	return out
}

// awaited reports whether something that is written in a step before stands on a Namespace that is made, or on a definition.
func awaited(p *plan.Plan, holder plan.Change, step int, at func(instance string) int) bool {
	return slices.ContainsFunc(p.Changes, func(ch plan.Change) bool {
		switch {
		case !ch.Action.Writes() || ch.Action == plan.Delete || at(ch.Instance) >= step:
			return false
		case holder.Ref.IsNamespace():
			return holder.Action == plan.Create && ch.Ref.Namespace == holder.Ref.Name
		}
		return ch.Ref.Group != "" && strings.HasSuffix(holder.Ref.Name, "."+ch.Ref.Group)
	})
}

// Later are the objects that a plan's steps from n on write.
func Later(p *plan.Plan, levels [][]string, late map[string][]Source, n int) []object.Ref {
	var out []object.Ref
	for ; n < len(levels); n++ {
		for _, ch := range Step(p, levels, late, n, false).Changes {
			if ch.Action.Writes() {
				out = append(out, ch.Ref)
			}
		}
	}
	return out
}

// Behind are the instances of which nothing is begun when some have failed: those, and whatever depends on one of them or takes values from it, itself
// or through others.
func Behind(failed []string, depends map[string][]string, takes map[string][]Source) map[string]bool {
	out := map[string]bool{}
	for _, name := range failed {
		out[name] = true
	}
	behind := func(name string) bool {
		return slices.ContainsFunc(depends[name], func(d string) bool { return out[d] }) ||
			slices.ContainsFunc(takes[name], func(s Source) bool { return out[s.Instance] })
	}
	for grown := len(out) > 0; grown; {
		grown = false
		for _, names := range []iter.Seq[string]{maps.Keys(depends), maps.Keys(takes)} {
			for name := range names {
				if !out[name] && behind(name) {
					out[name], grown = true, true
				}
			}
		}
	}
	return out
}

// Waiting asks which of some instances wait for a value, and returns those that do. One that stands on another one of them, itself or through others, is
// asked when that one does not wait any more. It ends early where stop is true.
func Waiting(instances []string, depends map[string][]string, takes map[string][]Source, ask func(instance string) (waits, stop bool)) []string {
	var waiting []string
	for rest := slices.Clone(instances); ; {
		follows := map[string]bool{}
		for _, name := range rest {
			behind := Behind([]string{name}, depends, takes)
			delete(behind, name)
			maps.Copy(follows, behind)
		}
		next := slices.DeleteFunc(slices.Clone(rest), func(name string) bool { return follows[name] || slices.Contains(waiting, name) })
		if len(next) == 0 {
			return waiting
		}
		for _, name := range next {
			switch waits, stop := ask(name); {
			case stop:
				return waiting
			case waits:
				waiting = append(waiting, name)
			default:
				rest = slices.DeleteFunc(rest, func(x string) bool { return x == name })
			}
		}
	}
}

// PutOff has the first of a level and those after it in which somebody need not wait go ahead of those that wait for a value and of what stands on them.
// done are instances of which nothing is begun: nobody goes on for those alone. false, and the levels as they are, where nobody would go on.
func PutOff(levels [][]string, at int, waiting []string, depends map[string][]string, takes map[string][]Source, done map[string]bool) ([][]string, bool) {
	held := Behind(waiting, depends, takes)
	for i := at; i < len(levels); i++ {
		var ahead, later []string
		for _, name := range levels[i] {
			if held[name] || done[name] {
				later = append(later, name)
			} else {
				ahead = append(ahead, name)
			}
		}
		if len(ahead) > 0 {
			out := slices.Concat(levels[:at], [][]string{ahead}, levels[at:i], [][]string{later}, levels[i+1:])
			return slices.DeleteFunc(out, func(l []string) bool { return len(l) == 0 }), len(later) > 0 || i > at
		}
	}
	return levels, false
}

// Without is what is left of a step when instances are left out because some have failed: nothing happens to those, and nothing is deleted or let go of
// anybody, and no hook of that runs. left are the objects that the step would have written besides. It is the step itself where no instance is left out.
func Without(step *plan.Plan, instances map[string]bool) (rest *plan.Plan, left []object.Ref) {
	if len(instances) == 0 {
		return step, nil
	}
	out := *step
	out.Changes, out.Kept, out.Events, out.Brake = nil, nil, maps.Clone(step.Events), ""
	for _, ch := range step.Changes {
		removal := ch.Hook != nil && (ch.Hook.Event == object.PreDelete || ch.Hook.Event == object.PostDelete)
		switch goes := removal || ch.Action == plan.Delete || ch.Action == plan.Release || ch.Code == plan.CodeEjected; {
		case !goes && !instances[ch.Instance]:
			out.Changes = append(out.Changes, ch)
		case ch.Action.Writes() || ch.Code == plan.CodeEjected:
			left = append(left, ch.Ref)
		}
	}
	for _, o := range step.Kept {
		if !instances[o.Instance] {
			out.Kept = append(out.Kept, o)
		}
	}
	maps.DeleteFunc(out.Events, func(name string, m plan.LifecycleStep) bool { return instances[name] || m == plan.Removal })
	return &out, left
}
