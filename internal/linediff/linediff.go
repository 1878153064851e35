// Package linediff compares two texts line by line, as a unified diff does.
//
// linediff must not know what the texts are, nor how a diff is printed.
package linediff

import "fmt"

// Hunk is one stretch of a unified diff: where it begins in both texts and how many lines of each it has. Lines begin with ' ', '-' or '+'.
type Hunk struct {
	OldAt, OldLen, NewAt, NewLen int
	Lines                        []string
}

// Head is the line before a hunk: "@@ -1,3 +1,4 @@".
func (h Hunk) Head() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldAt, h.OldLen, h.NewAt, h.NewLen)
}

// edit is one line of a comparison.
type edit struct {
	op   byte // ' ', '-', '+'
	text string
}

// Hunks compares two texts line by line and keeps context lines around what differs.
func Hunks(old, new []string, context int) []Hunk {
	edits := compare(old, new)
	var out []Hunk
	o, n := 1, 1 // line numbers of the next edit
	lastChange := -1
	var cur *Hunk
	for i, e := range edits {
		if e.op != ' ' {
			if cur == nil || i-lastChange > 2*context+1 {
				from := max(i-context, 0)
				if cur != nil {
					trim(cur, i-lastChange-1, context)
					from = max(from, lastChange+context+1)
				}
				back := i - from
				out = append(out, Hunk{OldAt: o - back, NewAt: n - back})
				cur = &out[len(out)-1]
				for _, b := range edits[from:i] {
					cur.add(b)
				}
			}
			lastChange = i
		}
		if cur != nil {
			cur.add(e)
		}
		if e.op != '+' {
			o++
		}
		if e.op != '-' {
			n++
		}
	}
	if cur != nil {
		trim(cur, len(edits)-1-lastChange, context)
	}
	return out
}

func (h *Hunk) add(e edit) {
	h.Lines = append(h.Lines, string(e.op)+e.text)
	if e.op != '+' {
		h.OldLen++
	}
	if e.op != '-' {
		h.NewLen++
	}
}

// trim leaves context of the unchanged lines that end a hunk.
func trim(h *Hunk, trailing, context int) {
	if drop := trailing - context; drop > 0 {
		h.Lines = h.Lines[:len(h.Lines)-drop]
		h.OldLen -= drop
		h.NewLen -= drop
	}
}

// maxEdits bounds the work of compare: texts that differ more are shown as replaced.
const maxEdits = 1000

// compare is the shortest edit of two texts (E. Myers, An O(ND) Difference Algorithm, 1986), after common beginning
// and end are set aside; beyond maxEdits edits everything between them counts as replaced.
func compare(old, new []string) []edit {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	var edits []edit
	for _, l := range old[:head] {
		edits = append(edits, edit{' ', l})
	}
	edits = append(edits, myers(old[head:len(old)-tail], new[head:len(new)-tail])...)
	for _, l := range old[len(old)-tail:] {
		edits = append(edits, edit{' ', l})
	}
	return edits
}

func myers(a, b []string) []edit {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+3)
	off := limit + 1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[off-d-1:off+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := v[off+k-1] + 1
			if k == -d || k != d && v[off+k-1] < v[off+k+1] {
				x = v[off+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[off+k] = x
			if x >= len(a) && y >= len(b) {
				return backtrack(a, b, trace)
			}
		}
	}
	var edits []edit
	for _, l := range a {
		edits = append(edits, edit{'-', l})
	}
	for _, l := range b {
		edits = append(edits, edit{'+', l})
	}
	return edits
}

// backtrack reads the edits off the furthest points of every round; round d is kept for diagonals -d-1..d+1.
func backtrack(a, b []string, trace [][]int) []edit {
	var rev []edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		v, off := trace[d], d+1
		k := x - y
		prev := k - 1
		if k == -d || k != d && v[off+k-1] < v[off+k+1] {
			prev = k + 1
		}
		px := v[off+prev]
		py := px - prev
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py && x > 0 && y > 0 && a[x-1] == b[y-1] {
			rev = append(rev, edit{' ', a[x-1]})
			x, y = x-1, y-1
		}
		switch {
		case d == 0:
		case x == px:
			rev = append(rev, edit{'+', b[y-1]})
			y--
		default:
			rev = append(rev, edit{'-', a[x-1]})
			x--
		}
	}
	for i, j := 0, len(rev)-1; i < j; i, j = i+1, j-1 {
		rev[i], rev[j] = rev[j], rev[i]
	}
	return rev
}
