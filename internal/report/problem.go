package report

import (
	"fmt"
	"strings"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
)

// problemGroup is one problem and the clusters that have it alike.
type problemGroup struct {
	problem  fleetplan.Problem
	reason   string // of a cluster that failed without naming an object
	clusters []string
}

// problemGroups collects what failed: equal objects with equal reasons are told once.
func problemGroups(oc *fleetplan.Outcome) []problemGroup {
	var list []problemGroup
	index := map[string]int{}
	add := func(key, cluster string, g problemGroup) {
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, g)
		}
		list[i].clusters = append(list[i].clusters, cluster)
	}
	for _, c := range oc.Clusters {
		for _, p := range c.Problems {
			add(fmt.Sprint(p.Object, p.Status.State, p.Status.Reason, p.Digest, p.Elsewhere), c.Cluster, problemGroup{problem: p})
		}
		if len(c.Problems) == 0 && (c.Result == fleetplan.Failed || c.Result == fleetplan.Unreachable) { // why it was interrupted stands in its row
			reason := c.Reason
			if c.Result == fleetplan.Unreachable {
				reason = strings.TrimSuffix("not reached: "+reason, ": ")
			}
			add("\x00"+reason, c.Cluster, problemGroup{reason: reason})
		}
	}
	return list
}

func (g problemGroup) write(o *out) {
	who := Names(g.clusters)
	if g.problem.Object.Kind == "" {
		reason := g.reason
		for _, d := range g.problem.Status.Details { // an instance that was not begun, and why
			o.wrapped(2, clean(who+": "+d), "")
		}
		if len(g.problem.Status.Details) > 0 {
			return
		}
		if reason == "" {
			reason = "failed"
		}
		o.wrapped(2, clean(who+": "+reason), "")
		return
	}
	text, details := who+": "+g.problem.Object.String(), g.problem.Status.Lines()
	if len(details) > 0 {
		cause := details[0]
		if details = details[1:]; len(g.clusters) > 1 {
			cause = fleetplan.Podless(cause)
		}
		if text += ": " + cause; strings.HasPrefix(cause, g.problem.Object.String()) { // it names the object itself
			text = who + ": " + cause
		}
	}
	if s := g.problem.GaveUpAfter; s > 0 {
		text += ", given up after " + whole(time.Duration(s*float64(time.Second)))
	}
	o.wrapped(2, clean(text), "")
	for i, d := range details {
		if i == 5 && o.st.Verbose == 0 {
			o.linef("    and %d more", len(details)-i)
			break
		}
		if len(g.clusters) > 1 && strings.HasPrefix(d, "pod ") {
			d = "on " + g.clusters[0] + ": " + d
		}
		o.wrapped(4, clean(d), "")
	}
	if l := g.elsewhere(o.st); l != "" {
		o.wrapped(2, l, "")
	}
}

// elsewhere says what the same object does on other clusters.
func (g problemGroup) elsewhere(st Style) string {
	p := g.problem
	same := "the same " + p.Object.Kind
	if p.Digest != "" {
		same += " (" + st.shortDigest(p.Digest) + ")"
	}
	switch strings.ToLower(p.Elsewhere) {
	case "only here":
		lead, look := "Only here", "this cluster"
		if n := len(g.clusters); n > 1 {
			lead, look = fmt.Sprintf("Only on these %d", n), "these clusters"
		}
		return fmt.Sprintf("%s: %s is ready on %s, so look at %s, not at the change", lead, same, count(p.ReadyOn, "other cluster"), look)
	case "everywhere":
		return fmt.Sprintf("Everywhere: %s is ready on none of the %s that got it, so look at the change, not at a cluster",
			same, count(max(p.FailedOn, len(g.clusters)), "cluster"))
	}
	return ""
}
