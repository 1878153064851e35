package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
)

// Status prints what is known of bundles on a fleet: a line of totals, then every cluster and instance with its
// revision and state, and under it each object that is not ready with its reason.
func Status(w io.Writer, r *fleetplan.StatusReport, st Style) error {
	o, r := laid(w, r, st)
	o.wrapped(0, clean(statusHead(r)), bold)
	if len(r.Clusters) > 0 && (r.Bundle != "" || !r.Nothing()) {
		o.line()
		if st.narrow() {
			for _, c := range r.Clusters {
				narrowStatus(o, c, r.Bundle == "")
			}
		} else {
			wideStatus(o, r)
		}
	}
	why := newReasons()
	for _, c := range r.Clusters {
		why.add(c.Cluster, c.State(), c.Unreachable+c.Unknown+c.Lost)
	}
	if len(why.keys) > 0 {
		o.line()
		why.write(o, "")
	}
	return o.ended(r.Findings)
}

var stateInk = map[string]ink{
	"ready": green, "progressing": yellow, "drifted": magenta, "missing": red, "failed": red, "not reached": red,
	"not installed": dim, "not placed": dim, "terminating": yellow, "unfinished": yellow, "unknown": red,
	"in progress": cyan, "waiting": yellow, "record lost": red, fleetplan.StateMoved: dim,
}

