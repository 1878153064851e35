package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Findings prints findings for people: what, where (with the line of the file when it can be read), why, fix. The
// same finding on several clusters is said once.
func Findings(w io.Writer, fs diag.Findings, st Style) error {
	o := newOut(w, st)
	writeFindings(o, shown(fs, st))
	return o.Flush()
}

// merged is one finding and the clusters it was made on.
type merged struct {
	diag.Finding
	clusters []string
}

// merge puts findings together that differ by cluster alone, in their sorted order: by its name, its addresses, ages and the
// place where the cluster is declared.
func merge(fs diag.Findings) []merged {
	var list []merged
	index := map[diag.Finding][]int{}
	for _, f := range fs.Sorted() {
		key := f
		key.Cluster, key.Pos = "", diag.Pos{}
		key.What, key.Why, key.Fix = diag.Neutral(f.What, f.Cluster), diag.Neutral(f.Why, f.Cluster), diag.Neutral(f.Fix, f.Cluster)
		i := slices.IndexFunc(index[key], func(i int) bool { return list[i].takes(f) })
		if i >= 0 {
			list[index[key][i]].take(f, key)
			continue
		}
		index[key] = append(index[key], len(list))
		m := merged{Finding: f}
		if m.Cluster = ""; f.Cluster != "" {
			m.clusters = []string{f.Cluster}
		}
		list = append(list, m)
	}
	return list
}

// takes reports whether a finding that says the same is one more cluster's, and not the same mistake at another place.
func (m merged) takes(f diag.Finding) bool {
	if f.Cluster == "" || len(m.clusters) == 0 {
		return f.Pos == m.Pos && f.Cluster == "" && len(m.clusters) == 0
	}
	return !slices.Contains(m.clusters, f.Cluster)
}

// take adds a cluster; what is not the same there is told without the difference.
func (m *merged) take(f, key diag.Finding) {
	if f.Cluster != "" {
		m.clusters = append(m.clusters, f.Cluster)
	}
	if m.Pos != f.Pos {
		m.Pos = diag.Pos{}
	}
	for _, t := range []struct {
		text      *string
		other, is string
	}{{&m.What, f.What, key.What}, {&m.Why, f.Why, key.Why}, {&m.Fix, f.Fix, key.Fix}} {
		if *t.text != t.other {
			*t.text = t.is
		}
	}
}

// alike are findings that say the same of several objects.
type alike struct {
	merged
	// others are those after the first.
	others []merged
}

// grouped puts findings together that differ by object, place and reason alone, each at the first one's place. Findings
// about a field stand for themselves.
func grouped(list []merged) []alike {
	var out []alike
	index := map[string]int{}
	for _, f := range list {
		key := strings.Join([]string{string(f.Severity), f.Code, f.What, f.Fix, strings.Join(f.clusters, " ")}, "\x00")
		i, ok := index[key]
		if ok && f.Object != "" && f.Path == "" {
			out[i].others = append(out[i].others, f)
			continue
		}
		if f.Object != "" && f.Path == "" {
			index[key] = len(out)
		}
		out = append(out, alike{merged: f})
	}
	return out
}

func writeFindings(o *out, fs diag.Findings) {
	for i, f := range grouped(merge(shown(fs, o.st))) {
		if i > 0 {
			o.line()
		}
		finding(o, f)
	}
}

func finding(o *out, f alike) {
	label, c := "Error", red
	switch f.Severity {
	case diag.Warning:
		label, c = "Warning", yellow
	case diag.Info:
		label, c = "Note", cyan
	}
	if o.st.Verbose > 0 && f.Code != "" {
		label += " [" + f.Code + "]"
	}
	if len(f.others) == 0 {
		headline(o, label+":", c, clean(f.What))
		place(o, f.merged)
		labelled(o, "Why: ", f.Why)
	} else {
		headline(o, label+":", c, fmt.Sprintf("%s (%s)", clean(f.What), count(len(f.others)+1, "object")))
		f.each(o)
	}
	labelled(o, "Fix: ", f.Fix)
}

// each prints the objects of a group a line each, and what all of them share once.
func (f alike) each(o *out) {
	common := f.merged
	for _, x := range f.others {
		if x.Why != f.Why {
			common.Why = ""
		}
		if x.Instance != f.Instance {
			common.Instance = ""
		}
	}
	for _, x := range append([]merged{f.merged}, f.others...) {
		text := clean(x.Object)
		if x.Instance != common.Instance {
			text += ", instance " + x.Instance
		}
		if x.Pos.IsValid() {
			text += " (" + shortPos(x.Pos.String(), x.Pos.Column) + ")"
		}
		if x.Why != common.Why {
			text += ": " + clean(strings.ReplaceAll(x.Why, "\n", "; "))
		}
		o.wrapped(2, text, "")
	}
	common.Pos, common.Object = diag.Pos{}, ""
	place(o, common)
	labelled(o, "Why: ", common.Why)
}

// headline prints a coloured label and a sentence, broken to the width.
func headline(o *out, label string, c ink, text string) {
	for i, l := range wrap(label+" "+text, o.st.width()) {
		if rest, ok := strings.CutPrefix(l, label+" "); ok && i == 0 {
			l = o.st.paint(c, label) + " " + o.st.paint(bold, rest)
		}
		o.line(l)
	}
}

// place prints where a finding is: file and line with its text, data path, object, clusters.
func place(o *out, f merged) {
	var where []string
	if f.Pos.IsValid() {
		where = append(where, "--> "+f.Pos.String())
	}
	if f.Path != "" {
		where = append(where, clean(f.Path))
	}
	if len(where) > 0 {
		o.line("  ", strings.Join(where, "  "))
		quote(o, f.Pos, f.Object)
	}
	where = nil
	if f.Object != "" {
		where = append(where, clean(f.Object))
	}
	if f.Instance != "" {
		where = append(where, "instance "+f.Instance)
	}
	switch len(f.clusters) {
	case 0:
	case 1:
		where = append(where, "cluster "+f.clusters[0])
	default:
		where = append(where, count(len(f.clusters), "cluster")+": "+Names(f.clusters))
	}
	if len(where) > 0 {
		o.wrapped(2, strings.Join(where, ", "), "")
	}
}

func labelled(o *out, label, text string) {
	if text == "" {
		return
	}
	for _, para := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		for _, l := range wrap(clean(para), max(20, o.st.width()-2-len(label))) {
			o.line("  ", o.st.paint(dim, label), l)
			label = strings.Repeat(" ", len(label))
		}
	}
}
