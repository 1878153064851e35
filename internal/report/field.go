package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/linediff"
	"hawser.dev/hawser/internal/plan"
)

const (
	wrapOver   = 60  // a longer value stands below its path
	cutOver    = 600 // a longer value that has no counterpart is cut, unless --full
	hunkLines  = 3   // unchanged lines around a change of a text
	elideFrom  = 34  // "old -> new" longer than this drops the path both share
	elideShare = 8   // when at least so many characters are shared
)

// field prints one changed field: on one line when it fits, else old and new below each other, texts as a hunk.
func (l layout) field(o *out, c plan.Change, f plan.FieldChange) {
	why := clean(fieldWhy(c, f, l.now))
	path := strings.Repeat(" ", colField) + l.path(c, f)
	switch v := inline(o.st, f); {
	case o.st.narrow() && v != "" && (f.Hidden || f.Stays || f.Old == "" || f.New == "") && width(at(path, l.value, v)) <= o.st.width():
		o.line(at(path, l.value, paintValue(o.st, f, v)))
	case o.st.narrow() && f.Hidden:
		o.line(path)
		o.wrapped(colField+2, v, "")
	case o.st.narrow():
		o.line(path)
		l.oldNew(o, f)
	case v != "":
		l.withWhy(o, at(path, l.value, paintValue(o.st, f, v)), l.why, colField+2, why)
		return
	default:
		l.withWhy(o, path, l.why, colField+2, why)
		l.oldNew(o, f)
		return
	}
	o.noted(colField+2, why, dim)
}

// oldNew prints old and new below each other, texts and long structures as hunks.
func (l layout) oldNew(o *out, f plan.FieldChange) {
	long := multiline(f.Old) || multiline(f.New) || width(f.Old) > wrapOver || width(f.New) > wrapOver
	old, new := lines(f.Old), lines(f.New)
	if !long || f.Old == "" || f.New == "" || len(old) == 1 && len(new) == 1 {
		if o.st.narrow() {
			f.Old, f.New = elideValues(o.st, f.Old, f.New)
		}
		below(o, "-", red, f.Old)
		below(o, "+", green, f.New)
		return
	}
	for _, h := range linediff.Hunks(old, new, hunkLines) {
		o.line(strings.Repeat(" ", colField+2), o.st.paint(cyan, h.Head()))
		for _, ln := range h.Lines {
			hunkLine(o, ln)
		}
	}
}

func hunkLine(o *out, ln string) {
	c := ink("")
	switch ln[0] {
	case '-':
		c = red
	case '+':
		c = green
	}
	indent, sign := strings.Repeat(" ", colField+2), ln[:1]
	rest := strings.TrimRight(clean(ln[1:]), " ")
	if rest == "" {
		o.line(strings.TrimRight(indent+o.st.paint(c, strings.TrimSpace(sign)), " "))
	}
	for _, part := range chunks(rest, max(20, o.st.width()-len(indent)-4)) {
		o.line(indent, o.st.paint(c, sign+" "+part))
		sign = " "
	}
}

// below prints a value under its path behind a sign, broken to the width.
func below(o *out, sign string, c ink, value string) {
	if value == "" {
		return
	}
	cutAway := 0
	if !o.st.Full && len(value) > cutOver {
		head := cut(value, cutOver-100)
		cutAway, value = len(value)-len(head), head
	}
	indent := strings.Repeat(" ", colField+2)
	for i, part := range chunks(clean(value), max(20, o.st.width()-len(indent)-4)) {
		if i > 0 {
			sign = " "
		}
		o.line(indent, o.st.paint(c, sign+" "+part))
	}
	if cutAway > 0 {
		o.line(indent, "  ", o.st.paint(dim, fmt.Sprintf("%s %d more bytes, --full shows them", o.st.ellipsis(), cutAway)))
	}
}

// path is the field's path as printed, in full when shortening would make two fields of the change look alike.
func (l layout) path(c plan.Change, f plan.FieldChange) string {
	short := elidePath(l.st, f.Path)
	if short == f.Path {
		return f.Path
	}
	for _, other := range c.Fields {
		if other.Path != f.Path && elidePath(l.st, other.Path) == short {
			return f.Path
		}
	}
	return short
}

