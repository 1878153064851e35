package plan

import (
	"cmp"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/object"
)

// LifecycleStep is what happens to an instance on a cluster, as far as hooks care.
type LifecycleStep string

const (
	// Install: the cluster has nothing of the instance, or its installation has not ended yet.
	Install LifecycleStep = "install"
	// Upgrade: something of it changes.
	Upgrade LifecycleStep = "upgrade"
	// Rollback: something of it changes because an earlier release is gone back to.
	Rollback LifecycleStep = "rollback"
	// Removal: it goes, with the bundle or without.
	Removal LifecycleStep = "delete"
)

// Before is the event of hooks that run before anything of the instance changes.
func (m LifecycleStep) Before() object.HookPhase { return object.HookPhase("pre-" + m) }

// After is the event of hooks that run when everything of the instance is done.
func (m LifecycleStep) After() object.HookPhase { return object.HookPhase("post-" + m) }

// HookTask says what a hook's object is made for.
type HookTask struct {
	Event  object.HookPhase `json:"event"`
	Weight int              `json:"weight,omitempty"`
	// IfSucceeded: the object is removed when all hooks of the event have succeeded; IfFailed: when it fails.
	IfSucceeded bool `json:"removedIfSucceeded,omitempty"`
	IfFailed    bool `json:"removedIfFailed,omitempty"`
}

// HookRun is what the inventory says of a hook's object: the event it was made for (in an open record: is to be made for,
// and UID is that of its predecessor), and whether it has done its work.
type HookRun struct {
	Event object.HookPhase `json:"event,omitempty"`
	Done  bool             `json:"done,omitempty"`
}

// Hook is a declared hook as the record keeps it, so that it can be decided about when nothing is rendered.
type Hook struct {
	Ref     object.Ref `json:"ref"`
	Version string     `json:"version"`
	Digest  string     `json:"digest"`
	object.Hook
}

// HookState is where an instance with hooks stands on a cluster.
type HookState struct {
	// Hooks are those declared, tests apart.
	Hooks []Hook `json:"hooks,omitempty"`
	// Step is what is under way: a run began it and has not completed it. "" when the last one completed.
	Step LifecycleStep `json:"moment,omitempty"`
	// Inputs is the inputs digest of the instance that it is under way to; with another one it begins anew.
	Inputs string `json:"inputs,omitempty"`
	// Done are the events of it whose hooks have all run.
	Done []object.HookPhase `json:"done,omitempty"`
}

// Completed is the state after its step completed, and false when there is nothing left to remember.
func (l HookState) Completed() (HookState, bool) {
	gone := l.Step == Removal
	l.Step, l.Inputs, l.Done = "", "", nil
	return l, !gone && len(l.Hooks) > 0
}

// Passed is the life after all hooks of an event have run.
func (l HookState) Passed(e object.HookPhase) HookState {
	l.Done = append(slices.Clone(l.Done), e)
	return l
}

// desired is a recorded hook as a declaration.
func (h Hook) desired(instance string) Desired {
	hook := h.Hook
	return Desired{Ref: h.Ref, Version: h.Version, Instance: instance, Digest: h.Digest, Namespaced: h.Ref.Namespace != "", Hook: &hook}
}

// DesiredHooks are the declared hooks of an instance as the record has them.
func DesiredHooks(instance string, l HookState) []Desired {
	out := make([]Desired, 0, len(l.Hooks))
	for _, h := range l.Hooks {
		out = append(out, h.desired(instance))
	}
	return out
}

// Begin is what the record says of instances with hooks when a plan with these events begins. It looks at what is
// declared and recorded, and at nothing in the cluster.
func Begin(in Input, events map[string]LifecycleStep) map[string]HookState {
	out := map[string]HookState{}
	hooks := hooksByInstance(in.Desired)
	for _, name := range instancesWithHooks(in) {
		old, known := in.HookStates[name]
		life := HookState{Hooks: old.Hooks}
		if in.here(name) {
			life.Hooks = recorded(hooks[name])
		}
		switch m := events[name]; {
		case m != "":
			life.Step, life.Inputs = m, in.Inputs[name]
			if old.continues(m, life.Inputs) {
				life.Done = old.Done
			}
		case known && (in.Suspended[name] || !in.here(name)): // left as it is this time
			life = old
		}
		if len(life.Hooks) > 0 || life.Step != "" {
			out[name] = life
		}
	}
	return out
}

// continues reports whether a moment goes on where the last run left it.
func (l HookState) continues(m LifecycleStep, inputs string) bool {
	return l.Step == m && (m == Removal || l.Inputs == inputs)
}

// Rekey lets what is under way to an instance's inputs go on under the new name of the same inputs.
func Rekey(lives map[string]HookState, instance, before, now string) {
	if l, ok := lives[instance]; ok && l.Inputs == before {
		l.Inputs = now
		lives[instance] = l
	}
}

func recorded(hooks []Desired) []Hook {
	var out []Hook
	for _, d := range hooks {
		if !d.Hook.OnlyTests() {
			out = append(out, Hook{Ref: d.Ref, Version: d.Version, Digest: d.Digest, Hook: *d.Hook})
		}
	}
	slices.SortFunc(out, func(a, b Hook) int { return a.Ref.Compare(b.Ref) })
	return out
}

// here reports whether the instance is placed on the cluster and wanted.
func (in Input) here(instance string) bool {
	if in.Options.Deleting {
		return false
	}
	if _, ok := in.Inputs[instance]; ok {
		return true
	}
	return slices.ContainsFunc(in.Desired, func(d Desired) bool { return d.Instance == instance })
}

// instancesWithHooks are those that declare hooks or did, in the order of the bundle; those that are gone last.
func instancesWithHooks(in Input) []string {
	var out []string
	for _, d := range in.Desired {
		_, known := in.HookStates[d.Instance]
		if (d.Hook != nil || known) && !slices.Contains(out, d.Instance) {
			out = append(out, d.Instance)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.HookStates)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func hooksByInstance(desired []Desired) map[string][]Desired {
	out := map[string][]Desired{}
	for _, d := range desired {
		if d.Hook != nil {
			out[d.Instance] = append(out[d.Instance], d)
		}
	}
	return out
}

// runningOrder: by weight, then what is read before what runs, then by identity.
func runningOrder(a, b Desired) int {
	return cmp.Or(cmp.Compare(a.Hook.Weight, b.Hook.Weight), cmp.Compare(object.ClassOf(a.Ref), object.ClassOf(b.Ref)), a.Ref.Compare(b.Ref))
}

// RemovalHooks are the declared hooks that a removal runs, in the order of their identities.
func RemovalHooks(lives map[string]HookState) []object.Ref {
	var out []object.Ref
	for _, l := range lives {
		for _, h := range l.Hooks {
			if slices.Contains(h.Events, object.PreDelete) || slices.Contains(h.Events, object.PostDelete) {
				out = append(out, h.Ref)
			}
		}
	}
	slices.SortFunc(out, object.Ref.Compare)
	return slices.Compact(out)
}

// Merge is a with the lives of the given instances as b has them, also those it does not have.
func Merge(a, b map[string]HookState, instances []string) map[string]HookState {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]HookState{}
	}
	for _, name := range instances {
		delete(out, name)
		if l, ok := b[name]; ok {
			out[name] = l
		}
	}
	return out
}
