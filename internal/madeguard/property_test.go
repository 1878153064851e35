package madeguard

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// house is a cluster with two bundles of one file, whose instances each have a Secret with a made-up password, a ConfigMap, and
// hooks before the installation and the removal.
type house struct {
	t *rapid.T
	// file is the release of each declared instance: what goes on under whatever name and in whichever bundle.
	file    map[string]map[string]string
	objects map[object.Ref]live
	bundles map[string]*kept
	// complete are releases whose installation ended once.
	complete map[string]bool
	n        int
	log      []string
}

type live struct{ uid, owner, digest, rv string }

// kept is what the cluster keeps of a bundle.
type kept struct {
	answers map[string]chance.Answers
	made    map[string]string
	inputs  map[string]string
	owned   []plan.InventoryEntry
	lives   map[string]plan.HookState
	open    bool
}

var besides = map[string]string{"x": "y", "y": "x"}

func secretOf(release string) object.Ref {
	return object.Ref{Kind: "Secret", Namespace: "ns", Name: release}
}

func (h *house) fresh(what string) string {
	h.n++
	return fmt.Sprintf("%s-%04d-long-enough", what, h.n)
}

// desired is what a bundle declares, with the values that its instances have.
func (h *house) desired(bundle string, now map[string]chance.Answers) []plan.Desired {
	var out []plan.Desired
	for _, name := range slices.Sorted(maps.Keys(h.file[bundle])) {
		release, digest := h.file[bundle][name], ""
		if calls := now[name].Calls; len(calls) > 0 {
			digest = calls[0].Value
		}
		job := func(what string, e object.HookPhase) plan.Desired {
			return plan.Desired{Ref: object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: release + what}, Version: "v1", Instance: name,
				Digest: what, Hook: &object.Hook{Events: []object.HookPhase{e}}}
		}
		out = append(out, plan.Desired{Ref: secretOf(release), Version: "v1", Instance: name, Digest: digest},
			plan.Desired{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: release}, Version: "v1", Instance: name, Digest: "c"},
			job("-init", object.PreInstall), job("-drop", object.PreDelete))
	}
	return out
}

func (h *house) declares(bundle string) func(string) bool {
	return func(name string) bool { return h.file[bundle][name] != "" }
}

func (k *kept) delivered(name string) bool { return k.inputs[name] != "" }

// run applies a bundle and ends after so many writes. It returns why the plan is refused, "" when it is not, and whether it
// came to its end.
func (h *house) run(bundle string, writes int) (refused string, done bool) {
	k, other := h.bundles[bundle], h.bundles[besides[bundle]]
	names := slices.Sorted(maps.Keys(h.file[bundle]))
	own := chance.Own{Owner: bundle, Kept: k.answers, Made: k.made, Delivered: k.delivered, Declared: names, Placed: names}
	s := chance.Settle(own, []chance.Beside{{Owner: besides[bundle], Kept: other.answers, Delivered: other.delivered, Declares: h.declares(besides[bundle])}})
	now := maps.Clone(s.Kept)
	for _, name := range names {
		if now[name].IsZero() {
			now[name] = chance.Answers{Calls: []chance.Call{{Template: "t", Func: chance.Generate, Value: h.fresh("password")}}}
		}
	}
	in := h.input(bundle, now)
	p := plan.Compute(in)
	for _, f := range p.Findings {
		if f.Severity == "error" {
			return f.String() + f.Why, false
		}
	}
	bodies := map[object.Ref]object.Object{}
	for _, d := range in.Desired {
		bodies[d.Ref] = object.Object{Body: map[string]any{"stringData": d.Digest}}
	}
	for _, name := range names {
		if fs := Check(p, in, name, Values{Settled: s, Now: now[name]}, bodies); len(fs) > 0 {
			return fs[0].String() + fs[0].Why, false
		}
	}
	if writes == 0 {
		return "", false
	}
	s.Stamp(now)
	if k.answers = now; writes == 1 {
		return "", false
	}
	return "", h.execute(bundle, in, p, writes-2)
}

