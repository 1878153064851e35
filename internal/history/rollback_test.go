package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

func TestBack(t *testing.T) {
	const ok, bad, open, written = release.Succeeded, release.Failed, release.Applying, release.Written
	back := func(r release.Record, to int) release.Record {
		r.RollbackTo = &release.Name{Release: to, Rollout: rec(1, to, ok).Rollout}
		r.SourceDigest = rec(1, to, ok).SourceDigest
		return r
	}
	numberless := func(revision int) release.Record {
		r := rec(revision, revision, ok)
		r.Release = 0
		return r
	}
	corrected := func(r release.Record, ended release.Phase) release.Record {
		return r.Corrected(release.Record{Rollout: "C"}, release.Record{Phase: ended, Started: epoch.Add(9 * time.Hour)}, nil)
	}
	backs(t, map[string]backCase{
		"a correction of the one before failed":     {clusters: []Cluster{keeps("a", rec(3, 3, ok), corrected(rec(2, 2, ok), bad), rec(1, 1, ok)), keeps("b", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, want: "R2 a:R2 b:R2"},
		"a correction of the one before died":       {clusters: []Cluster{keeps("a", rec(3, 3, ok), corrected(rec(2, 2, ok), open), rec(1, 1, ok))}, want: "R2 a:R2"},
		"nobody waited for its correction":          {clusters: []Cluster{keeps("a", rec(3, 3, ok), corrected(rec(2, 2, ok), written), rec(1, 1, ok))}, want: "R2 a:R2"},
		"its correction was waited for, it was not": {clusters: []Cluster{keeps("a", rec(3, 3, ok), corrected(rec(2, 2, written), ok), rec(1, 1, ok))}, want: "R1 a:R1"},
		"the one before":                            {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1 b:R1"},
		"b was never in the newest":                 {clusters: []Cluster{keeps("a", rec(2, 2, bad), rec(1, 1, ok)), keeps("b", rec(1, 1, ok))}, want: "R1 a:R1 b:R1"},
		"b skipped the one before":                  {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(2, 3, ok), rec(1, 1, ok))}, want: "R2 a:R2 b:R1", codes: "skipped-release@b"},
		"b had nothing then":                        {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(1, 2, ok))}, want: "R1 a:R1 b:-", codes: "skipped-release@b"},
		"c never had anything":                      {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("c")}, want: "R1 a:R1 c:-"},
		"by number":                                 {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, to: "1", want: "R1 a:R1"},
		"by rollout":                                {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, to: "r1", want: "R1 a:R1"},
		"the newest itself":                         {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(1, 1, ok))}, to: "2", want: "R2 a:R2 b:R1", codes: "skipped-release@b"},
		"one number, two runs":                      {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", func() release.Record { r := rec(1, 2, ok); r.Rollout = "X2"; return r }())}, want: "R1 a:R1 b:-", codes: "skipped-release@b"},
		"releases without numbers":                  {clusters: []Cluster{keeps("a", numberless(2), numberless(1))}, want: "R1 a:R1"},
		"there and back":                            {clusters: []Cluster{keeps("a", back(rec(3, 3, ok), 1), rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1", codes: "already-back@"},
		"and further":                               {clusters: []Cluster{keeps("a", back(rec(3, 3, ok), 1), rec(2, 2, ok), rec(1, 1, ok))}, to: "2", want: "R2 a:R2"},
		"a rollback that failed goes on":            {clusters: []Cluster{keeps("a", back(rec(3, 3, bad), 1), rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1"},
		"one that has not come to b goes on": {clusters: []Cluster{keeps("a", back(rec(3, 3, ok), 1), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(2, 2, ok), rec(1, 1, ok))},
			want: "R1 a:R1 b:R1"},
		"one that died goes on":                         {clusters: []Cluster{keeps("a", back(rec(3, 3, open), 1), rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1"},
		"it had failed here":                            {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, bad)), keeps("b", rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1 b:R1", codes: "failed-release@a"},
		"it has not ended here":                         {clusters: []Cluster{keeps("a", rec(2, 2, open), rec(1, 1, ok)), keeps("b", rec(2, 2, ok), rec(1, 1, ok))}, to: "2", want: "R2 a:R2 b:R2", codes: "release-open@a"},
		"it is not kept here":                           {clusters: []Cluster{keeps("a", rec(9, 9, ok), rec(8, 8, ok)), keeps("b", rec(2, 8, ok), rec(1, 3, ok))}, to: "3", want: "R3 a:- b:R3", codes: "not-kept@a"},
		"b does not answer":                             {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), {Name: "b", Unreachable: "no route"}}, to: "1", want: "R1 a:R1 b:-"},
		"b may not be read":                             {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), {Name: "b", Unknown: "forbidden"}}, to: "1", want: "R1 a:R1 b:-", codes: "not-kept@b"},
		"b may have a newer one, and does not answer":   {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), {Name: "b", Unreachable: "no route"}}, codes: "newest-unknown"},
		"b may have a newer one, and may not be read":   {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), {Name: "b", Unknown: "forbidden"}}, codes: "newest-unknown"},
		"a rollback goes on while b does not answer":    {clusters: []Cluster{keeps("a", back(rec(3, 3, bad), 1), rec(2, 2, ok), rec(1, 1, ok)), {Name: "b", Unreachable: "no route"}}, want: "R1 a:R1 b:-"},
		"the one before had failed":                     {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, bad), rec(1, 1, ok))}, want: "R1 a:R1"},
		"nobody waited for the one before":              {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, written), rec(1, 1, ok))}, want: "R1 a:R1"},
		"nobody waited for any":                         {clusters: []Cluster{keeps("a", rec(4, 4, ok), rec(3, 3, bad), rec(2, 2, written), rec(1, 1, written))}, want: "R2 a:R2", codes: "unawaited-release@a"},
		"nobody waited, and it is named":                {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, written), rec(1, 1, ok))}, to: "2", want: "R2 a:R2", codes: "unawaited-release@a"},
		"nobody waited on b alone":                      {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(3, 3, ok), rec(2, 2, written), rec(1, 1, ok))}, codes: "disputed-release"},
		"it had failed on b alone":                      {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(3, 3, ok), rec(2, 2, bad), rec(1, 1, ok))}, codes: "disputed-release"},
		"it had failed on b alone, and is named":        {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(3, 3, ok), rec(2, 2, bad), rec(1, 1, ok))}, to: "1", want: "R1 a:R1 b:R1"},
		"it had failed wherever it came":                {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, bad), rec(1, 1, ok)), keeps("b", rec(2, 3, ok), rec(1, 1, ok))}, want: "R1 a:R1 b:R1"},
		"a alone says that it was a rollback":           {clusters: []Cluster{keeps("a", back(rec(4, 4, ok), 1), rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(4, 4, ok), rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, codes: "disputed-release"},
		"they say two releases that it went back to":    {clusters: []Cluster{keeps("a", back(rec(4, 4, ok), 1), rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", back(rec(4, 4, ok), 2), rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, codes: "disputed-release"},
		"a alone has a rollback that goes further":      {clusters: []Cluster{keeps("a", back(rec(4, 4, bad), 1), rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:R1 b:R1", codes: "rollback-goes-on@"},
		"a rollback in steps: b is in a later wave":     {clusters: []Cluster{keeps("a", back(rec(3, 3, ok), 1), rec(2, 2, ok), rec(1, 1, ok)), keeps("b")}, want: "R1 a:R1 b:-", codes: "already-back@"},
		"b was left unchanged by what a went back from": {clusters: []Cluster{keeps("a", back(rec(3, 3, ok), 1), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", learnt(rec(1, 1, ok), 2))}, want: "R1 a:R1 b:R1", codes: "already-back@"},
		"there is one alone":                            {clusters: []Cluster{keeps("a", rec(1, 1, ok))}, codes: "no-earlier-release"},
		"there is no such one":                          {clusters: []Cluster{keeps("a", rec(1, 1, ok))}, to: "7", codes: "no-such-release"},
		"there is nothing":                              {clusters: []Cluster{keeps("a")}, codes: "not-installed"},
	})
}

// TestBackOverAFleet: which releases there are is decided over all clusters, and which is the one before over those of the run.
func TestBackOverAFleet(t *testing.T) {
	const ok, bad = release.Succeeded, release.Failed
	beside := func(c Cluster) Cluster { c.Beside = true; return c }
	later := func(c Cluster) Cluster { c.Later = true; return c }
	backs(t, map[string]backCase{
		"the fleet has it, and b, which is selected, had another one then": {clusters: []Cluster{beside(keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))), keeps("b", rec(2, 3, ok), rec(1, 1, ok))},
			to: "2", want: "R2 a:- b:R1", codes: "skipped-release@b"},
		"b alone, and the newest came to others only": {clusters: []Cluster{beside(keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))), keeps("b", rec(2, 2, ok), rec(1, 1, ok))}, want: "R1 a:- b:R1"},
		"b alone, and it failed elsewhere":            {clusters: []Cluster{beside(keeps("a", rec(3, 3, ok), rec(2, 2, bad), rec(1, 1, ok))), keeps("b", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, codes: "disputed-release"},
		"b has nothing, others have":                  {clusters: []Cluster{beside(keeps("a", rec(2, 2, ok), rec(1, 1, ok))), keeps("b")}, to: "1", codes: "not-installed"},
		"b does not answer, others have it":           {clusters: []Cluster{beside(keeps("a", rec(2, 2, ok), rec(1, 1, ok))), {Name: "b", Unreachable: "no route"}}, to: "1", codes: "releases-unknown"},
		"another one that is not selected is away":    {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), beside(Cluster{Name: "b", Unreachable: "no route"})}, want: "R1 a:R1 b:-"},
		"the newest came to a later wave alone":       {clusters: []Cluster{keeps("a", learnt(rec(2, 2, ok), 2), rec(1, 1, ok)), later(keeps("b", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)))}, want: "R2 a:R2 b:-"},
		"the newest changed nothing on b":             {clusters: []Cluster{beside(keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))), keeps("b", learnt(rec(2, 2, ok), 3), rec(1, 1, ok))}, want: "R2 a:- b:R2"},
		"a later wave does not answer":                {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), later(Cluster{Name: "b", Unreachable: "no route"})}, codes: "newest-unknown"},
		"the one before is kept nowhere":              {clusters: []Cluster{keeps("a", rec(3, 4, ok), rec(2, 2, ok), rec(1, 1, ok))}, want: "R2 a:R2", codes: "release-gap@"},
		"the one before is somewhere else":            {clusters: []Cluster{keeps("a", rec(3, 4, ok), rec(2, 2, ok), rec(1, 1, ok)), beside(keeps("b", rec(1, 3, ok)))}, want: "R2 a:R2 b:-"},
		"a revision's number":                         {clusters: []Cluster{keeps("a", rec(2, 9, ok), rec(1, 8, ok))}, to: "2", codes: "no-such-release"},
		"nobody answers":                              {clusters: []Cluster{{Name: "a", Unreachable: "no route"}}, codes: "releases-unknown"},
		"nobody lets us read":                         {clusters: []Cluster{{Name: "a", Unknown: "forbidden"}}, to: "2", codes: "releases-unknown"},
	})
}

