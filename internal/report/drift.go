package report

import (
	"io"
	"strings"

	"hawser.dev/hawser/internal/drift"
)

// Drift prints what drifted, bundle by bundle and grouped as a plan: fields go from what is recorded to what is live. tip is the
// command that puts it right, "" for none.
func Drift(w io.Writer, r *drift.Report, tip string, st Style) error {
	o, r := laid(w, r, st)
	for i, b := range r.Bundles {
		if i > 0 {
			o.line()
		}
		at := ""
		if len(b.Clusters) == 1 {
			at = chosen(b.Clusters[0].Cluster, b.Clusters[0].Chosen)
		}
		o.wrapped(0, strings.TrimSpace(stamp(r.Time)+" Bundle "+b.Bundle+at+" against "+clean(b.Standard())), bold)
		if p := b.Grouped(); len(p.Groups) > 0 {
			o.line()
			planGroups(o, p, false)
			o.line()
		}
		nobodyKnows(o, b.Unknown())
		o.wrapped(0, b.Total(), "")
	}
	if len(r.Bundles) == 0 {
		o.line(strings.TrimSpace(stamp(r.Time) + " no bundle is installed on the selected clusters"))
	}
	for _, line := range r.Tips(tip) {
		o.wrapped(0, line, "")
	}
	return o.ended(r.Findings)
}
