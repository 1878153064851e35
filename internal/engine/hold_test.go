package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
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
	return r.Say(r.t.Context(), req, verb, release.Meant{Release: meant, Unasked: true}, func(*release.Saying) error { return nil })
}

// told plans, and expects that the plan tells what was said of its files, once.
func (r *rig) told(code string) {
	r.t.Helper()
	found := r.plan(r.request()).Findings
	if n := len(slices.DeleteFunc(slices.Clone(found), func(f diag.Finding) bool { return f.Code != code })); n != 1 {
		r.t.Errorf("a plan tells %s %d times: %v", code, n, found)
	}
}

// waits applies, and expects that the release waits for an approval.
func (r *rig) waits() *fleetplan.Outcome {
	r.t.Helper()
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrPartial) || !out.Unapproved || out.Result != fleetplan.Waiting || out.Stopped != "wave 1 (prod) waits for an approval" || len(out.Findings.Errors()) > 0 {
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
	r.awaited(1, first.Rollout, "hawser approve "+r.name, history.Waiting)
	if again := r.waits(); again.Rollout != first.Rollout || r.held().Rollout != first.Rollout {
		t.Errorf("run again it is rollout %s, not %s", again.Rollout, first.Rollout)
	}
	said, err := r.say(release.Approve, "")
	if err != nil || said.Rollout != first.Rollout || said.Wave != "wave 1 (prod)" || len(said.Clusters) != 1 || !said.Clusters[0].Done {
		t.Fatalf("%v, %+v", err, said)
	}
	if again, err := r.say(release.Approve, ""); err != nil || !again.Already || again.Word.By != "ann@laptop" || !again.Clusters[0].Done || len(r.held().Told[0].Said) != 1 {
		t.Errorf("approved twice: %v, %+v", err, again)
	}
	r.awaited(1, first.Rollout, "hawser apply", history.Waiting)
	out := r.applied(r.request())
	r.awaited(1, first.Rollout, "", history.Succeeded)
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
	} else {
		r.awaited(2, next.Rollout, "hawser approve "+r.name, history.Waiting)
	}
	fp, err := r.Plan(t.Context(), r.request().For(Delete))
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

