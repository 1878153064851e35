package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/release"
)

// What somebody says of a release, or why it is made, is kept without what the run knows as secret.
func TestMessagesAreMasked(t *testing.T) {
	t.Parallel()
	const canary = "Zq3-CANARY-x9"
	r := approvals(t)
	r.Redactor.Add(canary)
	r.waits()
	req := r.request()
	req.Author, req.Message = "ann@laptop", "with "+canary
	said, err := r.Say(t.Context(), req, release.Approve, release.Meant{}, func(*release.Saying) error { return nil })
	if err != nil || len(said.Clusters) != 1 {
		t.Fatalf("%v, %+v", err, said)
	}
	r.applied(req)
	rec := r.record()
	if rec.Message != "with ***" || len(rec.Approvals) != 1 || rec.Approvals[0].Message != "with ***" || strings.Contains(said.Message, canary) {
		t.Errorf("%q, %+v, %+v", rec.Message, rec.Approvals, said)
	}
}

// What Secrets hold is masked in a message whoever knows it: as the files declare it, as the releases have it that are read, and as somebody
// set it by hand; by each verb that keeps one. Nothing else is hidden for it.
func TestMessagesOfSecrets(t *testing.T) {
	t.Parallel()
	const first, second, byHand = "Old-passw0rd-1", "New-passw0rd-2", "Hand-passw0rd-3"
	r := newRig(t)
	secret := func(pw string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: " + pw + ", user: web}\n"
	}
	kept := func(verb string, req Request, message, want string) {
		t.Helper()
		req.Message = message
		fp, err := r.Plan(t.Context(), req)
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		if text := fp.run.redact(byHand); text != byHand {
			t.Errorf("%s: hidden elsewhere, too: %s", verb, text)
		}
		if out, err := r.Apply(t.Context(), fp, req); err != nil {
			t.Fatalf("%s: %v %+v", verb, err, out)
		}
		rec := r.record()
		got := rec.Message
		if n := len(rec.Corrections); n > 0 {
			got = rec.Corrections[n-1].Message
		}
		if got != want {
			t.Errorf("%s kept %q", verb, got)
		}
	}
	r.write("bundle.yaml", r.bundle(secret(first)))
	kept("apply", r.request(), "set "+first, "set ***")
	r.write("app.yaml", secret(second))
	kept("apply", r.request(), "web: from "+first+" to "+second, "web: from *** to ***")
	kept("rollback", r.back("").For(Rollback), "back from "+second+" to "+first, "back from *** to ***")
	r.patch("intruder", "Secret", "token", `{"stringData":{"token":"`+byHand+`"}}`)
	kept("drift", r.back("").For(Correct), byHand+" is not "+first, "*** is not ***")
	r.patch("intruder", "Secret", "token", `{"stringData":{"token":"`+byHand+`"}}`)
	r.write("app.yaml", secret(second)+r.marker("one"))
	req := r.request()
	req.PlanOptions.Adopt = true
	kept("apply", req, byHand+" goes", "*** goes")
}
