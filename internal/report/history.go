package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

var releaseInk = map[history.State]ink{history.Applying: cyan, history.Deleting: cyan, history.Ejecting: cyan, history.Succeeded: green, history.Written: yellow,
	history.Failed: red, history.Partial: red, history.Pending: yellow, history.Superseded: dim, history.Waiting: yellow, history.Aborted: red, history.Interrupted: red}

// History prints a line for each release, newest first, and the clusters of which nobody knows.
func History(w io.Writer, h *history.History, st Style) error {
	o, h := laid(w, h, st)
	if h.Chosen != "" {
		o.wrapped(0, "Releases"+on(h.Chosen), bold)
	}
	t := newTable([]string{"BUNDLE", "RELEASE", "ROLLOUT", "STATE", "STARTED", "BY", "COMMIT", "CHANGES", "CLUSTERS"}, "COMMIT", "ROLLOUT", "CHANGES")
	for _, b := range h.Bundles {
		for _, r := range b.Releases {
			who, _, _ := strings.Cut(r.Author, " (") // and not which job of CI, which show tells
			row := []string{b.Bundle, dash(r.Release), r.Rollout, string(r.State), st.stamp(r.Started), clean(who), short(r.Commit) + map[bool]string{true: "+"}[r.Tree == release.Dirty], r.Least(doneOf(r.Done)), clean(r.Reach())}
			for i := range row {
				row[i] = cmp.Or(row[i], "-")
			}
			row[3] = st.paint(releaseInk[r.State], row[3])
			t.Row(row...)
			t.note(2, strings.Join(slices.DeleteFunc([]string{backTo(r.RollbackTo), r.Message}, func(s string) bool { return s == "" }), ": "), dim)
			t.note(2, r.Awaits(), yellow)
			t.note(2, r.Decided(), dim)
		}
	}
	if len(h.Bundles) == 0 && len(h.Unknown) == 0 {
		t.note(0, "no release is kept on the selected clusters", "")
	}
	t.write(o)
	nobodyKnows(o, h.Unknown)
	return o.ended(h.Findings)
}

// on is the one cluster of a run without a fleet; "" with one.
func on(chosen string) string {
	if chosen == "" {
		return ""
	}
	return " on cluster " + clean(chosen)
}

// backTo says that a release was gone back to; "" for none.
func backTo(n *release.Name) string {
	if n == nil {
		return ""
	}
	return "rollback to " + n.String()
}

// nobodyKnows tells of clusters that are in no count, those with one reason together.
func nobodyKnows(o *out, unknown []history.Unknown) {
	why := newReasons()
	for _, u := range unknown {
		why.add(u.Cluster, u.State(), u.Why)
	}
	why.write(o, ". Nobody knows what is there.")
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// stamp is a time, to the minute where there is little room.
func (s Style) stamp(at time.Time) string {
	if s.narrow() && !at.IsZero() {
		return at.UTC().Format("2006-01-02 15:04")
	}
	return stamp(at)
}

// short is the beginning of a commit.
func short(commit string) string { return commit[:min(8, len(commit))] }

// doneOf is what was done in numbers: "+1 ~4 -2".
func doneOf(c plan.Counts) string {
	var parts []string
	for _, x := range []struct {
		action plan.Action
		n      int
	}{{plan.Create, c.Create}, {plan.Update, c.Update}, {plan.Recreate, c.Recreate}, {plan.Adopt, c.Adopt}, {plan.Delete, c.Delete}, {plan.Release, c.Release}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", markOf(x.action), x.n))
		}
	}
	return strings.Join(parts, " ")
}