// A look at all bundles tells what waits, also where nothing of the bundle ever was, and what was paused.
func TestHoldsOfAllBundles(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	all := func() (row *fleetplan.ClusterStatus, rel *history.Release, listed *release.Waiting) {
		req := r.request()
		docs(&req).Files, req.Bundle = nil, ""
		status, _ := r.Status(t.Context(), req) // other tests' bundles are no matter of this one
		for i, c := range status.Clusters {
			if c.Bundle == r.name {
				row = &status.Clusters[i]
			}
		}
		h, _ := r.History(t.Context(), req)
		for _, b := range h.Bundles {
			if b.Bundle == r.name {
				rel = &b.Releases[0]
			}
		}
		l, _ := r.List(t.Context(), req)
		for _, b := range l.Clusters[0].Bundles {
			if b.Bundle == r.name {
				listed = b.Waits
			}
		}
		return row, rel, listed
	}
	first := r.waits()
	row, rel, _ := all()
	if row == nil || row.State() != "waiting" || row.Waits.Next != "hawser approve "+r.name || rel == nil || rel.State != history.Waiting || rel.Rollout != first.Rollout {
		t.Errorf("the first: %+v, %+v", row, rel)
	}
	if _, err := r.say(release.Approve, ""); err != nil {
		t.Fatal(err)
	}
	r.applied(r.request())
	if row, rel, listed := all(); row == nil || row.Waits != nil || rel.Waits != nil || listed != nil {
		t.Errorf("it has come: %+v, %+v, %+v", row, rel, listed)
	}
	r.write("app.yaml", r.configMap("app", "k: w"))
	r.waits()
	if _, err := r.say(release.Pause, ""); err != nil {
		t.Fatal(err)
	}
	row, rel, listed := all()
	if row == nil || row.Waits == nil || row.Waits.Paused == nil || rel.Waits == nil || listed == nil || listed.Paused.By != "ann@laptop" {
		t.Errorf("paused: %+v, %+v, %+v", row, rel, listed)
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
	r.told("wave-approved")
	if _, err := r.say(release.Abort, first.Rollout); err != nil {
		t.Fatal(err)
	}
	r.told("was-aborted")
	if _, err := r.say(release.Approve, first.Rollout); err == nil || !strings.Contains(err.Error(), "was aborted by ann@laptop") {
		t.Errorf("approved after all: %v", err)
	}
	r.awaited(1, first.Rollout, "hawser apply", history.Aborted)
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
	h, err := r.History(t.Context(), r.request())
	if err != nil || len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != 2 {
		t.Fatalf("%v, %+v", err, h)
	}
	if was := h.Bundles[0].Releases[1]; was.Rollout != first.Rollout || was.State != history.Aborted || !strings.Contains(was.Decided(), "approved wave 1 (prod) by ann@laptop at ") || !strings.Contains(was.Decided(), "aborted by ann@laptop at ") {
		t.Errorf("the one that was aborted is told as %+v", was)
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
	r.awaited(1, first.Rollout, "hawser resume "+r.name, history.Waiting)
	for _, applies := range []bool{true, false} { // whoever only plans is told as well, and nothing is refused
		fp := r.plan(r.with(r.request(), func(req *Request) { req.Reads, req.Applies = !applies, applies }))
		if fs := fp.Findings.Warnings(); fp.Findings.HasErrors() || len(fs) != 1 || fs[0].Code != release.CodePaused || !strings.Contains(fs[0].What, "was paused by ann@laptop at 2") || !strings.Contains(fs[0].Fix, "hawser resume "+r.name) {
			t.Errorf("the plan says %+v", fp.Findings)
		}
		fp.Close()
	}
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrRefused) || len(out.Findings) != 1 || out.Findings[0].Code != release.CodePaused || !strings.Contains(out.Findings[0].What, "ann@laptop") {
		t.Fatalf("%v, %+v", err, out)
	}
	r.write("app.yaml", r.configMap("app", "k: w")) // that is another release
	if out, err := r.apply(r.request()); !errors.Is(err, fleetplan.ErrRefused) || out.Findings[0].Code != release.CodePaused || r.held().Rollout != first.Rollout {
		t.Fatalf("another release went past the pause: %v, %+v", err, out)
	}
	r.write("app.yaml", r.configMap("app", "k: v"))
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

// A pause holds also without any approval, and where what is run again is another release because the one before failed or something
// drifted. A rollback waits as well; what ends the bundle does not.
func TestPauseHoldsEveryRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: paused\n  clusters: {engine: {kubeContext: engine}}\n")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "k: v")))
	r.applied(r.request())
	r.write("app.yaml", r.configMap("app", "k: w"))
	r.applied(r.request())
	rec := r.record()
	r.stored(func(s release.Store) error {
		return release.PutHoldOn(t.Context(), s, rec.Owner, func(*release.Hold) (*release.Hold, error) {
			return &release.Hold{Bundle: r.name, Release: 9, Rollout: "OTHER", SourceDigest: "sha256:x", Since: rec.Started, Paused: &release.Word{By: "ann@laptop"}}, nil
		})
	})
	r.write("app.yaml", r.configMap("app", "k: x"))
	if out, err := r.apply(r.request()); !errors.Is(err, fleetplan.ErrRefused) || out.Findings[0].Code != release.CodePaused {
		t.Errorf("apply: %v, %+v", err, out)
	}
	back, err := r.Plan(t.Context(), r.request().For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), back, r.request()); !errors.Is(err, fleetplan.ErrRefused) || out.Findings[0].Code != release.CodePaused {
		t.Errorf("rollback: %v, %+v", err, out)
	}
	end, err := r.Plan(t.Context(), r.request().For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), end, r.request()); err != nil || r.held() != nil {
		t.Errorf("delete: %v, %+v, hold %+v", err, out, r.held())
	}
}