// learnt is a record with the files of another release.
func learnt(r release.Record, head int) release.Record {
	r.Learned = rec(1, head, release.Succeeded).SourceDigest
	return r
}

// backCase is what Back is asked, and says.
type backCase struct {
	clusters []Cluster
	to       string
	// want is the release and what each cluster has of it; code those of the findings, or of the error.
	want  string
	codes string
}

func backs(t *testing.T, cases map[string]backCase) {
	t.Helper()
	for name, c := range cases {
		got, err := Back(c.clusters, "shop", c.to)
		var codes []string
		if err != nil {
			codes = append(codes, diag.From(err, "")[0].Code)
			if fs := diag.From(err, ""); fs[0].Fix == "" {
				t.Errorf("%s: nothing says what to do: %v", name, fs)
			}
		}
		said, found := saidOf(got, c.clusters)
		codes = append(codes, found...)
		if slices.Sort(codes); said != c.want || strings.Join(codes, " ") != c.codes {
			t.Errorf("%s: %q %q, want %q %q (%v)", name, said, codes, c.want, c.codes, err)
		}
	}
}

// saidOf is a rollback's release with what each cluster has of it, and the codes of its findings.
func saidOf(got *Rollback, clusters []Cluster) (said string, codes []string) {
	if got == nil {
		return "", nil
	}
	said = got.To.Rollout
	for _, c := range clusters {
		at := "-"
		if r := got.Records[c.Name]; r != nil {
			at = r.Rollout
		}
		said += " " + c.Name + ":" + at
	}
	for _, f := range got.Findings {
		codes = append(codes, f.Code+"@"+f.Cluster)
	}
	return said, codes
}

