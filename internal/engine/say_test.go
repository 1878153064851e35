package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/release"
)

// Beside a cluster that does not answer nobody knows that there is nothing to say: that is no mistake of who says it.
func TestSayWhereOneIsAway(t *testing.T) {
	t.Parallel()
	r := approvals(t)
	r.waits()
	if _, err := r.say(release.Abort, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.say(release.Approve, ""); exitcode.Of(err) != exitcode.Error {
		t.Errorf("approved after all: %v", err)
	}
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: approvals
  clusters: {engine: {group: p, kubeContext: engine}, far: {group: p, kubeContext: down}}
`)
	_, err := r.say(release.Approve, "")
	if exitcode.Of(err) != exitcode.Partial || !strings.Contains(err.Error(), "cluster far does not answer") || !strings.Contains(err.Error(), "when the others answer") {
		t.Errorf("exit code %d: %v", exitcode.Of(err), err)
	}
}
