package report

import (
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/source"
)

// Locked prints what hawser.lock pins, one line per source, and how that differs from before.
func Locked(w io.Writer, r *fleetplan.LockReport, st Style) error {
	o, r := laid(w, r, st)
	for _, s := range r.Sources {
		pin := strings.TrimSpace(s.Version + " " + s.Digest)
		switch {
		case s.Dropped:
			o.line(clean(s.Source), " ", st.paint(dim, "(no longer used)"))
		case s.Was == nil:
			o.line(clean(s.Source), " ", clean(pin), " ", st.paint(green, "(new)"))
		case s.Was.Digest != s.Digest:
			o.line(clean(s.Source), " ", clean(pin), " ", st.paint(yellow, "(was "+pinnedBeside(s.Was, &lockfile.Pin{Version: s.Version, Digest: s.Digest}, st)+")"))
		default:
			o.line(clean(s.Source), " ", clean(pin))
		}
	}
	return o.Flush()
}

// Outdated prints how every source stands to what there is.
func Outdated(w io.Writer, r *fleetplan.OutdatedReport, st Style) error {
	o, r := laid(w, r, st)
	t := newTable([]string{"INSTANCE", "SOURCE", "WANTED", "PINNED", "IN RANGE", "NEWEST", "STATE"}, "WANTED")
	for _, s := range r.Sources {
		k := green
		switch {
		case s.Verdict == source.Unknown:
			k = red
		case s.Newer():
			k = yellow
		case s.Verdict != source.Current:
			k = dim
		}
		t.Row(or(clean(strings.Join(s.Instances, ", ")), "-"), clean(s.Source), or(clean(s.Want), "-"), pinnedBeside(s.Locked, s.Newest, st), pinnedBeside(s.Newest, s.Locked, st), pinned(s.Overall, st),
			st.paint(k, diag.Words(string(s.Verdict))))
		if s.Problem != "" {
			t.note(2, s.Problem, red)
		}
	}
	t.write(o)
	if len(r.Sources) == 0 {
		o.line("The bundle has no sources.")
	}
	return o.Flush()
}

// Table prints rows of plain text below their head; where there is no room for all columns, those of spare are left out, in that order.
func Table(w io.Writer, head []string, rows [][]string, st Style, spare ...string) error {
	o, t := newOut(w, st), newTable(head, spare...)
	if len(head) == 1 && len(rows) > 0 { // a row of one cell would be a note
		o.line(head[0])
	}
	for _, r := range rows {
		t.Row(columns.Cleaned(r)...)
	}
	t.write(o)
	return o.Flush()
}

// pinned is a version, or the digest of what has none.
func pinned(p *lockfile.Pin, st Style) string {
	switch {
	case p == nil:
		return "-"
	case p.Version == "" || strings.HasPrefix(p.Version, "0.0.0-"):
		return st.shortDigest(p.Digest)
	}
	return clean(p.Version)
}

// pinnedBeside is pinned, with the digest too where another pin of the same version has other content.
func pinnedBeside(p, other *lockfile.Pin, st Style) string {
	text := pinned(p, st)
	if p != nil && other != nil && p.Version == other.Version && p.Digest != other.Digest && text == clean(p.Version) {
		text += " " + st.shortDigest(p.Digest)
	}
	return text
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Pinned is the line that ends lock: "3 sources pinned in hawser.lock".
func Pinned(r *fleetplan.LockReport) string {
	n := 0
	for _, s := range r.Sources {
		if !s.Dropped {
			n++
		}
	}
	return fmt.Sprintf("%s pinned in %s", count(n, "source"), r.File)
}
