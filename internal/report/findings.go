package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/nextstep"
	"hawser.dev/hawser/internal/redact"
)

// Findings prints findings for people: what, where (with the line of the file when it can be read), why, fix. The
// same finding on several clusters is said once.
func Findings(w io.Writer, fs diag.Findings, st Style) error {
	o, fs := laid(w, fs, st)
	writeFindings(o, shown(fs, st))
	return o.Flush()
}

// alike are findings that say the same of several objects.
type alike struct {
	diag.Merged
	// others are those after the first.
	others []diag.Merged
}

// grouped puts findings together that differ by object, place and reason alone, each at the first one's place. Findings
// about a field stand for themselves.
func grouped(list []diag.Merged) []alike {
	var out []alike
	index := map[string]int{}
	for _, f := range list {
		key := strings.Join([]string{string(f.Severity), f.Code, f.What, f.Fix, strings.Join(f.Clusters, " ")}, "\x00")
		i, ok := index[key]
		if ok && f.Object != "" && f.Path == "" {
			out[i].others = append(out[i].others, f)
			continue
		}
		if f.Object != "" && f.Path == "" {
			index[key] = len(out)
		}
		out = append(out, alike{Merged: f})
	}
	return out
}

// maxFindings is how many messages, and objects of one message, are told before the rest is a number: one mistake of a
// generator may be in thousands of documents.
const maxFindings = 100

func writeFindings(o *out, fs diag.Findings) {
	all := grouped(shown(fs, o.st).Merge())
	for i, f := range all {
		if i > 0 {
			o.line()
		}
		if i == maxFindings { // errors come first
			o.line(fmt.Sprintf("and %d more; -o json has more of them", len(all)-i))
			return
		}
		finding(o, f)
	}
}

func finding(o *out, f alike) {
	label, c := labelOf(f.Finding, o.st), cmp.Or(inkOf[f.Severity], red)
	if len(f.others) == 0 {
		headline(o, label+":", c, clean(f.What))
		place(o, f.Merged)
		labelled(o, "Why: ", f.Why)
	} else {
		headline(o, label+":", c, fmt.Sprintf("%s (%s)", clean(f.What), count(len(f.others)+1, "object")))
		f.each(o)
	}
	labelled(o, "Fix: ", f.Fix)
}

// inkOf is the colour of a finding's label.
var inkOf = map[diag.Severity]ink{diag.Warning: yellow, diag.Info: cyan}

// labelOf is what a finding begins with.
func labelOf(f diag.Finding, st Style) string {
	label := cmp.Or(map[diag.Severity]string{diag.Warning: "Warning", diag.Info: "Note"}[f.Severity], "Error")
	if st.Verbose > 0 && f.Code != "" {
		label += " [" + f.Code + "]"
	}
	return label
}

// each prints the objects of a group a line each, and what all of them share once.
func (f alike) each(o *out) {
	common := f.Merged
	for _, x := range f.others {
		if x.Why != f.Why {
			common.Why = ""
		}
		if x.Instance != f.Instance {
			common.Instance = ""
		}
	}
	for i, x := range append([]diag.Merged{f.Merged}, f.others...) {
		if i == maxFindings {
			o.wrapped(2, fmt.Sprintf("and %d more", len(f.others)+1-i), "")
			break
		}
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
	for i, l := range wrap(label+" "+nextstep.Completed(text, o.st.Access), o.st.width()) {
		if rest, ok := strings.CutPrefix(l, label+" "); ok && i == 0 {
			l = o.st.paint(c, label) + " " + o.st.paint(bold, rest)
		}
		o.line(l)
	}
}

// place prints where a finding is: file and line with its text, data path, object, clusters.
func place(o *out, f diag.Merged) {
	var where []string
	if f.Pos.IsValid() {
		where = append(where, "--> "+f.Pos.String())
	}
	if f.Path != "" {
		where = append(where, clean(f.Path))
	}
	if len(where) > 0 {
		o.line("  ", strings.Join(where, "  "))
		if !unquoted(f) {
			quote(o, f.Pos, f.Object)
		}
	}
	where = nil
	if f.Object != "" {
		where = append(where, clean(f.Object))
	}
	if f.Instance != "" {
		where = append(where, "instance "+f.Instance)
	}
	switch len(f.Clusters) {
	case 0:
	case 1:
		where = append(where, "cluster "+f.Clusters[0])
	default:
		where = append(where, count(len(f.Clusters), "cluster")+": "+Names(f.Clusters))
	}
	if len(where) > 0 {
		o.wrapped(2, strings.Join(where, ", "), "")
	}
}

// unquoted reports whether the line of a finding is not quoted: what stands around a text that was meant as a reference may be a
// password, and what a bytes literal holds is hidden in findings.
func unquoted(f diag.Merged) bool {
	return f.Code == diag.CodeNoReference || strings.Contains(f.What+f.Why, "'"+redact.Mask+"'") || strings.HasSuffix(f.What, "is bytes")
}

func labelled(o *out, label, text string) {
	if text == "" {
		return
	}
	paras, hang := strings.Split(strings.TrimRight(text, "\n"), "\n"), ""
	if len(paras) > 1 {
		hang = "  " // so that one can tell where the next begins
	}
	for _, para := range paras {
		for i, l := range wrap(nextstep.Completed(clean(para), o.st.Access), max(20, o.st.width()-2-len(label)-len(hang))) {
			if i > 0 {
				l = hang + l
			}
			o.line("  ", o.st.paint(dim, label), l)
			label = strings.Repeat(" ", len(label))
		}
	}
}