// Shown prints the one release of a history: how it came about, where each cluster stands, and what was delivered.
func Shown(w io.Writer, h *history.History, st Style) error {
	o, h := laid(w, h, st)
	b := h.Bundles[0]
	r := b.Releases[0]
	o.line(st.paint(bold, "Release "+clean(r.Name())+" of "+b.Bundle)+on(h.Chosen), ": ", st.paint(releaseInk[r.State], string(r.State)))
	from := ""
	if r.Source != (lineage.Source{}) {
		from = r.Source.String()
	}
	for _, f := range [][2]string{{"started", stamp(r.Started)}, {"finished", stamp(r.Finished)}, {"by", r.Author}, {"message", r.Message}, {"back to", r.RollbackTo.String()}, {"approved", r.Approved()}, {"held", r.Awaits()}, {"decided", r.Decided()}, {"from", from},
		{"commit", r.From()}, {"fleet", r.Fleet}, {"files", r.SourceDigest}, {"plan", r.Plan}, {"changes", r.Least(doneOf(r.Done))}, {"hawser", r.Hawser}} {
		if f[1] != "" {
			o.wrapped(0, fmt.Sprintf("%-10s %s", f[0]+":", clean(f[1])), "")
		}
	}
	o.line()
	t := newTable([]string{"CLUSTER", "RELEASE", "REV", "PHASE", "FINISHED", "CHANGES"}, "REV", "CHANGES")
	for _, c := range r.Clusters {
		phase, at := string(c.Phase), cmp.Or(dash(c.Release), "-")
		switch {
		case c.Unknown != "":
			t.note(0, c.Cluster+": "+clean(c.Doubt()), red)
			continue
		case c.Rollout == "":
			t.note(0, c.Cluster+": nothing was delivered yet", dim)
			continue
		case !c.In:
			phase += map[bool]string{false: ", not in this release", true: ", changed nothing here"}[c.Unchanged]
		case c.InProgress != "":
			phase += " by " + clean(c.InProgress)
		}
		t.Row(c.Cluster, at, dash(c.Revision), phase, cmp.Or(st.stamp(c.Finished), "-"), cmp.Or(doneOf(c.Done), "-"))
		for _, n := range c.NotBegun {
			t.note(1, n.String(), yellow)
		}
		for _, k := range c.Corrections {
			t.note(1, strings.TrimSuffix(fmt.Sprintf("drift put right %s by %s, %s %s: %s", cmp.Or(stamp(k.Finished), stamp(k.Started)), cmp.Or(clean(k.Author), "nobody known"),
				cmp.Or(string(k.Phase), "ended"), cmp.Or(doneOf(k.Done), "without a change"), clean(k.Message)), ": "), dim)
			for _, text := range k.Named(st.Verbose > 0) {
				t.note(3, text, dim)
			}
		}
	}
	t.write(o)
	delivered(o, r)
	return o.Flush()
}

// delivered prints the instances of a release; clusters on which they are the same stand together.
func delivered(o *out, r history.Release) {
	t := newTally()
	for _, c := range r.Clusters {
		var s strings.Builder
		for _, in := range c.Instances {
			fmt.Fprintf(&s, "%s  %s", clean(in.Instance), cmp.Or(clean(in.Source.String()), "-"))
			if in.Digest != "" {
				s.WriteString("  " + clean(o.st.shortDigest(in.Digest)))
			}
			if in.Suspended {
				s.WriteString("  suspended")
			}
			for _, image := range in.Images {
				s.WriteString("\n  image " + clean(image))
			}
			s.WriteString("\n")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Origins)) {
			s.WriteString("value " + clean(name) + "  " + clean(c.Origins[name]) + "\n")
		}
		if s.Len() > 0 {
			t.add(s.String(), c.Cluster)
		}
	}
	for _, text := range t.keys {
		o.line()
		o.wrapped(0, "# "+clusterList(t.at[text], o.st), dim)
		for line := range strings.Lines(text) {
			rest := strings.TrimLeft(line, " ")
			o.wrapped(len(line)-len(rest), strings.TrimRight(rest, "\n"), "")
		}
	}
}

// Compared prints what changed between two releases, grouped as a plan.
func Compared(w io.Writer, c *history.Comparison, st Style) error {
	o, c := laid(w, c, st)
	o.line(st.paint(bold, fmt.Sprintf("Bundle %s from release %s to %s", c.Bundle, clean(c.From.Name()), clean(c.To.Name()))) + on(c.Chosen))
	p := comparedPlan(c.Bundle, c.Clusters, c.Groups)
	same := 0
	for _, row := range p.Clusters {
		if row.Plan.Empty() {
			same++
		}
	}
	if len(c.Groups) > 0 {
		o.line()
	}
	planGroups(o, p, false)
	if total := p.Counts(); len(p.Clusters) > 0 {
		o.line()
		o.wrapped(0, fmt.Sprintf("%d came, %d changed, %d went, %s%d are the same. %s changed, %d did not.", total.Create, total.Update, total.Delete,
			map[bool]string{true: count(total.Hooks, "hook") + " besides, "}[total.Hooks > 0], total.Unchanged, count(len(p.Clusters)-same, "cluster"), same), "")
	}
	nobodyKnows(o, c.Unknown())
	return o.ended(c.Findings)
}

// comparedPlan is a comparison as a plan, to be printed as one.
func comparedPlan(bundle string, clusters []history.ClusterChange, groups []group.Group) *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{Bundle: bundle, Groups: groups}
	for _, row := range clusters {
		if row.Plan == nil {
			continue
		}
		cp := &fleetplan.ClusterPlan{Cluster: row.Cluster, Group: row.Group, Plan: row.Plan}
		was := map[string]string{}
		for _, in := range row.From.Instances {
			was[in.Instance] = clean(in.Source.String())
		}
		for _, in := range row.To.Instances {
			cp.Instances = append(cp.Instances, fleetplan.InstancePlan{Name: in.Instance, Source: clean(in.Source.String()), Before: was[in.Instance]})
		}
		p.Clusters = append(p.Clusters, cp)
	}
	return p
}
