//go:build bench

package bench

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// line is one line of the table. Lines are sorted by row, then as they came.
type line struct {
	row                  int
	what, figure, budget string
	verdict              string
}

var (
	linesMu sync.Mutex
	lines   []line
)

func add(l line) {
	linesMu.Lock()
	defer linesMu.Unlock()
	lines = append(lines, l)
}

// timed prints a time or a ratio with a mark; it never fails.
func timed(t *testing.T, row int, what, figure, budget string, ok bool) {
	t.Helper()
	verdict := "pass"
	if !ok {
		verdict = "over"
	}
	add(line{row, what, figure, budget, verdict})
	t.Logf("%d. %s: %s (budget %s): %s", row, what, figure, budget, verdict)
}

// counted prints what is the same in every run, and fails the test when it is off.
func counted(t *testing.T, row int, what, figure, budget string, ok bool) {
	t.Helper()
	verdict := "pass"
	if !ok {
		verdict = "FAIL"
		t.Errorf("%d. %s: %s, budget %s", row, what, figure, budget)
	}
	add(line{row, what, figure, budget, verdict})
}

// noted prints a figure without a budget.
func noted(t *testing.T, row int, what, figure string) {
	t.Helper()
	add(line{row, what, figure, "", ""})
	t.Logf("%d. %s: %s", row, what, figure)
}

// against prints the ratio of the product's times to the floor's: that of the medians, with the range of each.
func against(t *testing.T, row int, what string, product, floor []time.Duration, budget float64) {
	t.Helper()
	ratio := float64(median(product)) / float64(max(median(floor), 1))
	figure := fmt.Sprintf("%.2f x floor (%s; floor %s)", ratio, spread(product), spread(floor))
	timed(t, row, what, figure, fmt.Sprintf("%.2f x", budget), ratio <= budget)
}

// within prints a median time against a budget.
func within(t *testing.T, row int, what string, times []time.Duration, budget time.Duration) {
	t.Helper()
	timed(t, row, what, spread(times), budget.String(), median(times) <= budget)
}

// spread is a median with its range: "412 ms [398-455]".
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d ms [%d-%d]", median(times).Milliseconds(), slices.Min(times).Milliseconds(), slices.Max(times).Milliseconds())
}

// table is all of it in Markdown.
func table() string {
	linesMu.Lock()
	defer linesMu.Unlock()
	slices.SortStableFunc(lines, func(a, b line) int { return a.row - b.row })
	var b strings.Builder
	b.WriteString("| Row | What | Figure | Budget | Verdict |\n|---|---|---|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", l.row, l.what, l.figure, l.budget, l.verdict)
	}
	return b.String()
}
