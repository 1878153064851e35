package report

import (
	"io"
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

// merge puts findings that differ by cluster alone together, in their sorted order.
func merge(fs diag.Findings) []merged {
	var list []merged
	index := map[diag.Finding]int{}
	for _, f := range fs.Sorted() {
		key := f
		key.Cluster = ""
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, merged{Finding: key})
		}
		if f.Cluster != "" {
			list[i].clusters = append(list[i].clusters, f.Cluster)
		}
	}
	return list
}

func writeFindings(o *out, fs diag.Findings) {
	for i, f := range merge(shown(fs, o.st)) {
		if i > 0 {
			o.line()
		}
		finding(o, f)
	}
}

func finding(o *out, f merged) {
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
	headline(o, label+":", c, clean(f.What))
	place(o, f)
	labelled(o, "Why: ", f.Why)
	labelled(o, "Fix: ", f.Fix)
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
