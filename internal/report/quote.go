package report

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// quote prints the line a position points at, with a caret under its column; of a Secret's declaration nothing, nor a line with a secret.
func quote(o *out, pos diag.Pos, object string) {
	if o.st.ReadFile == nil || pos.Line == 0 || strings.HasPrefix(object, "Secret ") {
		return
	}
	q := o.quoted[pos.File]
	if q == nil {
		data, err := o.st.ReadFile(pos.File)
		if err != nil {
			return
		}
		q = diag.NewQuotable(pos.File, data)
		o.quoted[pos.File] = q
	}
	text, ok := q.Line(pos.Line, fleet.SecretLine)
	if !ok {
		return
	}
	before, placed := text, pos.Column > 0
	if pos.Column > 0 && pos.Column-1 <= len(text) {
		before = text[:pos.Column-1]
	}
	if m, is := o.to.(Masker); is {
		text, before = m.Hide(text), m.Hide(before)
		placed = placed && strings.HasPrefix(text, before) // else what is hidden goes over the place
	}
	if !placed {
		before = ""
	}
	expand := func(s string) string { return clean(strings.ReplaceAll(s, "\t", "  ")) }
	number := fmt.Sprintf("%6d | ", pos.Line)
	shown, col := columns.Around(expand(text), width(expand(before)), o.st.width()-len(number), o.st.ellipsis())
	o.line(o.st.paint(dim, number), shown)
	if placed {
		o.line(o.st.paint(dim, "       | "), strings.Repeat(" ", col), o.st.paint(red, "^"))
	}
}
