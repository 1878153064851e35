package release

import (
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/plan"
)

// What may not be looked at is unknown; only what is known not to be there is missing.
func TestStanding(t *testing.T) {
	own := plan.Owned{ResourceVersion: "1", Own: "e"}
	found := plan.Live{Found: true, ResourceVersion: "1", Own: "e"}
	for name, tt := range map[string]struct {
		change  func(*plan.Owned, *plan.Live)
		state   health.State
		drifted bool
	}{
		"as it was":            {func(*plan.Owned, *plan.Live) {}, health.Progressing, false},
		"not there":            {func(_ *plan.Owned, l *plan.Live) { *l = plan.Live{} }, health.Missing, false},
		"not looked at":        {func(_ *plan.Owned, l *plan.Live) { *l = plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"a Job, not looked at": {func(o *plan.Owned, l *plan.Live) { o.Expires, *l = true, plan.Live{Unseen: "forbidden"} }, health.Unknown, false},
		"going":                {func(_ *plan.Owned, l *plan.Live) { l.Terminating, l.ResourceVersion, l.Own = true, "2", "f" }, health.Progressing, false},
		"changed":              {func(_ *plan.Owned, l *plan.Live) { l.ResourceVersion, l.Own, l.Foreign = "2", "f", "kubectl" }, health.Progressing, true},
		"changed, left alone":  {func(o *plan.Owned, l *plan.Live) { l.ResourceVersion, l.Own, o.Once = "2", "f", true }, health.Progressing, false},
	} {
		o, l := own, found
		tt.change(&o, &l)
		st, drifted, by := Standing(o, l, health.Status{State: health.Progressing})
		if st.State != tt.state || drifted != tt.drifted || by != "" != tt.drifted || st.State == health.Unknown && st.Reason != "forbidden" {
			t.Errorf("%s: %+v %v %q", name, st, drifted, by)
		}
	}
}
