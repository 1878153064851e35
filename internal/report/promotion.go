package report

import (
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/promotion"
)

// Promoted prints a promotion: what is to become what on which clusters, and what is written, or was.
func Promoted(w io.Writer, p *promotion.Promotion, st Style) error {
	o, p := laid(w, p, st)
	o.wrapped(0, fmt.Sprintf("Bundle %s: release %s of %s, for %s", p.Bundle, clean(p.Release.String()), clean(p.From.String()), clean(p.To.String())), bold)
	t := newTable([]string{"INSTANCE", "CLUSTERS", "NOW", "PROMOTED", "BY"}, "CLUSTERS")
	for _, i := range p.Instances {
		k := map[bool]ink{true: yellow, false: dim}[i.Changes()]
		t.Row(clean(i.Instance), clusterList(i.Clusters, st), pinnedBeside(&i.From, &i.To, st), st.paint(k, pinnedBeside(&i.To, &i.From, st)), string(i.How))
		t.note(2, i.Source.String(), dim)
		for _, v := range i.Values {
			t.note(2, fmt.Sprintf("%s: %s -> %s (%s)", v.Path, v.From, v.To, v.Pos), "")
		}
	}
	t.write(o)
	for _, f := range p.Files {
		o.line()
		o.line(st.paint(bold, clean(f.Path)))
		for _, line := range f.Diff {
			o.line("  ", st.paint(map[byte]ink{'+': green, '-': red, '@': cyan}[line[0]], clean(line)))
		}
	}
	o.line()
	end := "nothing is written yet"
	switch {
	case p.Findings.HasErrors():
		end = "nothing is written"
	case len(p.Files) == 0:
		end = "the files say it already; nothing is to be written"
	case p.Written:
		end = count(len(p.Files), "file") + " written; hawser plan shows what an apply does now"
	}
	o.wrapped(0, strings.ToUpper(end[:1])+end[1:]+".", bold)
	return o.ended(p.Findings)
}

// Between prints what two sides of a fleet run, compared.
func Between(w io.Writer, b *history.Between, st Style) error {
	o, b := laid(w, b, st)
	o.wrapped(0, fmt.Sprintf("%s (%s) and %s (%s)", clean(b.From.Name), clusterList(b.From.Clusters, st), clean(b.To.Name), clusterList(b.To.Clusters, st)), bold)
	for i := range b.Bundles {
		one := &b.Bundles[i]
		o.line()
		if !one.Differ() {
			o.wrapped(0, "Bundle "+one.Bundle+": no differences", "")
			continue
		}
		o.wrapped(0, "Bundle "+one.Bundle+", compared with "+one.Reference, bold)
		for _, side := range one.Apart {
			o.wrapped(0, "The clusters of "+clean(side)+" differ among themselves", yellow)
		}
		t := newTable([]string{"INSTANCE", "CLUSTERS", strings.ToUpper(one.Reference), "THERE"}, "CLUSTERS")
		for _, in := range one.Instances {
			t.Row(clean(in.Instance), clusterList(in.Clusters, st), contentOf(in.From, in.To, st), contentOf(in.To, in.From, st))
			for _, text := range in.Images() {
				t.note(2, text, dim)
			}
		}
		if len(one.Instances) > 0 {
			t.write(o)
		}
		for _, v := range one.Origins {
			o.wrapped(0, fmt.Sprintf("value %s: %s; on %s: %s", v.Value, or(v.From, "none"), clusterList(v.Clusters, st), or(v.To, "none")), dim)
		}
		if len(one.Groups) > 0 {
			o.line()
		}
		planGroups(o, comparedPlan(one.Bundle, one.Clusters, one.Groups), false)
	}
	switch unknown := len(b.Unknown()); {
	case len(b.Bundles) == 0 && unknown == 0:
		o.line("Nothing was delivered to either.")
	case unknown > 0:
		o.line()
	}
	nobodyKnows(o, b.Unknown())
	return o.ended(b.Findings)
}

// contentOf is the version of an instance, with the digest where another has the same version; "-" for none.
func contentOf(i, other *history.Instance, st Style) string {
	if i == nil {
		return "-"
	}
	text := or(clean(i.Source.Version), st.shortDigest(i.Digest))
	if other != nil && other.Source.Version == i.Source.Version && i.Digest != other.Digest {
		text += " " + st.shortDigest(i.Digest)
	}
	return text
}
