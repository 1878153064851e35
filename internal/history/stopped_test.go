package history

import (
	"testing"

	"hawser.dev/hawser/internal/release"
)

// A failure stays one for a driver that is no person, while what it is made of is the same; a person tries again, and what was cut short has
// not failed.
func TestStaysStopped(t *testing.T) {
	failed := release.Record{Phase: release.Failed, Release: 2, SourceDigest: "new", Unfinished: []string{"web"}}
	cut, done, older, back := failed, failed, failed, failed
	cut.Unfinished = nil
	done.Phase, done.Unfinished = release.Succeeded, nil
	older.SourceDigest = "old"
	back.Phase, back.Unfinished, back.SourceDigest, back.Undoes, back.Undone = release.Succeeded, nil, "old", "r2", "new"
	for name, c := range map[string]struct {
		records    []*release.Record
		unattended bool
		want       int
	}{
		"failed":               {[]*release.Record{&failed}, true, 1},
		"failed, by a person":  {[]*release.Record{&failed}, false, 0},
		"cut short":            {[]*release.Record{&cut}, true, 0},
		"succeeded":            {[]*release.Record{&done}, true, 0},
		"made of other things": {[]*release.Record{&older}, true, 0},
		"gone back from":       {[]*release.Record{nil, &back, &done}, true, 1},
		"no record":            {[]*release.Record{nil}, true, 0},
		"on two of three":      {[]*release.Record{&failed, &done, &failed}, true, 2},
	} {
		if fs := StaysStopped(c.unattended, c.records, "new"); len(fs) != c.want || c.want > 0 && (fs[0].Why == "" || fs[0].Code != CodeStaysStopped) {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// Of a run that goes back by itself each cluster that nobody knows of is found by name, and no other one, nor one that it does not go to.
func TestUnlooked(t *testing.T) {
	silent, hidden, beside := Cluster{Name: "b", Unreachable: "503"}, Cluster{Name: "c", Unknown: "forbidden"}, Cluster{Name: "d", Unreachable: "503", Beside: true}
	got := ""
	for _, f := range Unlooked([]Cluster{keeps("a", rec(1, 1, release.Failed)), silent, hidden, beside}) {
		got += f.Cluster + ": " + f.Why + "; "
	}
	if got != "b: 503; c: forbidden; " {
		t.Error(got)
	}
}
