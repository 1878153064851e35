package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/release"
)

// Listing prints what was delivered: a row per instance and cluster, with the release, when and how it ended.
func Listing(w io.Writer, l *release.Listing, st Style) error {
	o, l := laid(w, l, st)
	t := newTable([]string{"CLUSTER", "BUNDLE", "INSTANCE", "NAMESPACE", "VERSION", "RELEASE", "DELIVERED", "STATUS"}, "NAMESPACE", "DELIVERED")
	why := newReasons()
	for _, c := range l.Clusters {
		why.add(c.Cluster, "not reached", c.Unreachable)
		why.add(c.Cluster, "unknown", c.Unknown)
		at := chosen(c.Cluster, c.Chosen)
		switch {
		case c.Unreachable+c.Unknown == "" && len(c.Bundles) == 0:
			t.note(0, strings.TrimPrefix(cmp.Or(at, clean(c.Cluster)), " on cluster ")+": nothing was delivered", "")
		case at != "":
			o.wrapped(0, "Bundles"+at, bold)
		}
		for _, b := range c.Bundles {
			for _, in := range b.Instances {
				ended, colour := phaseOf(b, in)
				row := []string{c.Cluster, b.Bundle, in.Instance, strings.Join(in.Namespaces, ","), clean(in.Source.Version), dash(b.Release),
					st.stamp(b.At), st.paint(colour, ended)}
				for i := range row {
					row[i] = cmp.Or(row[i], "-")
				}
				t.Row(row...)
			}
			if b.InProgress != "" {
				t.note(2, "in progress by "+clean(b.InProgress), cyan)
			}
			if b.Waits != nil {
				t.note(2, fmt.Sprintf("release %d %s", b.Waits.Release, b.Waits), yellow)
			}
			if st.Verbose > 0 && b.Author+b.Message != "" {
				t.note(2, strings.TrimSpace("by "+clean(b.Author)+" "+clean(b.Message)), dim)
			}
		}
	}
	t.write(o)
	why.write(o, "")
	return o.ended(l.Findings)
}

// phaseOf is how the delivery of an instance ended.
func phaseOf(b release.BundleListing, in release.InstanceListing) (string, ink) {
	text, c := "delivered", green
	switch {
	case b.InProgress != "":
		text, c = "in progress", cyan
	case len(b.MovedTo) > 0:
		text, c = "moved to "+strings.Join(b.MovedTo, ", "), dim
	case in.Ended == release.Failed:
		text, c = "failed", red
	case in.Ended == release.Written:
		text, c = "written, nobody waited", yellow
	case in.Ended.Open():
		text, c = "ended while "+string(in.Ended), yellow
	}
	if in.Suspended {
		text += ", suspended"
	}
	return text, c
}

// Inspected prints one part of an instance, module or resources; clusters where it is the same are told together.
func Inspected(w io.Writer, l *release.Listing, part string, st Style) error {
	o, l := laid(w, l, st)
	places := map[string][]string{}
	var texts []string
	why := newReasons()
	for _, c := range l.Clusters {
		why.add(c.Cluster, "not reached", c.Unreachable)
		why.add(c.Cluster, "unknown", c.Unknown)
		for _, b := range c.Bundles {
			for _, in := range b.Instances {
				text := inspected(b, in, part)
				if places[text] == nil {
					texts = append(texts, text)
				}
				places[text] = append(places[text], strings.TrimPrefix(cmp.Or(chosen(c.Cluster, c.Chosen), c.Cluster), " on cluster "))
			}
		}
	}
	why.write(o, "")
	for _, text := range texts {
		o.wrapped(0, "# "+strings.Join(places[text], ", "), dim)
		_, _ = o.WriteString(text)
	}
	return o.Flush()
}

func inspected(b release.BundleListing, in release.InstanceListing, part string) string {
	var s strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&s, "%-12s %s\n", name+":", clean(value))
		}
	}
	if part == "resources" {
		t := newTable([]string{"NAMESPACE", "NAME", "KIND", "APIVERSION"})
		for _, ob := range in.Objects {
			ns := ob.Namespace
			if ns == "" {
				ns = "-"
			}
			t.Row(ns, ob.Name, ob.Kind, ob.APIVersion)
		}
		o := newOut(&s, Style{})
		t.write(o)
		_ = o.Flush()
		return s.String()
	}
	field("bundle", b.Bundle)
	field("fleet", b.Fleet)
	field("instance", in.Instance)
	field("source", strings.TrimSpace(in.Source.Kind+" "+in.Source.Name))
	field("repository", in.Source.Repository)
	field("version", in.Source.Version)
	field("release", fmt.Sprintf("%s (revision %d of the cluster)", dash(b.Release), b.Revision))
	field("delivered", b.At.UTC().Format(time.RFC3339))
	field("by", b.Author)
	field("message", b.Message)
	field("inputs", in.Inputs)
	for _, name := range slices.Sorted(maps.Keys(b.Origins)) {
		field("value "+name, b.Origins[name])
	}
	return s.String()
}
