package release

// Continues is the number over the fleet and the rollout of a run whose records will be as next: selected are the records of
// its clusters, left those of others as far as they were read, nil for none. It is the next number and next's own rollout,
// unless the run takes the newest release of the others on to clusters that are not in it yet, as a pipeline does that goes
// wave by wave: then it is theirs.
func Continues(next Record, selected, left []*Record) (number int, rollout string) {
	newest := 0
	for _, r := range left {
		newest = max(newest, r.Number())
	}
	highest := newest
	for _, r := range selected {
		highest = max(highest, r.Number())
	}
	inIt := false
	for _, r := range selected {
		inIt = inIt || r.Number() == newest
	}
	for _, r := range left {
		if r.Number() == newest && newest == highest && !inIt && next.Phase == Applying && r.Phase.Complete() && r.Head == next.Head && r.RollbackTo.String() == next.RollbackTo.String() && r.Rollout != "" {
			return newest, r.Rollout
		}
	}
	return min(highest+1, MaxNumber), next.Rollout
}