// A release whose run died and that another one went over has a row of its own; a rollback passes over it, cannot go to it, and says why.
// After a lost record nobody knows what the cluster had before.
func TestInterrupted(t *testing.T) {
	now := rec(3, 3, release.Succeeded)
	now.Interrupted = []release.Interruption{{Revision: 2, Release: 2, Rollout: "R2", Started: epoch.Add(2 * time.Hour), Author: "ada"}}
	records := Merge(now, []release.Record{now, rec(1, 1, release.Succeeded)})
	clusters := []Cluster{keeps("a", records...)}
	if got := fmt.Sprint(said(Of(clusters))); got != "[R3 succeeded a:in R2 interrupted a:in R1 superseded a:in]" {
		t.Errorf("%s", got)
	}
	if h := Of(clusters); h.Bundles[0].Releases[1].Author != "ada" || h.Bundles[0].Releases[1].Clusters[0].Phase != release.Interrupted {
		t.Errorf("%+v", h.Bundles[0].Releases[1])
	}
	back, err := Back(clusters, "shop", "")
	if err != nil || back.To.Rollout != "R1" || len(back.Findings) > 0 {
		t.Errorf("%v %+v", err, back)
	}
	back, err = Back(clusters, "shop", "2")
	if err != nil || len(back.Findings) != 1 || back.Findings[0].Code != "release-open" || !strings.Contains(back.Findings[0].What, "2 (R2)") || len(back.Records) > 0 {
		t.Errorf("%v %+v", err, back)
	}
	c, err := Compare(clusters, "shop", "2", "3")
	if err != nil || !strings.Contains(c.Clusters[0].Unknown, "the run of release 2 (R2) died here") {
		t.Errorf("%v %+v", err, c)
	}
	rebuilt := rec(1, 4, release.Succeeded)
	rebuilt.Rebuilt = true
	back, err = Back([]Cluster{keeps("a", rec(4, 4, release.Succeeded), rec(3, 3, release.Succeeded)), keeps("b", rebuilt)}, "shop", "3")
	if err != nil || len(back.Findings) != 1 || back.Findings[0].Code != "not-kept" || back.Findings[0].Cluster != "b" {
		t.Errorf("%v %+v", err, back)
	}
}

// What undid a wave that failed is for the clusters of that wave: that others have another release does not make it pending.
func TestUndoneWaveIsNotPending(t *testing.T) {
	bad := rec(2, 2, release.Failed)
	back := rec(3, 3, release.Succeeded)
	back.RollbackTo = &release.Name{Release: 1, Rollout: "R1"}
	for undoes, want := range map[string]State{"": Pending, "R2": Succeeded} {
		back.Undoes = undoes
		clusters := []Cluster{keeps("a", rec(2, 2, release.Succeeded), rec(1, 1, release.Succeeded)), keeps("b", back, bad, rec(1, 1, release.Succeeded))}
		if got := Of(clusters).Bundles[0].Releases[0]; got.Rollout != "R3" || got.State != want {
			t.Errorf("undoes %q: %s %s, want %s", undoes, got.Rollout, got.State, want)
		}
	}
}