// elidePath drops leading segments of a long path: "…containers[web].resources.limits.cpu".
func elidePath(st Style, path string) string {
	limit := maxPath
	if st.narrow() {
		limit = st.width() - colField
	}
	if st.Full || width(path) <= limit {
		return clean(path)
	}
	rest := path
	for {
		i := nextDot(rest)
		if i < 0 {
			return clean(path)
		}
		rest = rest[i+1:]
		if s := st.ellipsis() + rest; width(s) <= limit {
			return clean(s)
		}
	}
}

// nextDot finds the first dot outside brackets and quotes, -1 if there is none.
func nextDot(s string) int {
	depth, quoted := 0, false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i] == '[':
			depth++
		case s[i] == ']':
			depth--
		case s[i] == '.' && depth == 0:
			return i
		}
	}
	return -1
}

// inline is the change on one line, "3 -> 5", or "" when it has to stand below its path.
func inline(st Style, f plan.FieldChange) string {
	if f.Stays {
		return "stays as it is"
	}
	undeclared := map[bool]string{true: "declared no longer"}[f.Undeclared]
	if f.Hidden {
		does := cmp.Or(map[bool]string{true: "set"}[f.Added], map[bool]string{true: "removed"}[f.Removed], undeclared, "changed")
		return does + " (hidden" + strings.TrimSuffix(", from "+clean(f.Origin), ", from ") + ")"
	}
	old, new := elideValues(st, f.Old, f.New)
	if width(old) > wrapOver || width(new) > wrapOver || multiline(f.Old) || multiline(f.New) {
		return ""
	}
	return orUnset(old) + " -> " + cmp.Or(undeclared, orUnset(new))
}

func orUnset(v string) string { return cmp.Or(clean(v), "unset") }

// paintValue colours the two halves of "old -> new".
func paintValue(st Style, f plan.FieldChange, v string) string {
	old, new, ok := strings.Cut(v, " -> ")
	if !ok || f.Hidden || strings.Contains(new, " -> ") {
		return v
	}
	return st.paint(red, old) + " -> " + st.paint(green, new)
}

// elideValues drops the beginning two long strings share, up to a slash: "…/api:2.3.0" and "…/api:2.4.1".
func elideValues(st Style, old, new string) (string, string) {
	if st.Full || width(old)+width(new)+4 <= elideFrom || !isString(old) || !isString(new) {
		return old, new
	}
	both := columns.Shared(old, new)
	i := strings.LastIndexByte(both, '/')
	if i < elideShare {
		return old, new
	}
	return `"` + st.ellipsis() + old[i:], `"` + st.ellipsis() + new[i:]
}

func isString(v string) bool { return len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"' }

// multiline reports whether a compact JSON value is a string of several lines.
func multiline(v string) bool {
	return isString(v) && strings.Contains(strings.TrimSuffix(v[:len(v)-1], `\n`), `\n`)
}

// lines are a value's lines: those of a text, of an indented object or list, or the value itself.
func lines(v string) []string {
	switch {
	case multiline(v):
		var s string
		if json.Unmarshal([]byte(v), &s) == nil {
			return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		}
	case strings.HasPrefix(v, "{"), strings.HasPrefix(v, "["):
		var b bytes.Buffer
		if json.Indent(&b, []byte(v), "", "  ") == nil {
			return strings.Split(b.String(), "\n")
		}
	}
	return []string{v}
}

// fieldWhy says where a value comes from, or who set the one that goes.
func fieldWhy(c plan.Change, f plan.FieldChange, now time.Time) string {
	switch {
	case f.Stays && f.Manager == "":
		return "declared no longer; the cluster has it"
	case f.Stays:
		return strings.TrimSuffix("declared no longer; "+f.Manager+" has it, "+ago(f.Since, now), ", ")
	case f.Manager != "":
		why := "set by " + f.Manager
		if age := ago(f.Since, now); age != "" {
			why += ", " + age
		}
		if c.Action == plan.Update {
			why = "drift: " + why
		}
		return why
	case f.Hidden:
		return ""
	}
	return f.Origin
}
