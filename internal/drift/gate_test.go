package drift

import (
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// TestGate: a correction of the second wave alone is refused while that of the first has not ended well there: nobody could look at it after its
// soak, it failed, or it has not ended. A correction that ended well, a release of which none is known, and a cluster of which nothing is known stand
// against nothing.
func TestGate(t *testing.T) {
	full := rollout.Schedule{Waves: []rollout.WaveSpec{{Name: "one"}, {Name: "two"}}, Members: []rollout.Member{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 2}}}
	for name, c := range map[string]struct {
		rec *release.Record
		why string
	}{
		"nobody could look": {&release.Record{Phase: release.Succeeded, Corrections: []release.Correction{{Phase: release.Written, Unjudged: true}}}, "a: nobody could look at it after its soak"},
		"it failed":         {&release.Record{Phase: release.Succeeded, Corrections: []release.Correction{{Phase: release.Failed}}}, "a: it failed"},
		"it has not ended":  {&release.Record{Phase: release.Succeeded, Corrections: []release.Correction{{Phase: release.Applying}}}, "a: it has not ended"},
		"it ended well":     {&release.Record{Phase: release.Succeeded, Corrections: []release.Correction{{Phase: release.Failed}, {Phase: release.Succeeded, Finished: time.Unix(1, 0)}}}, ""},
		"none":              {&release.Record{Phase: release.Written, Unjudged: true}, ""},
		"not known":         {nil, ""},
	} {
		found := Gate(full, []string{"a"}, []*release.Record{c.rec.On("a"), nil})
		switch {
		case c.why == "" && len(found) > 0, c.why != "" && (len(found) != 1 || found[0].Code != rollout.CodeGate || found[0].Why != c.why || found[0].What != "the selection leaves out wave 1 (one), whose correction has not ended well"):
			t.Errorf("%s: %+v", name, found)
		}
		if found := Gate(full, nil, []*release.Record{c.rec.On("a")}); len(found) > 0 {
			t.Errorf("%s, and nothing is left out: %+v", name, found)
		}
	}
}
