package release

import "testing"

// A failure stays one for a driver that is no person, while what it is made of is the same; a person tries again, and what was cut short has
// not failed.
func TestStaysStopped(t *testing.T) {
	failed := Record{Phase: Failed, Release: 2, SourceDigest: "new", Unfinished: []string{"web"}}
	cut, done, older, back := failed, failed, failed, failed
	cut.Unfinished = nil
	done.Phase, done.Unfinished = Succeeded, nil
	older.SourceDigest = "old"
	back.Phase, back.Unfinished, back.SourceDigest, back.Undoes, back.Undone = Succeeded, nil, "old", "r2", "new"
	for name, c := range map[string]struct {
		records    []*Record
		unattended bool
		want       int
	}{
		"failed":               {[]*Record{&failed}, true, 1},
		"failed, by a person":  {[]*Record{&failed}, false, 0},
		"cut short":            {[]*Record{&cut}, true, 0},
		"succeeded":            {[]*Record{&done}, true, 0},
		"made of other things": {[]*Record{&older}, true, 0},
		"gone back from":       {[]*Record{nil, &back, &done}, true, 1},
		"no record":            {[]*Record{nil}, true, 0},
		"on two of three":      {[]*Record{&failed, &done, &failed}, true, 2},
	} {
		if fs := StaysStopped(c.unattended, c.records, "new"); len(fs) != c.want || c.want > 0 && (fs[0].Why == "" || fs[0].Code != CodeStaysStopped) {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
