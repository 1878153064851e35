package diag

import "strings"

// Nearest returns the candidate a misspelled name most likely means, "" when none is close: at most one edit per
// three characters, letter case not counted. The first of equally close candidates wins.
func Nearest(name string, candidates []string) string {
	lower := strings.ToLower(name)
	best, bestDistance := "", len(lower)/3+1
	for _, c := range candidates {
		if d := distance(lower, strings.ToLower(c)); d < bestDistance || d == 0 && c != name {
			best, bestDistance = c, d
		}
	}
	return best
}

// didYouMean begins such a Fix.
const didYouMean = "did you mean "

// DidYouMean is Nearest as a Fix: `did you mean "replicas"?`, "" when nothing is close.
func DidYouMean(name string, candidates []string) string {
	if best := Nearest(name, candidates); best != "" {
		return didYouMean + `"` + best + `"?`
	}
	return ""
}

// Meant is a finding that something of that name is not there, with the nearest of the names that are.
func (f Finding) Meant(name string, names []string) Finding {
	if near := Nearest(name, names); near != "" && near != name {
		f.Fix = strings.TrimSuffix(didYouMean+near+"? "+f.Fix, " ")
	}
	return f
}

// distance is the optimal string alignment distance: edits and swaps of neighbours (Damerau's restricted form).
func distance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
