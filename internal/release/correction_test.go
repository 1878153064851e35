package release

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What is compared with is how the release left a cluster; what has not ended well is not, unless it is a correction that goes on.
func TestStandard(t *testing.T) {
	for name, c := range map[string]struct {
		rec  *Record
		look bool
		as   Phase
		why  string
	}{
		"nothing":                         {nil, true, "", ""},
		"it succeeded":                    {&Record{Phase: Succeeded}, false, Succeeded, ""},
		"nobody waited":                   {&Record{Phase: Written}, false, Written, ""},
		"it failed, looked at":            {&Record{Phase: Failed}, true, Failed, ""},
		"it failed":                       {&Record{Phase: Failed, Revision: 3}, false, "", "revision 3 failed here: apply again, or roll back"},
		"it has not ended":                {&Record{Phase: Applying, Revision: 3}, true, "", "revision 3 has not ended here"},
		"its delete has not ended":        {&Record{Phase: Deleting, Revision: 3}, true, "", "the delete of revision 3 has not ended here"},
		"its eject has not ended":         {&Record{Phase: Deleting, Ejecting: true, Revision: 3}, true, "", "the eject of revision 3 has not ended here"},
		"a correction goes on":            {&Record{Phase: Succeeded, Corrections: []Correction{{Phase: Applying}}}, false, Succeeded, ""},
		"a correction failed":             {&Record{Phase: Written, Corrections: []Correction{{Phase: Failed}}}, false, Written, ""},
		"it failed after a correction":    {&Record{Phase: Failed, Corrections: []Correction{{Finished: time.Unix(1, 0)}}}, false, "", "failed here"},
		"an apply after one that stopped": {&Record{Phase: Applying}, false, "", "has not ended here"},
	} {
		got, why := c.rec.Standard(c.look)
		if (got == nil) != (c.as == "") || got != nil && got.Phase != c.as || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %+v %q", name, got, why)
		}
	}
}

// A correction is a note in the release's record, which stays what it was, its phase too; the note is finished when the correction ended well, and
// one that goes on takes the place of the one that stopped. At most Retention are kept.
func TestCorrected(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	before := Record{Revision: 7, Release: 42, Rollout: "7K2M3XYZ", Author: "ci", Message: "autumn", Phase: Succeeded, Started: at(1), Finished: at(2), SetDigest: "set", SourceDigest: "head"}
	run := Record{Rollout: "RUN1", Author: "ada", Message: "incident", Version: "test"}
	api := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}
	touches := &plan.Plan{Changes: []plan.Change{{Action: plan.Update, Ref: api}, {Action: plan.Unchanged, Ref: object.Ref{Kind: "Secret", Name: "same"}}}}
	open := before.Corrected(run, Record{Phase: Applying, Started: at(10), Revision: 8, Inventory: []plan.InventoryEntry{{}}}, touches)
	if open.Phase != Succeeded || open.Standing() != Applying || len(open.Inventory) != 1 || open.Revision != 7 || open.Author != "ci" || open.SetDigest != "set" || !open.Finished.Equal(at(2)) {
		t.Errorf("%+v", open)
	}
	closing := open
	closing.Phase, closing.Finished, closing.Done = Written, at(12), plan.Counts{Update: 1}
	closed := before.Corrected(run, closing, touches)
	if n := closed.Corrections; len(n) != 1 || !reflect.DeepEqual(n[0], Correction{"RUN1", Written, at(10), at(12), false, "ada", "incident", "test", plan.Counts{Update: 1}, []CorrectedObject{{plan.Update, api}}}) || closed.Phase != Succeeded || closed.Standing() != Succeeded || !closed.Finished.Equal(at(2)) || closed.Done != (plan.Counts{}) {
		t.Errorf("%+v", closed)
	}
	closing.Phase = Failed
	failed := before.Corrected(run, closing, touches)
	if failed.Phase != Succeeded || failed.Standing() != Failed || !failed.Corrections[0].Finished.IsZero() {
		t.Errorf("%+v", failed)
	}
	unwaited := before
	unwaited.Phase = Written
	closing.Phase = Succeeded
	if got := unwaited.Corrected(run, closing, nil); got.Phase != Written || got.Standing() != Written || got.Corrections[0].Phase != Succeeded {
		t.Errorf("%+v", got)
	}
	if again := failed.Corrected(Record{Rollout: "RUN2"}, Record{Phase: Applying, Started: at(20)}, nil); len(again.Corrections) != 1 || again.Corrections[0].Rollout != "RUN2" {
		t.Errorf("%+v", again.Corrections)
	}
	for range 2 * MaxCorrected {
		touches.Changes = append(touches.Changes, touches.Changes[0])
	}
	if got := before.Corrected(run, Record{}, touches).Corrections[0].Objects; len(got) != MaxCorrected {
		t.Errorf("%d objects are named", len(got))
	}
	many := before
	for range 2 * Retention {
		many.Corrections = append(many.Corrections, Correction{Finished: at(1)})
	}
	if n := many.Corrected(run, Record{}, nil).Corrections; len(n) != Retention || n[Retention-1].Rollout != "RUN1" || len(many.Corrections) != 2*Retention {
		t.Errorf("%d", len(n))
	}
}