// input is what a run sees.
func (h *house) input(bundle string, now map[string]chance.Answers) plan.Input {
	k, beside := h.bundles[bundle], besides[bundle]
	in := plan.Input{Cluster: "c", Bundle: bundle, Owner: bundle, Desired: h.desired(bundle, now), Inventory: k.owned, Recorded: true, Open: k.open, HookStates: k.lives,
		Inputs: map[string]string{}, Live: map[object.Ref]plan.Live{}, NamespaceExists: map[string]bool{"ns": true}}
	for name := range h.file[bundle] {
		in.Inputs[name] = h.file[bundle][name] + now[name].Digest()
	}
	for ref, l := range h.objects {
		seen := plan.Live{Found: true, UID: l.uid, ResourceVersion: l.rv, OwnerLabel: l.owner, ApplyHash: "e" + l.digest}
		if l.owner != bundle {
			seen.ApplyHash, seen.Foreign, seen.ForeignBundle, seen.ForeignManagers = "", "Hawser bundle "+l.owner, true, []string{object.Manager(l.owner)}
		}
		in.Live[ref] = seen
	}
	if plan.AsksBeside(in) {
		in.Beside.Yields = map[string]string{beside: beside}
		in.Beside.Add(beside, h.desired(beside, h.bundles[beside].answers), nil, nil, func(schema.GroupKind) string { return "" })
	}
	digests := map[object.Ref]string{}
	for _, d := range in.Desired {
		digests[d.Ref] = d.Digest
	}
	plan.Previewed(&in, func(needs, _ []plan.Change) map[object.Ref]plan.Preview {
		out := map[object.Ref]plan.Preview{}
		for _, ch := range needs {
			a := plan.Preview{Checked: true, NoOp: h.objects[ch.Ref].digest == digests[ch.Ref] && ch.Action == plan.Update, Force: ch.Force}
			if h.objects[ch.Ref].digest != digests[ch.Ref] {
				a.Fields = []plan.FieldChange{{Path: "data.p", Hidden: true}}
			}
			out[ch.Ref] = a
		}
		return out
	})
	return in
}

// execute carries out a plan, and ends after so many writes: then the record stays open.
func (h *house) execute(bundle string, in plan.Input, p *plan.Plan, writes int) bool {
	k := h.bundles[bundle]
	k.owned, k.lives, k.open = plan.Intended(p, in.Inventory, in.Desired, nil), p.HookStates, true
	k.inputs, k.made = map[string]string{}, map[string]string{}
	for name := range h.file[bundle] {
		k.inputs[name] = in.Inputs[name]
	}
	for name, a := range k.answers {
		k.made[name] = a.Digest()
	}
	digests := map[object.Ref]string{}
	for _, d := range in.Desired {
		digests[d.Ref] = d.Digest
	}
	for _, ch := range order(p.Changes) {
		if !ch.Action.Writes() {
			continue
		}
		if writes--; writes < 0 {
			return false
		}
		h.write(bundle, ch, digests[ch.Ref])
	}
	k.lives, k.open = map[string]plan.HookState{}, false
	for name, l := range p.HookStates {
		if over, stays := l.Completed(); stays {
			k.lives[name] = over
		}
	}
	k.owned = slices.Clone(p.Kept)
	for _, ch := range p.Changes {
		i := slices.IndexFunc(in.Desired, func(d plan.Desired) bool { return d.Ref == ch.Ref && d.Hook == nil })
		if l := h.objects[ch.Ref]; i >= 0 && ch.Action.Writes() && ch.Action != plan.Delete {
			o := plan.EntryFor(in.Desired[i], "")
			o.UID, o.ResourceVersion, o.ApplyHash = l.uid, l.rv, "e"+l.digest
			k.owned = append(k.owned, o)
		}
	}
	for _, release := range h.file[bundle] {
		h.complete[release] = true
	}
	return true
}

