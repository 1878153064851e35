package report

import (
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// NewPlain returns a reader of events that writes one line each: time, then key=value pairs that say where, then one
// verb, then what. Lines are stable, so that they can be searched: verbs and keys do not change within a version.
func NewPlain(w io.Writer) func(fleetplan.Event) {
	return func(e fleetplan.Event) {
		to, e := masked(w, e)
		if l := PlainLine(e); l != "" {
			_, _ = io.WriteString(to, l+"\n") // a reader that went away does not stop a rollout
		}
	}
}

// PlainLine is an event on one line, "" for events that say nothing to a reader.
func PlainLine(e fleetplan.Event) string {
	text := eventText(e)
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(e.Time.Format("15:04:05"))
	if e.Wave > 0 {
		fmt.Fprintf(&b, " wave=%d", e.Wave)
	}
	if e.Cluster != "" {
		b.WriteString(" cluster=" + e.Cluster)
	}
	b.WriteString(" " + text)
	return strings.TrimRight(clean(b.String()), " ")
}

// done are the past tenses of the actions.
var done = map[plan.Action]string{
	plan.Create: "created", plan.Update: "changed", plan.Delete: "deleted", plan.Recreate: "recreated", plan.Adopt: "adopted",
	plan.Unknown: "written", plan.Release: "released",
}

func eventText(e fleetplan.Event) string {
	name := slash(e.Object)
	switch e.Type {
	case fleetplan.EventConnected:
		if e.Status != "" && e.Status != "connected" && e.Status != "ok" {
			return e.Status + " " + e.Message
		}
		return "connected " + e.Message
	case fleetplan.EventRendered:
		return fmt.Sprintf("rendered renders=%d instances=%d", e.Done, e.Total)
	case fleetplan.EventObserved:
		return "compared " + e.Message
	case fleetplan.EventRollout:
		return fmt.Sprintf("rollout=%s begins bundle=%s clusters=%d", e.Rollout, e.Bundle, e.Total)
	case fleetplan.EventWave:
		return "begins " + e.Message
	case fleetplan.EventClusterStart:
		return fmt.Sprintf("started writes=%d", e.Total)
	case fleetplan.EventWritten:
		verb := done[e.Action]
		if verb == "" {
			verb = "written"
		}
		if e.Status != "" {
			verb = e.Status
		}
		if e.Hook != "" {
			verb = string(e.Hook) + "-hook"
		}
		return fmt.Sprintf("%s %s %d/%d", verb, name, e.Done, e.Total)
	case fleetplan.EventWaiting:
		return "waiting " + name + " " + waitedFor(e)
	case fleetplan.EventReady:
		return "ready " + name
	case fleetplan.EventObjectFailed:
		return "failed " + name + " " + e.Message
	case fleetplan.EventClusterEnd:
		text := "ended status=" + strings.ReplaceAll(e.Status, " ", "-")
		if c := e.Counts; c != nil {
			text += fmt.Sprintf(" created=%d changed=%d deleted=%d same=%d", c.Create, changed(*c), c.Delete, c.Unchanged)
		}
		return text + " " + e.Message
	case fleetplan.EventSoak:
		return "soak until=" + e.Until.Format("15:04:05") + " " + e.Message
	case fleetplan.EventStop:
		return fmt.Sprintf("stopping in-flight=%d %s", e.Done, e.Message)
	case fleetplan.EventNotice:
		return strings.TrimRight("notice "+name, " ") + " " + e.Message
	case fleetplan.EventSummary:
		return summaryText(e.Summary)
	}
	return ""
}

// waitedFor says why something is waited for, and that it is a hook or a test that has to end.
func waitedFor(e fleetplan.Event) string {
	if e.Hook == "" {
		return e.Message
	}
	return e.Message + " (" + string(e.Hook) + " hook)"
}

func slash(r *object.Ref) string {
	if r == nil {
		return ""
	}
	return r.Slash()
}

func summaryText(oc *fleetplan.Outcome) string {
	if oc == nil {
		return ""
	}
	n := oc.Tally()
	text := "rollout=" + oc.Rollout + " ended result=" + string(oc.Result)
	for _, r := range fleetplan.ResultsTold {
		if n[r] > 0 {
			text += fmt.Sprintf(" %s=%d", strings.ReplaceAll(string(r), " ", "-"), n[r])
		}
	}
	return text
}
