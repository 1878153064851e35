package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
)

// TestCorrectionAgainstApply: of a correction and an apply one wins, whichever it is, and the other one is refused and told by whom: where both are at work at once, by the
// lock, and where the first has ended by what its record says. What is there afterwards is the winner's.
func TestCorrectionAgainstApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		correctsFirst bool
		told          string
	}{
		"the correction wins": {true, "ann has corrected the release since"},
		"the apply wins":      {false, "ann has changed the record since"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("other", "key: one")))
			r.applied(r.request())
			r.patch("kubectl-edit", "ConfigMap", "app", `{"data":{"key":"edited"}}`)
			r.write("app.yaml", r.configMap("app", "key: one")+r.configMap("other", "key: two"))
			plan := func(on *rig, corrects bool, author string) (*Prepared, Request) {
				req := on.request()
				if corrects {
					req = on.back("")
				}
				req.Author = author
				of := req
				if corrects {
					of = req.For(Correct)
				}
				fp, err := on.Plan(t.Context(), of)
				if err != nil {
					t.Fatal(err)
				}
				return fp, req
			}
			slow, third := r.again(t), r.again(t)
			before, slowReq := plan(slow, !c.correctsFirst, "bob")
			meanwhile, otherReq := plan(third, !c.correctsFirst, "bob")
			first, firstReq := plan(r, c.correctsFirst, "ann")
			refused := func(on *rig, fp *Prepared, req Request, told string) {
				t.Helper()
				out, err := on.Apply(t.Context(), fp, req)
				// a plan that somebody may have read meanwhile is looked at again on all clusters, and refused before any has a row
				if !errors.Is(err, fleetplan.ErrRefused) || out == nil || !strings.Contains(fmt.Sprintf("%+v", out), told) {
					t.Errorf("%v, %+v, want %q", err, out, told)
				}
			}
			var once sync.Once
			r.on = func(ev fleetplan.Event) {
				if ev.Type == fleetplan.EventWritten {
					once.Do(func() { refused(third, meanwhile, otherReq, "locked by ann") })
				}
			}
			if out, err := r.Apply(t.Context(), first, firstReq); err != nil || out.Result != fleetplan.Succeeded {
				t.Fatalf("%v, %+v", err, out)
			}
			refused(slow, before, slowReq, c.told)
			want := map[bool]string{true: "one", false: "two"}[c.correctsFirst]
			if got := r.data(); got["app"] != "one" || got["other"] != want {
				t.Errorf("%v", got)
			}
		})
	}
}
