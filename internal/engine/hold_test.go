package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// approvals is a rig whose one wave waits for an approval.
func approvals(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: approvals
  clusters: {engine: {group: p, kubeContext: engine}}
  rollout: {waves: [{name: prod, groups: [p], approval: manual}]}
`)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	return r
}

// held is what keeps a release of the rig's bundle from the cluster.
func (r *rig) held() *release.Hold {
	r.t.Helper()
	var h *release.Hold
	r.stored(func(s release.Store) (err error) {
		h, _, err = release.HeldOn(r.t.Context(), s, object.OwnerID("", "", r.name))
		return err
	})
	return h
}

// say says a verb as ann.
func (r *rig) say(verb, meant string) (*release.Saying, error) {
	r.t.Helper()
	req := r.request()
	req.Author, req.Message = "ann@laptop", "CHG-1"
	return r.Say(r.t.Context(), req, verb, meant, func(*release.Saying) error { return nil })
}

// waits applies, and expects that the release waits for an approval.
func (r *rig) waits() *fleetplan.Outcome {
	r.t.Helper()
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrPartial) || !out.Unapproved || out.Stopped != "wave 1 (prod) waits for an approval" || len(out.Findings.Errors()) > 0 {
		r.t.Fatalf("%v, %+v", err, out)
	}
	return out
}

// A release that waits for an approval writes nothing but that it waits, keeps its name, and comes when somebody has approved it; who
// did is in the record. What is deleted leaves nothing behind.
func TestApproval(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	first := r.waits()
	if r.record() != nil {
		t.Fatal("a record was written")
	}
	if again := r.waits(); again.Rollout != first.Rollout || r.held().Rollout != first.Rollout {
		t.Errorf("run again it is rollout %s, not %s", again.Rollout, first.Rollout)
	}
	said, err := r.say(release.Approve, "")
	if err != nil || said.Rollout != first.Rollout || said.Wave != "wave 1 (prod)" || len(said.Clusters) != 1 || !said.Clusters[0].Done {
		t.Fatalf("%v, %+v", err, said)
	}
	if _, err := r.say(release.Approve, ""); err == nil || !strings.Contains(err.Error(), "ann@laptop") {
		t.Errorf("approved twice: %v", err)
	}
	out := r.applied(r.request())
	rec := r.record()
	if out.Rollout != first.Rollout || rec.Rollout != first.Rollout || len(rec.Approvals) != 1 || rec.Approvals[0].By != "ann@laptop" || rec.Approvals[0].Message != "CHG-1" {
		t.Errorf("rollout %s, record %+v", out.Rollout, rec.Approvals)
	}
	if out, err := r.apply(r.request()); err != nil || out.Result != fleetplan.UpToDate {
		t.Errorf("nothing to do: %v, %+v", err, out)
	}
	r.write("app.yaml", r.configMap("app", "k: w")) // what was approved was another one
	if next := r.waits(); next.Rollout == first.Rollout || r.record().Rollout != first.Rollout {
		t.Errorf("an approval of other files lets %s come", next.Rollout)
	}
	fp, err := r.PlanDelete(t.Context(), r.request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, r.request()); err != nil {
		t.Fatal(err)
	}
	if h := r.held(); h != nil {
		t.Errorf("left behind: %+v", h)
	}
}

// What was aborted comes no more, whoever approves it; the same files are another release then.
func TestAbort(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	first := r.waits()
	if _, err := r.say(release.Approve, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.say(release.Abort, first.Rollout); err != nil {
		t.Fatal(err)
	}
	if _, err := r.say(release.Approve, first.Rollout); err == nil || !strings.Contains(err.Error(), "was aborted by ann@laptop") {
		t.Errorf("approved after all: %v", err)
	}
	number := r.held().Release
	if next := r.waits(); next.Rollout == first.Rollout || r.held().Release != number+1 {
		t.Errorf("%s goes on as %s, release %d", first.Rollout, next.Rollout, r.held().Release)
	}
	req := r.request()
	req.SkipApprovals, req.Author = true, "bob@ci"
	r.applied(req)
	if a := r.record().Approvals; len(a) != 1 || a[0].By != "bob@ci" || a[0].Message != "--skip-approvals" {
		t.Errorf("the record says %+v", a)
	}
}

// What is paused goes on when that is taken back, with the approval that it has.
func TestPause(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	first := r.waits()
	for _, verb := range []string{release.Approve, release.Pause} {
		if _, err := r.say(verb, ""); err != nil {
			t.Fatal(err)
		}
	}
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrRefused) || len(out.Findings) != 1 || out.Findings[0].Code != release.CodePaused || !strings.Contains(out.Findings[0].What, "ann@laptop") {
		t.Fatalf("%v, %+v", err, out)
	}
	if _, err := r.say(release.Resume, ""); err != nil {
		t.Fatal(err)
	}
	if out := r.applied(r.request()); out.Rollout != first.Rollout {
		t.Errorf("it goes on as %s, not %s", out.Rollout, first.Rollout)
	}
	if _, err := r.say(release.Pause, ""); err == nil || diag.From(err, "")[0].Code != "nothing-to-pause" {
		t.Errorf("a release that is everywhere: %v", err)
	}
}

// A run that is at work begins with no cluster any more when its release was aborted.
func TestAbortOfARunAtWork(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	r.waits()
	if _, err := r.say(release.Approve, ""); err != nil {
		t.Fatal(err)
	}
	fp, other := r.plan(r.request()), r.again(t)
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventRollout {
			other.stored(func(s release.Store) error {
				return release.PutHoldOn(t.Context(), s, object.OwnerID("", "", r.name), func(h *release.Hold) (*release.Hold, error) {
					h.Aborted = &release.Word{By: "bob"}
					return h, nil
				})
			})
		}
	}
	out, err := r.Apply(t.Context(), fp, r.request())
	if err == nil || out.Clusters[0].Result != fleetplan.NotStarted || !strings.Contains(out.Stopped, "was aborted") {
		t.Errorf("%v, %+v", err, out)
	}
	if r.record() != nil {
		t.Error("it was delivered")
	}
}
