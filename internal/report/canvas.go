package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/columns"
)

// canvas repaints a block of lines at the end of a terminal's output, one write per frame: the cursor goes up over
// the old block, every line is overwritten and cleared to its end, what is left below is cleared. Nothing is erased
// before it is overwritten, so nothing flickers.
type canvas struct {
	w     io.Writer
	lines []string // as painted last
	cols  int      // columns they were cut to
}

// paint replaces the block. Lines are cut to the columns by display width, so that each takes one row.
func (c *canvas) paint(lines []string, cols int) {
	if len(lines) == 0 && len(c.lines) == 0 {
		return
	}
	cut := make([]string, len(lines))
	for i, l := range lines {
		cut[i] = truncate(columns.Painted(l), max(cols-1, 10), "…")
	}
	if cols == c.cols && slices.Equal(cut, c.lines) {
		return
	}
	var b strings.Builder
	b.WriteString(c.up(cols))
	for _, l := range cut {
		b.WriteString(l + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	_, _ = io.WriteString(c.w, b.String())
	c.lines, c.cols = cut, cols
}

// clear takes the block away.
func (c *canvas) clear(cols int) {
	if len(c.lines) == 0 {
		return
	}
	_, _ = io.WriteString(c.w, c.up(cols)+"\x1b[J")
	c.lines = nil
}

// print writes a line that stays; the block must be cleared.
func (c *canvas) print(line string) { _, _ = io.WriteString(c.w, clean(line)+"\n") }

// up moves the cursor to the first column of the old block. After a resize a terminal may have broken its lines
// anew: then they take more rows than lines.
func (c *canvas) up(cols int) string {
	rows := 0
	for _, l := range c.lines {
		rows++
		if w := width(l); cols > 0 && w > cols {
			rows += (w - 1) / cols
		}
	}
	if rows == 0 {
		return "\r"
	}
	return fmt.Sprintf("\x1b[%dA\r", rows)
}
