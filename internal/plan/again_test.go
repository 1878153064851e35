package plan

import "testing"

// Why an object is written again is told by what happened: a delete that was killed, a run that was killed, or somebody.
func TestWhyAnObjectIsWrittenAgain(t *testing.T) {
	declared := list("desired", f(declaredWeb, "d1"))
	for name, tt := range map[string]struct{ input, want string }{
		"gone":                                  {declared + list("owned", ownedWeb), "create ConfigMap ns/web: was deleted by somebody gone"},
		"gone, after a delete that was killed":  {"open: true\nundone: true\n" + declared + list("owned", ownedWeb), "create ConfigMap ns/web: was deleted by the run that ended while deleting gone"},
		"let go, and declared again":            {declared + list("live", liveWeb), "update ConfigMap ns/web: was let go, and is declared again again"},
		"ours, after a run that was killed":     {"open: true\n" + declared + list("live", liveWeb), "update ConfigMap ns/web: written by a run that ended before it was recorded interrupted"},
		"intended, after a run that was killed": {"open: true\n" + declared + list("owned", `{ref: {kind: ConfigMap, namespace: ns, name: web}, instance: web}`) + list("live", liveWeb), "update ConfigMap ns/web: written by a run that ended before it was recorded interrupted"},
	} {
		p := Compute(inputOf(t, tt.input))
		if len(p.Changes) != 1 || lineOf(p.Changes[0])+" "+string(p.Changes[0].Code) != tt.want {
			t.Errorf("%s: %+v", name, p.Changes)
		}
	}
}