// An approval lies also on clusters that the bundle never came to: what ends the bundle takes it from there, and nothing else does.
func TestDeleteTakesApprovals(t *testing.T) {
	t.Parallel()
	for verb, left := range map[string]bool{"delete": false, "eject": false, "apply": true, "rollback": true} {
		store := memory.New("a")
		approved := func(*release.Hold) (*release.Hold, error) {
			return &release.Hold{Release: 1, Rollout: "A", Wave: "wave 2", Approved: &release.Word{By: "ann"}}, nil
		}
		if err := release.PutHoldOn(t.Context(), store, "o", approved); err != nil {
			t.Fatal(err)
		}
		l := &loop{fp: &Prepared{FleetPlan: &fleetplan.FleetPlan{Verb: verb}}}
		if err := l.unhold(t.Context(), &work{target: &target{Target: desired.Target{Store: store}}, set: &desired.State{Owner: "o"}}); err != nil {
			t.Fatal(err)
		}
		if h, _, err := store.Held(t.Context(), "o"); err != nil || (h != nil) != left {
			t.Errorf("%s: %+v, %v", verb, h, err)
		}
	}
}

// What keeps releases back and cannot be read stops an apply, which says the way out, and no delete.
func TestDamagedHold(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	req := r.request()
	req.SkipApprovals = true
	r.applied(req)
	owner := r.record().Owner
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "hawser-" + owner + "-hold"}, StringData: map[string]string{"record": "junk"}}
	if _, err := r.admin.CoreV1().Secrets(object.SystemNamespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.write("app.yaml", r.configMap("app", "k: w"))
	out, err := r.apply(r.request())
	if err == nil || len(out.Findings) != 1 || out.Findings[0].Code != release.CodeDamagedHold || !strings.Contains(out.Findings[0].Fix, "kubectl delete secret --namespace "+object.SystemNamespace+" hawser-"+owner+"-hold") {
		t.Errorf("apply: %v, %+v", err, out)
	}
	if _, err := r.say(release.Abort, ""); err == nil || !strings.Contains(err.Error(), "kubectl delete secret") {
		t.Errorf("abort: %v", err)
	}
	end, err := r.Plan(t.Context(), r.request().For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(t.Context(), end, r.request()); err != nil {
		t.Errorf("delete: %v, %+v", err, out)
	}
	if h := r.held(); h != nil {
		t.Errorf("left behind: %+v", h)
	}
}

// awaited expects what history and status say of the newest release: its state, and the command that it waits for, "" for none.
func (r *rig) awaited(releases int, rollout, next string, state history.State) {
	r.t.Helper()
	req := r.request()
	docs(&req).Files, req.Bundle = nil, r.name
	h, err := r.History(r.t.Context(), req)
	if err != nil || len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != releases {
		r.t.Fatalf("%v, %+v", err, h)
	}
	newest := h.Bundles[0].Releases[0]
	report, err := r.Status(r.t.Context(), req)
	if report == nil || len(report.Findings.Errors()) > 0 && state != history.Aborted { // that one never came
		r.t.Fatalf("status: %v, %+v", err, report)
	}
	told := report.Clusters[0].Waits
	if newest.Rollout != rollout || newest.State != state || (newest.Waits == nil) != (next == "") || (told == nil) != (next == "") {
		r.t.Fatalf("history: %+v; status: %+v", newest, told)
	}
	if next != "" && (newest.Waits.Next != next || told.Next != next || newest.Author != "tester" || len(newest.Clusters) != 1) {
		r.t.Errorf("history: %+v; status: %+v", newest, told)
	}
}

// between is a store in which somebody else is faster: right before a hold is written for the first time.
type between struct {
	release.Store
	release.Holder
	faster func()
}

func (b *between) PutHold(ctx context.Context, owner string, h release.Hold, at release.RecordVersion) (release.RecordVersion, error) {
	if first := b.faster; first != nil {
		b.faster = nil
		first()
	}
	return b.Holder.PutHold(ctx, owner, h, at)
}

// after is the rig in another process, in which somebody else is faster with the hold.
func (r *rig) after(t *testing.T, faster func()) *rig {
	t.Helper()
	slow := r.again(t)
	slow.Records = opened(func(s *cluster.Session, name string) release.Store {
		store := inTheCluster(nil, nil)(s, name)
		return &between{store, store.(release.Holder), faster}
	})
	return slow
}

// Of two who say something at once, one is first; the other is told by whom that was decided, and nothing is lost.
func TestSaidAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, problem string }{
		{release.Abort, release.Approve, "it was aborted by ann@laptop"},
		{release.Approve, release.Approve, "was approved already by ann@laptop"},
		{release.Pause, release.Pause, "it was paused already by ann@laptop"},
		{release.Abort, release.Abort, "it was aborted by ann@laptop"},
		{release.Approve, release.Abort, ""},
		{release.Pause, release.Approve, ""},
	} {
		r := approvals(t)
		r.waits()
		slow := r.after(t, func() {
			if _, err := r.say(c.first, ""); err != nil {
				t.Error(err)
			}
		})
		said, err := slow.say(c.second, "")
		if said == nil || (err != nil) != (c.problem != "") || !strings.Contains(said.Clusters[0].Problem, c.problem) || said.Clusters[0].Done != (c.problem == "") {
			t.Errorf("%s, then %s: %v, %+v", c.first, c.second, err, said)
		}
		h := r.held()
		for verb, word := range map[string]*release.Word{release.Approve: h.Approved, release.Pause: h.Paused, release.Abort: h.Aborted} {
			if (word != nil) != (verb == c.first || verb == c.second && c.problem == "") {
				t.Errorf("%s, then %s: %s is %v", c.first, c.second, verb, word)
			}
		}
	}
}

