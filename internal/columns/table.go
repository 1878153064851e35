package columns

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Table lines up cells below a head. Notes stand between its rows and take the whole width.
type Table struct {
	rows  [][]string // the head first; a row of one cell is a note
	spare []string
}

// NewTable is a table with a head. Where there is no room for all columns, those of spare are left out, in that order.
func NewTable(head []string, spare ...string) *Table {
	return &Table{rows: [][]string{head}, spare: spare}
}

// Row adds a row, with a cell for each column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Note adds a note and returns its number.
func (t *Table) Note(text string) int {
	t.rows = append(t.rows, []string{text})
	return len(t.rows) - 1
}

// Line is one line of a table, or the whole text of a note: Note is its number, 0 for rows.
type Line struct {
	Text string
	Note int
}

// A column gives way first until it has roomy columns; then what is spare is left out, and the rest shrinks to narrow ones.
const (
	roomy  = 24
	narrow = 8
)

// Lines are the lines of the table; in cols columns, where these are not 0: cells are shortened, an address in front, and
// never broken. A table without rows has no head.
func (t *Table) Lines(cols int, ellipsis string) []Line {
	rows := slices.Clone(t.rows)
	if !slices.ContainsFunc(rows[1:], func(r []string) bool { return len(r) > 1 }) {
		rows[0] = nil
	}
	widths := t.fit(rows, cols)
	var out []Line
	for n, r := range rows {
		if len(r) == 1 {
			out = append(out, Line{r[0], n})
			continue
		}
		var line strings.Builder
		for i, c := range r {
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(Pad(short(c, widths[i], ellipsis), widths[i]))
		}
		if len(r) > 0 {
			out = append(out, Line{strings.TrimRight(line.String(), " "), 0})
		}
	}
	return out
}

// fit finds the columns' widths, and leaves out of the rows what there is no room for.
func (t *Table) fit(rows [][]string, cols int) []int {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			if len(r) > 1 {
				widths[i] = max(widths[i], Width(c))
			}
		}
	}
	over := func() int {
		sum := 2 * (len(widths) - 1)
		for _, w := range widths {
			sum += w
		}
		return sum - cols
	}
	shrink := func(least int) {
		for cols > 0 && over() > 0 && slices.Max(widths) > least {
			i := slices.Index(widths, slices.Max(widths))
			widths[i]--
		}
	}
	if len(widths) == 0 {
		return nil
	}
	shrink(roomy)
	for _, name := range t.spare {
		i := slices.Index(rows[0], name)
		if cols == 0 || over() <= 0 || i < 0 {
			continue
		}
		for n, r := range rows {
			if len(r) > 1 {
				rows[n] = slices.Delete(slices.Clone(r), i, i+1)
			}
		}
		widths = slices.Delete(widths, i, i+1)
	}
	shrink(narrow)
	return widths
}

// short is a cell in so many columns: an address loses its beginning, everything else its end.
func short(s string, cols int, ellipsis string) string {
	if Width(s) <= cols || !strings.Contains(s, "://") {
		return Truncate(s, cols, ellipsis)
	}
	for Width(s) > cols-Width(ellipsis) {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return ellipsis + s
}
