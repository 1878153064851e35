package release

import (
	"strings"
	"testing"
	"time"

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
		"a correction goes on":            {&Record{Phase: Applying, Corrections: []Correction{{}}}, false, Succeeded, ""},
		"a correction failed":             {&Record{Phase: Failed, Corrections: []Correction{{}}}, false, Succeeded, ""},
		"it failed after a correction":    {&Record{Phase: Failed, Corrections: []Correction{{Finished: time.Unix(1, 0)}}}, false, "", "failed here"},
		"an apply after one that stopped": {&Record{Phase: Applying}, false, "", "has not ended here"},
	} {
		got, why := c.rec.Standard(c.look)
		if (got == nil) != (c.as == "") || got != nil && got.Phase != c.as || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %+v %q", name, got, why)
		}
	}
}

// A correction is a note in the release's record, which stays what it was; the note is finished when the correction ended well, and
// one that goes on takes the place of the one that stopped. At most Retention are kept.
func TestCorrected(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	before := Record{Revision: 7, Release: 42, Rollout: "7K2M3XYZ", Author: "ci", Message: "autumn", Phase: Succeeded, Started: at(1), Finished: at(2), SetDigest: "set", Head: "head"}
	run := Record{Rollout: "RUN1", Author: "ada", Message: "incident", Version: "test"}
	open := before.Corrected(run, Record{Phase: Applying, Started: at(10), Revision: 8, Inventory: []plan.Owned{{}}})
	if open.Phase != Applying || len(open.Inventory) != 1 || open.Revision != 7 || open.Author != "ci" || open.SetDigest != "set" || !open.Finished.Equal(at(2)) || !open.correcting() {
		t.Errorf("%+v", open)
	}
	closing := open
	closing.Phase, closing.Finished, closing.Done = Succeeded, at(12), plan.Counts{Update: 1}
	closed := before.Corrected(run, closing)
	if n := closed.Corrections; len(n) != 1 || n[0] != (Correction{"RUN1", at(10), at(12), "ada", "incident", "test", plan.Counts{Update: 1}}) || !closed.Finished.Equal(at(2)) || closed.Done != (plan.Counts{}) {
		t.Errorf("%+v", closed)
	}
	closing.Phase = Failed
	failed := before.Corrected(run, closing)
	if !failed.correcting() || failed.Phase != Failed {
		t.Errorf("%+v", failed)
	}
	if again := failed.Corrected(Record{Rollout: "RUN2"}, Record{Phase: Applying, Started: at(20)}); len(again.Corrections) != 1 || again.Corrections[0].Rollout != "RUN2" {
		t.Errorf("%+v", again.Corrections)
	}
	many := before
	for range 2 * Retention {
		many.Corrections = append(many.Corrections, Correction{Finished: at(1)})
	}
	if n := many.Corrected(run, Record{}).Corrections; len(n) != Retention || n[Retention-1].Rollout != "RUN1" || len(many.Corrections) != 2*Retention {
		t.Errorf("%d", len(n))
	}
}