func statusHead(r *fleetplan.StatusReport) string {
	what := "Bundles"
	if r.Bundle != "" {
		what = "Bundle " + r.Bundle
	}
	places := map[string]bool{}
	n := map[string]int{}
	for _, c := range r.Clusters {
		places[c.Cluster] = true
		n[c.State()]++
	}
	var parts []string
	for _, s := range fleetplan.States {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	head := what + " on " + count(len(places), "cluster")
	if len(places) == 1 && r.Clusters[0].Chosen != "" {
		head = what + chosen(r.Clusters[0].Cluster, r.Clusters[0].Chosen)
	}
	if r.Bundle == "" && r.Nothing() {
		return head + ": nothing was delivered"
	}
	if len(parts) > 0 {
		head += ": " + strings.Join(parts, ", ")
	}
	var skipped []string
	for _, c := range r.Clusters {
		if c.NotStarted {
			skipped = append(skipped, c.Cluster)
		}
	}
	if len(skipped) > 0 {
		head += ". The last rollout was never started on " + strings.Join(skipped, ", ")
	}
	return head
}

// chosen says which cluster a run without a fleet is about, and how it was chosen; "" with a fleet.
func chosen(cluster, how string) string {
	if how == "" {
		return ""
	}
	return on(cluster + ", " + how)
}

func wideStatus(o *out, r *fleetplan.StatusReport) {
	several := r.Bundle == ""
	head := []string{"CLUSTER", "GROUP", "RELEASE", "INSTANCE", "READY", "STATE", "SOURCE"}
	if several {
		head = slices.Insert(head, 2, "BUNDLE")
	}
	t := newTable(head)
	for _, c := range r.Clusters {
		lead := []string{c.Cluster, c.Group, dash(c.Release)}
		if several {
			lead = slices.Insert(lead, 2, c.Bundle)
		}
		if len(c.Instances) == 0 {
			state := c.State()
			t.Row(append(slices.Clone(lead), "-", "-", o.st.paint(stateInk[state], state))...)
			t.note(2, waits(c), yellow)
			continue
		}
		for k, i := range c.Instances {
			cells := slices.Clone(lead)
			if k > 0 {
				for x := range cells {
					cells[x] = ""
				}
			}
			t.Row(append(cells, i.Instance, i.Ready(), o.st.paint(stateInk[i.State], i.Words()), clean(i.Source))...)
			statusObjects(o.st, i, func(text string, c ink) { t.note(4, text, c) })
		}
		if last := c.LastRun(); last != "" {
			t.note(2, last, yellow)
		}
		t.note(2, waits(c), yellow)
		t.note(2, c.Lag(), yellow)
		t.note(2, c.Uncommitted(), dim)
		if c.RollbackTo != nil {
			t.note(2, backTo(c.RollbackTo), dim)
		}
		if c.Message != "" {
			t.note(2, "message: "+clean(c.Message), dim)
		}
		if o.st.Verbose > 0 {
			t.note(2, c.AppliedBy(), dim)
		}
	}
	t.write(o)
}

// waits says what keeps a release from the cluster, "" for nothing.
func waits(c fleetplan.ClusterStatus) string {
	if c.Waits == nil {
		return ""
	}
	return fmt.Sprintf("release %d %s", c.Waits.Release, c.Waits)
}

// statusObjects tells of every object that is not ready (with -v of all) and, with -v, of the images.
func statusObjects(st Style, i fleetplan.InstanceStatus, note func(string, ink)) {
	if i.Stopped != "" {
		note(i.Stopped, yellow)
	}
	for _, ob := range i.Objects {
		whole := i.State == fleetplan.StateMoved
		ok := ob.Status.State == health.Ready && !ob.Drifted && ob.MovedTo == "" || whole
		if ok && st.Verbose == 0 {
			continue
		}
		details := ob.Status.Lines()
		if len(details) == 0 {
			details = []string{string(ob.Status.State)}
		}
		if ob.MovedTo != "" {
			details = []string{"moved to bundle " + ob.MovedTo}
		}
		text := ob.Object.String() + ": " + details[0]
		details = details[1:]
		c := stateInk[string(ob.Status.State)]
		if ob.Drifted {
			text += ", " + ob.Drift()
			c = magenta
		}
		if ok || ob.MovedTo != "" {
			c = dim
		}
		note(text, c)
		if st.Verbose == 0 {
			details = details[:min(5, len(details))]
		}
		for _, d := range details {
			note("  "+d, "")
		}
	}
	if st.Verbose > 0 {
		for _, img := range i.Images {
			note("image "+img, dim)
		}
	}
}

// narrowStatus is a cluster as a block; several: the report is about several bundles, and each block names its own.
func narrowStatus(o *out, c fleetplan.ClusterStatus, several bool) {
	head := o.st.paint(bold, c.Cluster)
	if several && c.Bundle != "" {
		head += "  " + c.Bundle
	}
	if c.Release > 0 {
		head += fmt.Sprintf("  release %d", c.Release)
	}
	state := c.State()
	o.line(head, "  ", o.st.paint(stateInk[state], state))
	if last := c.LastRun(); last != "" {
		o.wrapped(2, last, yellow)
	}
	if text := waits(c); text != "" {
		o.wrapped(2, clean(text), yellow)
	}
	for _, i := range c.Instances {
		o.line("  ", i.Instance, "  ", o.st.paint(stateInk[i.State], i.Words()), "  ", i.Ready())
		if i.Source != "" {
			o.wrapped(4, clean(i.Source), dim)
		}
		statusObjects(o.st, i, func(text string, k ink) {
			indent := 4 + len(text) - len(strings.TrimLeft(text, " "))
			o.wrapped(indent, clean(text), k)
		})
	}
	o.noted(2, clean(c.Lag()), yellow)
	o.noted(2, c.Uncommitted(), dim)
	if c.RollbackTo != nil {
		o.wrapped(2, backTo(c.RollbackTo), dim)
	}
	if c.Message != "" {
		o.wrapped(2, "message: "+clean(c.Message), dim)
	}
	if o.st.Verbose > 0 {
		o.wrapped(2, c.AppliedBy(), dim)
	}
}

// table is a table whose notes have inks.
type table struct {
	*columns.Table
	inks map[int]ink
}

func newTable(head []string, spare ...string) *table {
	return &table{columns.NewTable(head, spare...), map[int]ink{}}
}

func (t *table) note(indent int, text string, c ink) {
	if text != "" {
		t.inks[t.Note(strings.Repeat(" ", indent+len(text)-len(strings.TrimLeft(text, " ")))+clean(strings.TrimLeft(text, " ")))] = c
	}
}

// write fits the table into the columns there are, where they are known.
func (t *table) write(o *out) {
	for _, l := range t.Lines(max(0, o.st.Width), o.st.ellipsis()) {
		if l.Note == 0 {
			o.line(l.Text)
			continue
		}
		text := strings.TrimLeft(l.Text, " ")
		o.wrapped(len(l.Text)-len(text), text, t.inks[l.Note])
	}
}
