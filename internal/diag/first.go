package diag

import "slices"

// CodeMore is the code of the finding that stands for those that are left out.
const CodeMore = "more-findings"

// First are the n most severe findings, in their order, and one more that says how many are left out. n is at least 1.
func (fs Findings) First(n int) Findings {
	if len(fs) <= n {
		return fs
	}
	out := slices.Concat(fs.Errors(), fs.Warnings(), fs.of(Info))[:n]
	more := Warnf(CodeMore, "and %s, which %s left out", Counted(len(fs)-n, "more finding"), map[bool]string{true: "is", false: "are"}[len(fs)-n == 1])
	more.Fix = "correct these first, or narrow the selection"
	return append(out, more)
}