// What is no longer ready after a soak makes the run fail after all: the release, or the correction alone that the run is.
func TestUnsoaked(t *testing.T) {
	at := time.Unix(1, 0)
	notes := []Correction{{Rollout: "C1", Phase: Succeeded, Finished: at}, {Rollout: "C2", Phase: Succeeded, Finished: at}}
	rec := Record{Rollout: "R", Phase: Succeeded, Corrections: notes}
	for name, c := range map[string]struct {
		rollout         string
		corrects        bool
		unseen          bool
		phase, standing Phase
		unready         int
	}{
		"a release":                    {"R", false, false, Failed, Failed, 1},
		"a release after corrections":  {"R2", false, false, Failed, Failed, 1},
		"a correction":                 {"C2", true, false, Succeeded, Failed, 1},
		"one that had nothing to do":   {"C3", true, false, Succeeded, Succeeded, 0},
		"a correction before the last": {"C1", true, false, Succeeded, Succeeded, 0},
		"a release, unseen":            {"R", false, true, Written, Written, 0},
		"a correction, unseen":         {"C2", true, true, Succeeded, Written, 0},
		"nothing to do, unseen":        {"C3", true, true, Succeeded, Succeeded, 0},
	} {
		var unready []string
		if !c.unseen {
			unready = []string{"web"}
		}
		got := rec.Unsoaked(c.rollout, c.corrects, c.unseen, unready)
		if got.Unjudged != (got.Phase == Written) || got.CorrectionUnjudged() != (c.corrects && got.Standing() == Written) || got.Phase != c.phase || got.Standing() != c.standing || len(got.Unfinished) != c.unready || notes[1].Phase != Succeeded || notes[1].Finished.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Before corrections had a phase of their own it stood in the place of the release's: such a record, and such a revision that is
// kept, is read as what it means. One that ended well has nothing to be parted.
func TestCorrectionsOfBefore(t *testing.T) {
	at := time.Unix(1, 0).UTC()
	for name, c := range map[string]struct {
		stored          Phase
		notes           []Correction
		phase, standing Phase
	}{
		"it failed":                     {Failed, []Correction{{Finished: at}, {Rollout: "C"}}, Succeeded, Failed},
		"it died":                       {Applying, []Correction{{Rollout: "C"}}, Succeeded, Applying},
		"it ended well":                 {Succeeded, []Correction{{Rollout: "C", Finished: at}}, Succeeded, Succeeded},
		"nobody waited":                 {Written, []Correction{{Rollout: "C", Finished: at}}, Written, Written},
		"the release failed, without":   {Failed, nil, Failed, Failed},
		"its soak failed after one":     {Failed, []Correction{{Rollout: "C", Finished: at}}, Failed, Failed},
		"it is deleted":                 {Deleting, []Correction{{Rollout: "C"}}, Deleting, Deleting},
		"it failed, and has a phase":    {Succeeded, []Correction{{Rollout: "C", Phase: Failed}}, Succeeded, Failed},
		"a revision learned it by head": {Succeeded, []Correction{{Rollout: "C"}}, Succeeded, Succeeded},
	} {
		r := Record{Owner: "o", Revision: 3, Phase: c.stored, Corrections: c.notes}
		data, err := EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		current, err := DecodeRecord(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, err = EncodeRevision(r, nil); err != nil {
			t.Fatal(err)
		}
		kept, err := DecodeRevisionRecord(data, "o", 3, c.stored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for where, got := range map[string]*Record{"current": current, "kept": kept} {
			if got.Phase != c.phase || got.Standing() != c.standing {
				t.Errorf("%s, %s: %s, standing %s", name, where, got.Phase, got.Standing())
			}
		}
	}
	if _, err := DecodeRecord(packedText(t, `{"v":1,"phase":"succeeded","corrections":[{"phase":"\u001b"}]}`)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a phase that is none: %v", err)
	}
}

// TestUnjudgedIsOfOne: that nobody could look at a release after its soak, and that nobody could at a correction of it, are told apart: neither says so of
// the other, and a correction after one that could not be looked at says of itself how it ended.
func TestUnjudgedIsOfOne(t *testing.T) {
	unseen := []Correction{{Rollout: "C", Phase: Written, Unjudged: true}}
	for name, c := range map[string]struct {
		r    Record
		want bool
	}{
		"a correction alone":                  {Record{Rollout: "R", Phase: Succeeded, Corrections: unseen}, false},
		"of a release that nobody waited for": {Record{Rollout: "R", Phase: Written, Corrections: unseen}, false},
		"both":                                {Record{Rollout: "R", Phase: Written, Unjudged: true, Corrections: unseen}, true},
	} {
		if c.r.undecided() != c.want || c.r.Unready() != "nobody could look at it after its soak" || !c.r.CorrectionUnjudged() {
			t.Errorf("%s: %+v, %s", name, c.r, c.r.Unready())
		}
		if got := c.r.Corrected(Record{Rollout: "D"}, Record{Phase: Succeeded}, nil); got.Unjudged != c.want || got.CorrectionUnjudged() {
			t.Errorf("%s: %+v", name, got)
		}
		if got := c.r.Unsoaked("C", true, true, nil); got.Unjudged != c.want || got.undecided() != c.want || !got.CorrectionUnjudged() {
			t.Errorf("%s, and again: %+v", name, got)
		}
	}
	before := Record{Rollout: "R", Phase: Succeeded, Unjudged: true, Corrections: []Correction{{Rollout: "C", Phase: Written}}}
	if got := before.parted(); got.Unjudged || !got.CorrectionUnjudged() {
		t.Errorf("of before: %+v", got)
	}
}

// Who corrects again where nothing is left to do, as its first soak could not be looked at, has put nothing right: the note stays that of who did.
func TestCorrectedAgainKeepsWhoPutItRight(t *testing.T) {
	first := Correction{Rollout: "C", Phase: Written, Author: "ann", Message: "CHG1", Objects: []CorrectedObject{{}}, Done: plan.Counts{Update: 1}}
	r := Record{Rollout: "R", Phase: Succeeded, Corrections: []Correction{first}}
	open := r.Corrected(Record{Rollout: "D", Author: "bob"}, Record{Phase: Applying}, &plan.Plan{})
	got := r.Corrected(Record{Rollout: "D", Author: "bob"}, Record{Phase: Succeeded, Finished: time.Unix(1, 0), Corrections: open.Corrections}, &plan.Plan{})
	if len(got.Corrections) != 1 {
		t.Fatalf("%+v", got.Corrections)
	}
	if c := got.Corrections[0]; c.Rollout != "D" || c.Author != "ann" || c.Message != "CHG1" || len(c.Objects) != 1 || c.Done.Update != 1 || c.Finished.IsZero() {
		t.Errorf("%+v", c)
	}
}
