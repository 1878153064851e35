package object

import (
	"strings"
	"time"
)

// Actions are what annotations on a declared (or live) object ask for. Both spellings are read:
// action.timoni.sh/NAME and hawser.dev/NAME, with the values "enabled" and "disabled".
type Actions struct {
	// Force: an immutable change deletes and creates the object again ("force: enabled").
	Force bool
	// Once: create when absent, never update ("one-off: enabled").
	Once bool
	// Keep: never delete ("prune: disabled", or Helm's "helm.sh/resource-policy: keep").
	Keep bool
	// NoWait: readiness is not waited for ("wait: disabled").
	NoWait bool
	// Timeout bounds waiting for the object ("timeout: 5m"), 0 = not said; BadTimeout is what is written when it is no
	// duration above 0.
	Timeout    time.Duration
	BadTimeout string
}

// helmPolicy is the annotation by which charts keep objects.
const helmPolicy = "helm.sh/resource-policy"

var actionPrefixes = []string{"action.timoni.sh/", "hawser.dev/"}

// ActionsOf reads the action annotations.
func ActionsOf(annotations map[string]string) Actions {
	is := func(name, value string) bool {
		for _, p := range actionPrefixes {
			if strings.EqualFold(annotations[p+name], value) {
				return true
			}
		}
		return false
	}
	a := Actions{
		Force:  is("force", "enabled"),
		Once:   is("one-off", "enabled"),
		Keep:   is("prune", "disabled") || strings.EqualFold(strings.TrimSpace(annotations[helmPolicy]), "keep"),
		NoWait: is("wait", "disabled"),
	}
	if text, ok := annotations["hawser.dev/timeout"]; ok {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			d, a.BadTimeout = 0, text
		}
		a.Timeout = d
	}
	return a
}
