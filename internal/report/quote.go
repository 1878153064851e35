package report

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// quote prints the line a position points at, with a caret under its column; of a Secret's declaration nothing.
func quote(o *out, pos diag.Pos, object string) {
	if o.st.ReadFile == nil || pos.Line == 0 || strings.HasPrefix(object, "Secret ") {
		return
	}
	data, err := o.st.ReadFile(pos.File)
	if err != nil {
		return
	}
	all := strings.Split(string(data), "\n")
	if pos.Line > len(all) || inSecret(pos.File, all, pos.Line-1) {
		return
	}
	text := strings.TrimRight(all[pos.Line-1], "\r")
	before := text
	if pos.Column > 0 && pos.Column-1 <= len(text) {
		before = text[:pos.Column-1]
	}
	expand := func(s string) string { return clean(strings.ReplaceAll(s, "\t", "  ")) }
	number := fmt.Sprintf("%6d | ", pos.Line)
	o.line(o.st.paint(dim, number), truncate(expand(text), o.st.width()-len(number), o.st.ellipsis()))
	if col := width(expand(before)); pos.Column > 0 && col < o.st.width()-len(number) {
		o.line(o.st.paint(dim, "       | "), strings.Repeat(" ", col), o.st.paint(red, "^"))
	}
}

var kindSecret = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret\b`)

// inSecret reports whether a line of YAML or JSON stands in a document that declares a Secret: one that cannot be
// parsed has no object to tell by.
func inSecret(name string, lines []string, at int) bool {
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name))) {
		return false
	}
	first, last := at, at
	for first > 0 && !strings.HasPrefix(lines[first], "---") {
		first--
	}
	for last++; last < len(lines) && !strings.HasPrefix(lines[last], "---"); last++ {
	}
	return slices.ContainsFunc(lines[first:last], kindSecret.MatchString)
}
