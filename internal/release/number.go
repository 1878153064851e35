package release

import (
	"cmp"
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// maxLeap is how far the number of a few clusters may be ahead of what more of them have: releases that went to a few alone,
// and no more.
const maxLeap = 10000

// Counted is the greatest of numbers that is believed, of one record for each cluster; 0, of no record, does not count. Numbers
// that leap ahead of all below them by more than maxLeap are not, where fewer have them than those below: one damaged or hostile
// cluster does not number the releases of the others. Where as many have them, nobody can tell.
func Counted(numbers []int) int {
	sorted := slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return n <= 0 })
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if above := len(sorted) - i; sorted[i]-sorted[i-1] > maxLeap && above < i {
			return sorted[i-1]
		}
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

// Agreed is the number of one release that most clusters say which it came to, of several the smallest: what one says is not
// believed for all. 0 says nothing.
func Agreed(numbers []int) int {
	said := map[int]int{}
	for _, n := range numbers {
		if n > 0 {
			said[n]++
		}
	}
	out := 0
	for n, times := range said {
		if out == 0 || times > said[out] || times == said[out] && n < out {
			out = n
		}
	}
	return out
}

// On is the record as that of a cluster, whatever name it says; nil for none.
func (r *Record) On(cluster string) *Record {
	if r == nil {
		return nil
	}
	on := *r
	on.Cluster = cluster
	return &on
}

func counted(records []*Record) int {
	numbers := make([]int, len(records))
	for i, r := range records {
		numbers[i] = r.Number()
	}
	return Counted(numbers)
}

// Leaping warns of the records whose number does not count, see Counted.
func Leaping(records []*Record) diag.Findings {
	var out diag.Findings
	highest := counted(records)
	for _, r := range records {
		if r.Number() <= highest {
			continue
		}
		f := diag.Warnf("leaping-number", "the record says release %d, and what other clusters have ends at %d: its number does not count", r.Number(), highest)
		f.Cluster, f.Why = r.Cluster, "nobody counts that far ahead of the others: the record is damaged, or somebody wrote it"
		f.Fix = "see who may write Secrets in hawser-system there; the next release that comes to it has the number of the others"
		out = append(out, f)
	}
	return out
}

// firstTry is the number of the first of the releases in a row that brought the same files as this one and did not end well, as the
// records of clusters tell; its own where the one before brought others, or nobody has that.
func (r Record) firstTry(records []*Record) int {
	first := r.Release
	for _, before := range records {
		switch {
		case before == nil || before.Number() < r.Release-1 || before.Number() > r.Release:
		case before.SourceDigest != r.SourceDigest || before.RollbackTo.String() != r.RollbackTo.String():
			if before.Number() == r.Release-1 {
				return r.Release // other files came in between
			}
		case before.Rollout == r.Rollout || before.Number() == r.Release-1 && (!before.Phase.Complete() || before.undecided()):
			first = min(first, cmp.Or(before.FirstTry, before.Number()))
		}
	}
	return first
}

// Continues is the number over the fleet and the rollout of a run whose records will be as next: selected are the records of
// its clusters, settled tells which of these it does not change, left are those of others as far as they were read, nil for none. It is the next number and next's own rollout,
// unless the run takes the newest release on to clusters that are not in it yet, as a pipeline does that goes
// wave by wave, as one that went until a wave and goes on, or after one that died: then it is that one. A rollback goes on with one to the same release, and
// a saved plan with what it began itself, also where that failed. Numbers that do not
// count (Leaping) are nobody's.
func Continues(next Record, selected, left []*Record, settled func(cluster string) bool) (number int, rollout string) {
	highest := counted(slices.Concat(selected, left))
	for i, r := range slices.Concat(left, selected) {
		if r == nil || r.Number() != highest {
			continue
		}
		goesOn := next.Phase == Applying && r.Rollout != "" && r.RollbackTo.String() == next.RollbackTo.String() &&
			(next.RollbackTo != nil || (r.Phase.Complete() || r.Phase == Applying && r.PlanFile == next.PlanFile) && r.SourceDigest == next.SourceDigest || next.PlanFile != "" && r.PlanFile == next.PlanFile)
		if i >= len(left) && (!goesOn || r.Phase.Complete() && !settled(r.Cluster)) { // it is in the release, and changed anew
			rollout = ""
			break
		}
		if goesOn && rollout == "" {
			rollout = r.Rollout
		}
	}
	if rollout != "" {
		return highest, rollout
	}
	return min(highest+1, MaxNumber), next.Rollout
}