// Of two runs that come to one wave at once the release of the first waits; the other is told of it, and goes on with that one, or as a
// newer one, when it is run again.
func TestWaitingAtOnce(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	var first *fleetplan.Outcome
	slow := r.after(t, func() { first = r.waits() })
	out, err := slow.apply(slow.request())
	if err == nil || len(out.Findings.Errors()) != 1 || !strings.Contains(out.Findings.Errors()[0].What, first.Rollout) || !strings.Contains(out.Findings.Errors()[0].What, "by tester") {
		t.Fatalf("%v, %+v", err, out)
	}
	if h := r.held(); h.Rollout != first.Rollout {
		t.Errorf("%s waits", h.Rollout)
	}
	if again := slow.again(t).waits(); again.Rollout != first.Rollout {
		t.Errorf("run again it is %s", again.Rollout)
	}
	r.write("app.yaml", r.configMap("app", "k: other"))
	if other := slow.again(t).waits(); other.Rollout == first.Rollout || r.held().Release != 2 {
		t.Errorf("other files: %s, %+v", other.Rollout, r.held())
	}
}

// What failed in an approved wave is tried again with its approval, as long as the files are the same.
func TestApprovedAndFailed(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	r.write("app.yaml", r.deployment("web"))
	first := r.waits()
	if _, err := r.say(release.Approve, ""); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Timeout = 1
	for range 2 {
		if out, err := r.apply(req); err == nil || out.Unapproved || r.record().Phase != release.Failed {
			t.Fatalf("%v, %+v", err, out)
		}
	}
	r.rolledOut("web", true)
	r.applied(r.request())
	if rec := r.record(); rec.Rollout == first.Rollout || len(rec.Approvals) != 1 || rec.Approvals[0].By != "ann@laptop" {
		t.Errorf("%s, %+v", rec.Rollout, rec.Approvals)
	}
	r.write("app.yaml", r.deployment("web")+r.configMap("app", "k: w"))
	r.waits()
}
