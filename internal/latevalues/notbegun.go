package latevalues

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Left is an object of which nothing was begun, and the object whose failure stopped it: the zero Ref where that is not known, or the run ended.
type Left struct {
	Ref     object.Ref
	Because object.Ref
}

// End is how a run ended that did not do everything.
type End struct {
	Left []Left
	// Failed says why instances failed, by instance; "" is the run as a whole.
	Failed map[string]string
	// Cancelled: somebody ended it. TimedOut: its time was over.
	Cancelled, TimedOut bool
}

// Undone are the objects of which nothing was begun, and the instances that failed.
func (e End) Undone() (refs []object.Ref, instances []string) {
	for _, l := range e.Left {
		refs = append(refs, l.Ref)
	}
	return refs, slices.Sorted(maps.Keys(e.Failed))
}

// NotBegun tells, by instance, what of a plan was not begun and because of what: waits is what an instance still waited for, by instance. An
// instance that failed while it was carried out is not told of: its problem says so.
func NotBegun(p *plan.Plan, e End, depends map[string][]string, takes map[string][]Source, waits map[string]string) []plan.NotBegun {
	of, writes, goes := map[object.Ref]string{}, map[string]int{}, map[object.Ref]bool{}
	for _, ch := range p.Changes {
		of[ch.Ref], goes[ch.Ref] = ch.Instance, ch.Action == plan.Delete || ch.Code == plan.CodeEjected
		if ch.Action.Writes() || ch.Code == plan.CodeEjected {
			writes[ch.Instance]++
		}
	}
	left, undone := map[string][]Left{}, map[string]string{}
	for _, l := range e.Left {
		name := of[l.Ref]
		if left[name] = append(left[name], l); !goes[l.Ref] || undone[name] != "" {
			undone[name] = map[bool]string{true: "is not done", false: "was not begun"}[len(left[name]) < writes[name]]
		}
	}
	var out []plan.NotBegun
	for _, name := range slices.Sorted(maps.Keys(left)) {
		n := plan.NotBegun{Instance: name, Objects: len(left[name]), Partly: len(left[name]) < writes[name]}
		own := e.Failed[name]
		switch {
		case name != "" && own != "" && n.Partly:
			continue
		case name != "" && own != "":
			n.Why = own
		case undone[name] == "" && len(e.Failed) > 0 && e.Failed[""] == "" && !e.Cancelled:
			n.Why = "nothing is deleted where something failed (" + diag.Few(e.names()) + ")"
		default:
			if n.After, n.Why = e.behind(name, undone, depends[name], takes[name]); n.Why == "" {
				n.Why = e.why(left[name], of, waits[name])
			}
		}
		out = append(out, n)
	}
	return out
}

// names are the instances that failed.
func (e End) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e.Failed)), func(name string) bool { return name == "" })
}

// mostTold is how many of those that an instance stands on are told with their reasons.
const mostTold = 3

// behind are those that an instance depends on or takes values from and that failed, or were not begun, and what that is in words.
func (e End) behind(name string, undone map[string]string, depends []string, takes []Source) (after []string, why string) {
	var texts []string
	add := func(of, how string) {
		if of == name || slices.Contains(after, of) || undone[of] == "" && e.Failed[of] == "" {
			return
		}
		text := how + of + ", which " + undone[of]
		if e.Failed[of] != "" {
			text = how + of + ": " + e.Failed[of]
		}
		after, texts = append(after, of), append(texts, text)
	}
	for _, s := range takes {
		add(s.Instance, "it takes a value of ")
	}
	for _, d := range depends {
		add(d, "it depends on ")
	}
	if n := len(texts) - mostTold; n > 0 {
		texts = append(texts[:mostTold], fmt.Sprintf("and %d more", n))
	}
	return after, strings.Join(texts, "; ")
}

// why is what stopped objects of an instance that stands on none that failed.
func (e End) why(left []Left, of map[object.Ref]string, waits string) string {
	i := slices.IndexFunc(left, func(l Left) bool { return l.Because != object.Ref{} })
	switch {
	case waits != "":
		return "a value that it takes had not come (" + waits + ")"
	case i >= 0 && e.Failed[of[left[i].Because]] != "":
		return "it comes after " + left[i].Because.String() + ": " + e.Failed[of[left[i].Because]]
	case i >= 0:
		return "it comes after " + left[i].Because.String() + ", which failed"
	case e.Failed[""] != "":
		return "the run ended before: " + e.Failed[""]
	case e.Cancelled:
		return "the run was interrupted"
	case e.TimedOut:
		return "the time of the run was over"
	case len(e.Failed) > 0:
		return "the run ended before, when something failed (" + diag.Few(e.names()) + ")"
	}
	return "the run ended before"
}
