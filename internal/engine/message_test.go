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
