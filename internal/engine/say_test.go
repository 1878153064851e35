package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
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

// A run that is at work begins with no cluster any more when its release was aborted, also where a newer one waits by then.
func TestAbortOfARunAtWork(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]bool{"alone": false, "a newer one waits since": true} {
		t.Run(name, func(t *testing.T) { abortedAtWork(t, newer) })
	}
}

func abortedAtWork(t *testing.T, newer bool) {
	t.Parallel()
	r := approvals(t)
	r.waits()
	if _, err := r.say(release.Approve, ""); err != nil {
		t.Fatal(err)
	}
	fp, other, bob := r.plan(r.request()), r.again(t), &release.Word{By: "bob"}
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventRollout {
			other.stored(func(s release.Store) error {
				return release.PutHoldOn(t.Context(), s, object.OwnerID("", "", r.name), func(h *release.Hold) (*release.Hold, error) {
					if h.Aborted = bob; newer {
						return release.Record{Bundle: h.Bundle, Release: h.Release + 1, Rollout: "NEWER", SourceDigest: "sha256:N"}.Waiting(h.Wave, nil)(h)
					}
					return h, nil
				})
			})
		}
	}
	out, err := r.Apply(t.Context(), fp, r.request())
	if err == nil || out.Result != fleetplan.Aborted || out.Clusters[0].Result != fleetplan.NotStarted || !strings.Contains(out.Stopped, "was aborted") {
		t.Errorf("%v, %+v", err, out)
	}
	if r.record() != nil {
		t.Error("it was delivered")
	}
}