// order puts the hooks before the rest.
func order(changes []plan.Change) []plan.Change {
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b plan.Change) int {
		rank := func(ch plan.Change) int {
			if ch.Hook != nil && ch.Action != plan.Delete {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return out
}

// write is one write, and fails where it does harm.
func (h *house) write(bundle string, ch plan.Change, digest string) {
	was, there := h.objects[ch.Ref]
	h.log = append(h.log, fmt.Sprintf("  %s: %s %s %s", bundle, ch.Action, ch.Ref, ch.Instance))
	switch {
	case ch.Hook != nil && ch.Action != plan.Delete:
		release := ch.Ref.Name[:len(ch.Ref.Name)-len("-init")]
		if _, runs := h.objects[secretOf(release)]; runs && ch.Hook.Event == object.PreInstall && h.complete[release] {
			h.harm("%s is installed over what runs", release)
		}
		for b, instances := range h.file {
			for name, r := range instances {
				if r == release && ch.Hook.Event == object.PreDelete {
					h.harm("%s is removed, and %s of %s goes on", release, name, b)
				}
			}
		}
		return // it goes when it is done
	case ch.Action == plan.Delete:
		delete(h.objects, ch.Ref)
		delete(h.complete, ch.Ref.Name)
		return
	case ch.Ref.IsSecret() && there && was.digest != digest:
		h.harm("another password for %s", ch.Ref)
	}
	uid := was.uid
	if !there || ch.Action == plan.Recreate {
		uid = h.fresh("uid")
	}
	h.objects[ch.Ref] = live{uid: uid, owner: bundle, digest: digest, rv: h.fresh("rv")}
}

func (h *house) harm(format string, args ...any) {
	for _, line := range h.log {
		h.t.Log(line)
	}
	h.t.Fatalf(format, args...)
}

// settled reports whether every declared release is there in its bundle, and nothing else.
func (h *house) settled() string {
	want := map[object.Ref]string{}
	for b, instances := range h.file {
		for _, release := range instances {
			want[secretOf(release)], want[object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: release}] = b, b
		}
	}
	for ref, b := range want {
		if h.objects[ref].owner != b {
			return fmt.Sprintf("%s is %q's, not %s's", ref, h.objects[ref].owner, b)
		}
	}
	for ref := range h.objects {
		if want[ref] == "" {
			return ref.String() + " is left"
		}
	}
	return ""
}

// change draws one change of the file: an instance moves, gets another name, goes or comes.
func (h *house) change() string {
	type at struct{ bundle, name string }
	var all []at
	for _, b := range []string{"x", "y"} {
		for _, name := range slices.Sorted(maps.Keys(h.file[b])) {
			all = append(all, at{b, name})
		}
	}
	what := rapid.SampledFrom([]string{"move", "move", "rename", "drop", "add"}).Draw(h.t, "what")
	name := rapid.SampledFrom([]string{"k", "l", "m", "n"}).Draw(h.t, "name")
	if len(all) == 0 || what == "add" {
		b := rapid.SampledFrom([]string{"x", "y"}).Draw(h.t, "bundle")
		if h.file[b][name] != "" || len(all) > 3 {
			return ""
		}
		h.file[b][name] = h.fresh("r")
		return "add " + name + " to " + b
	}
	from := rapid.SampledFrom(all).Draw(h.t, "which")
	to := from
	switch what {
	case "move":
		to.bundle = besides[from.bundle]
	case "rename":
		to.name = name
	case "drop":
		delete(h.file[from.bundle], from.name)
		return "drop " + from.name + " of " + from.bundle
	}
	if h.file[to.bundle][to.name] != "" {
		return ""
	}
	h.file[to.bundle][to.name] = h.file[from.bundle][from.name]
	delete(h.file[from.bundle], from.name)
	return fmt.Sprintf("%s %s of %s: %s of %s", what, from.name, from.bundle, to.name, to.bundle)
}

// both runs both bundles, in a drawn order, until nothing is refused and all is settled, or says why that is not so.
func (h *house) both() string {
	first := rapid.SampledFrom([]string{"x", "y"}).Draw(h.t, "first")
	why := ""
	for range 3 {
		why = ""
		for _, b := range []string{first, besides[first]} {
			h.log = append(h.log, "run "+b)
			if refused, _ := h.run(b, 1000); refused != "" {
				why = refused
			}
		}
		if why == "" && h.settled() == "" {
			return ""
		}
	}
	if why == "" {
		why = h.settled()
	}
	return why
}

func (h *house) copied() map[string]map[string]string {
	return map[string]map[string]string{"x": maps.Clone(h.file["x"]), "y": maps.Clone(h.file["y"])}
}

// TestMovesCutShort: whatever moves, is renamed, dropped or added, and wherever runs end in the middle: no password that is in
// use is changed, no installation or removal hook runs against what goes on, and running again or taking the change back
// settles it.
func TestMovesCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &house{t: t, file: map[string]map[string]string{"x": {}, "y": {}}, objects: map[object.Ref]live{}, complete: map[string]bool{},
			bundles: map[string]*kept{"x": {}, "y": {}}}
		for range rapid.IntRange(3, 10).Draw(t, "steps") {
			before := h.copied()
			said := h.change()
			if said == "" {
				continue
			}
			h.log = append(h.log, said)
			for range rapid.IntRange(0, 2).Draw(t, "cuts") {
				b, writes := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "cut"), rapid.IntRange(0, 8).Draw(t, "writes")
				h.log = append(h.log, fmt.Sprintf("run %s, cut after %d", b, writes))
				if refused, _ := h.run(b, writes); refused != "" {
					h.log = append(h.log, "  refused: "+refused)
				}
			}
			if rapid.Bool().Draw(t, "back") {
				h.log, h.file = append(h.log, "taken back"), before
				if why := h.both(); why != "" {
					h.harm("taken back: %s", why)
				}
			} else if why := h.both(); why != "" {
				h.log, h.file = append(h.log, "refused: "+why, "taken back"), before
				if why := h.both(); why != "" {
					h.harm("refused, and taken back: %s", why)
				}
			}
		}
	})
}
