package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/nextstep"
	"hawser.dev/hawser/internal/plan"
)

// Hints are the commands a report of a failed rollout names.
type Hints = nextstep.Hints

// Outcome prints what a rollout did: the table of clusters, then one line of success or the block of what failed.
func Outcome(w io.Writer, oc *fleetplan.Outcome, h Hints, st Style) error {
	if err := OutcomeTable(w, oc, st); err != nil {
		return err
	}
	return OutcomeVerdict(w, oc, h, st)
}

// OutcomeTable prints one row per cluster; clusters of a wave that were not started share one.
func OutcomeTable(w io.Writer, oc *fleetplan.Outcome, st Style) error {
	o, oc := laid(w, oc, st)
	rows := rowsOf(oc)
	names := 7
	for _, r := range rows {
		names = max(names, width(r.name))
	}
	if st.narrow() {
		for _, r := range rows {
			counts := "-"
			if r.ran {
				counts = fmt.Sprintf("+%d ~%d -%d", r.counts.Create, changed(r.counts), r.counts.Delete)
			}
			o.linef("%s  %2s  %-11s %7s  %s", pad(r.name, names), dash(r.wave), counts, r.time, st.paint(r.color, r.outcome))
		}
		return o.Flush()
	}
	names += 4
	o.line(pad("CLUSTER", names), "WAVE  CREATED CHANGED DELETED SAME  TIME   OUTCOME")
	for _, r := range rows {
		cells := []string{"-", "-", "-", "-"}
		if r.ran {
			for i, n := range []int{r.counts.Create, changed(r.counts), r.counts.Delete, r.counts.Unchanged} {
				cells[i] = fmt.Sprint(n)
			}
		}
		o.linef("%s%4s  %7s %7s %7s %4s %6s  %s", pad(r.name, names), dash(r.wave), cells[0], cells[1], cells[2], cells[3],
			r.time, st.paint(r.color, r.outcome))
	}
	return o.Flush()
}

// changed counts every object written over: updates, recreations and adoptions.
func changed(c plan.Counts) int { return c.Update + c.Recreate + c.Adopt }

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// row is one line of the table.
type row struct {
	name, time, outcome string
	wave                int
	counts              plan.Counts
	ran                 bool
	color               ink
}

// manyAlike is the number of unchanged clusters of a wave from which they share a row.
const manyAlike = 4

func rowsOf(oc *fleetplan.Outcome) []row {
	alike := map[string][]string{}
	key := func(c fleetplan.ClusterOutcome) string { return fmt.Sprint(c.Wave, c.Result) }
	for _, c := range oc.Clusters {
		alike[key(c)] = append(alike[key(c)], c.Cluster)
	}
	done := map[string]bool{}
	var rows []row
	for _, c := range oc.Clusters {
		names := alike[key(c)]
		if c.Result == fleetplan.NotStarted && len(names) > 1 || c.Result == fleetplan.UpToDate && len(names) >= manyAlike {
			if !done[key(c)] {
				done[key(c)] = true
				rows = append(rows, row{name: fmt.Sprintf("%d others", len(names)), wave: c.Wave, time: "-",
					outcome: c.Result.Words() + ": " + Names(names), color: dim})
			}
			continue
		}
		rows = append(rows, clusterRow(c))
	}
	return rows
}

func clusterRow(c fleetplan.ClusterOutcome) row {
	r := row{name: c.Cluster, wave: c.Wave, counts: c.Done, outcome: c.Result.Words(), time: "-", color: green}
	r.ran = c.Result == fleetplan.Succeeded || c.Result == fleetplan.Failed || c.Result == fleetplan.Interrupted || c.Result == fleetplan.UpToDate
	if r.ran {
		r.time = seconds(time.Duration(c.Seconds * float64(time.Second)))
	}
	switch c.Result {
	case fleetplan.Failed, fleetplan.Unreachable, fleetplan.Interrupted:
		r.color = red
		if c.Reason != "" {
			r.outcome += ": " + clean(c.Reason)
		}
	case fleetplan.NotStarted, fleetplan.UpToDate:
		r.color = dim
	case fleetplan.Succeeded:
		if c.Reason != "" {
			r.outcome, r.color = clean(c.Reason), yellow
		}
	}
	if c.Canary {
		r.outcome += " (canary)"
	}
	return r
}

// OutcomeVerdict prints the last words: one line when all went well, else what failed, where else, what to do next.
func OutcomeVerdict(w io.Writer, oc *fleetplan.Outcome, h Hints, st Style) error {
	o, oc := laid(w, oc, st)
	if oc.Result == fleetplan.Succeeded || oc.Result == fleetplan.UpToDate {
		o.wrapped(0, success(oc), green)
		return o.ended(oc.Findings)
	}
	o.line()
	switch oc.Result {
	case fleetplan.Waiting:
		headline(o, "Waiting:", yellow, clean(oc.HowFar()))
	case fleetplan.Aborted:
		headline(o, "Aborted:", red, clean(oc.HowFar()))
	default:
		headline(o, "Error:", red, clean(oc.HowFar()))
	}
	groups := problemGroups(oc)
	const most = 5
	for i, g := range groups {
		if i == most && st.Verbose == 0 {
			o.linef("  and %s more, see -v or -o json", count(len(groups)-most, "problem"))
			break
		}
		g.write(o)
	}
	for _, text := range oc.Unbegun(Names, st.Verbose > 0) {
		o.wrapped(2, clean(text), "")
	}
	o.noted(2, clean(oc.WentBack.Said()), "")
	next(o, oc, h)
	return o.ended(oc.Findings)
}

func success(oc *fleetplan.Outcome) string {
	var c plan.Counts
	for _, x := range oc.Clusters {
		c = c.Add(x.Done)
	}
	where := count(len(oc.Clusters), "cluster")
	later := slices.DeleteFunc(slices.Clone(oc.Clusters), func(c fleetplan.ClusterOutcome) bool { return !c.Later })
	switch {
	case len(later) > 0:
		where = fmt.Sprintf("%d of %s, up to %s,", len(oc.Clusters)-len(later), where, strings.TrimPrefix(later[0].Reason, "after "))
	case len(oc.Clusters) == 1:
		where = oc.Clusters[0].Cluster
	}
	what := fmt.Sprintf("%d created, %d changed, %d deleted, %d unchanged", c.Create, changed(c), c.Delete, c.Unchanged)
	switch oc.Verb {
	case "delete":
		what = count(c.Delete, "object") + " deleted"
	case "eject":
		what = count(c.Release, "object") + " left as they are"
	}
	s := fmt.Sprintf("%s %s on %s in %s: %s", oc.Did(), oc.Bundle, where, seconds(time.Duration(oc.Seconds*float64(time.Second))), what)
	if oc.Rollout != "" {
		s += " (rollout " + oc.Rollout + ")"
	}
	return s + "."
}

// next names the commands that go on from a failure.
func next(o *out, oc *fleetplan.Outcome, h Hints) {
	steps := h.Steps(oc)
	longest := 0
	for _, s := range steps {
		longest = max(longest, width(s.Command))
	}
	label := "Next:"
	for _, s := range steps {
		line := "  " + pad(label, 7) + s.Command
		label = ""
		if 9+longest+5+width(s.Why) <= o.st.width() {
			line = at(line, 9+longest+5, o.st.paint(dim, s.Why))
		} else {
			o.line(line)
			line = "         " + o.st.paint(dim, "  "+s.Why)
		}
		o.line(line)
	}
}
