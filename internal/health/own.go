package health

import "strings"

// own are the reasons of ours, and what stands before a colon in those that quote somebody (TestOwnReasonsAreKnown). Whatever
// a secret is called, they are not it.
var own = []string{DoneAndGone, "available", "bound", "completed", "established", "is being deleted", "is still there", "its controller has not seen the change yet",
	"its names are not accepted", "its volume is lost", "no container says why", "not available", "not available yet", "not bound yet", "not established yet", "not in the cluster",
	"not ready yet", "not seen yet", "not started yet", "paused", "running", "suspended", "the change is not visible yet",
	"the job failed", "the job is about to fail", "the pod failed", "the record cannot be written",
	"waiting for a load balancer's address", "was deleted by somebody"}

// masked is a reason with mask applied to what others say in it.
func masked(reason string, mask func(string) string) string {
	for _, s := range own {
		if reason == s {
			return reason
		}
		if rest, ok := strings.CutPrefix(reason, s+": "); ok {
			return s + ": " + masked(rest, mask)
		}
	}
	return mask(reason)
}
