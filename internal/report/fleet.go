package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rights"
)

// FleetList prints the clusters of a fleet and how each is reached.
func FleetList(w io.Writer, r *fleetplan.FleetReport, st Style) error {
	o, r := laid(w, r, st)
	t := newTable([]string{"CLUSTER", "GROUP", "WAVE", "ACCESS", "SERVER"})
	for _, c := range r.Clusters {
		t.Row(c.Cluster, c.Group, dash(c.Wave), clean(c.Access), c.Server)
		if st.Verbose > 0 && len(c.Labels) > 0 {
			var labels []string
			for _, k := range slices.Sorted(maps.Keys(c.Labels)) {
				labels = append(labels, k+"="+c.Labels[k])
			}
			t.note(2, "labels "+strings.Join(labels, ","), dim)
		}
		if c.Problem != "" {
			t.note(2, c.Problem, red)
		}
	}
	t.write(o)
	return o.Flush()
}

// FleetCheck prints for every cluster whether it answers, its version and UID, and which rights are missing.
func FleetCheck(w io.Writer, r *fleetplan.FleetReport, st Style) error {
	o, r := laid(w, r, st)
	t := newTable([]string{"CLUSTER", "STATE", "VERSION", "SERVER", "UID"}, "UID")
	bad, why, fix := len(r.Clusters), newReasons(), ""
	for _, c := range r.Clusters {
		state, k := "ok", green
		switch {
		case c.Unreachable:
			state, k = "not reached", red
		case c.Problem != "":
			state, k = "not usable", red
		case len(c.Missing) > 0:
			state, k, fix = "rights missing", yellow, rights.Roles
		default:
			bad--
		}
		t.Row(c.Cluster, st.paint(k, state), c.Version, c.Server, c.UID)
		why.add(c.Cluster, state, c.Problem)
		why.add(c.Cluster, "rights missing", strings.Join(c.Missing, "; "))
	}
	t.write(o)
	why.write(o, "")
	labelled(o, "Fix: ", fix)
	o.line()
	o.line(fmt.Sprintf("%s, %d usable, %d not.", count(len(r.Clusters), "cluster"), len(r.Clusters)-bad, bad))
	return o.Flush()
}

// FleetValues prints the runtime values of every cluster with their origins; secret ones are hidden.
func FleetValues(w io.Writer, r *fleetplan.FleetReport, st Style) error {
	o, r := laid(w, r, st)
	for i, c := range r.Clusters {
		if i > 0 {
			o.line()
		}
		head := st.paint(bold, c.Cluster)
		if c.Group != "" {
			head += "  group " + c.Group
		}
		o.line(head)
		if c.Problem != "" {
			o.wrapped(3, "not reached: "+clean(c.Problem), red)
			continue
		}
		names := slices.Sorted(maps.Keys(c.Values))
		if len(names) == 0 {
			o.line("   no values defined")
		}
		longest := 0
		for _, n := range names {
			longest = max(longest, width(n))
		}
		for _, n := range names {
			v := c.Values[n]
			text := clean(v.Value)
			if v.Secret {
				text = "(hidden)"
			}
			o.line("   ", pad(n, longest), "  ", at(text, 30, st.paint(dim, clean(v.Origin))))
		}
	}
	return o.Flush()
}
