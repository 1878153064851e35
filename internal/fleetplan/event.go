package fleetplan

import (
	"time"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
)

// EventType names an event.
type EventType string

// The events, in the order in which they can occur.
const (
	EventConnected    EventType = "connected"    // one cluster answered (or Status "unreachable" with Message)
	EventRendered     EventType = "rendered"     // Done of Total instances rendered
	EventObserved     EventType = "observed"     // one cluster compared
	EventRollout      EventType = "rollout"      // a rollout begins: Rollout, Total clusters
	EventWave         EventType = "wave"         // a wave begins: Wave, Message is its name
	EventClusterStart EventType = "clusterStart" // a cluster begins: Total = writes
	EventWritten      EventType = "written"      // Object written (Action), Done of Total
	EventWaiting      EventType = "waiting"      // Object is waited for, Message its reason
	EventReady        EventType = "ready"        // Object is ready
	EventObjectFailed EventType = "objectFailed" // Object failed, Message why
	EventClusterEnd   EventType = "clusterEnd"   // a cluster ended: Status "succeeded" | "failed" | "unreachable", Counts, Message
	EventSoak         EventType = "soak"         // soaking until Until
	EventStop         EventType = "stop"         // stopping: Message why, Done in flight
	EventNotice       EventType = "notice"       // something to know: a recovered lock, a deliberate difference
	EventSummary      EventType = "summary"      // the last one
)

// Event is one step of progress. The JSON form is public and versioned; unknown fields may be added.
type Event struct {
	V        int         `json:"v"` // diag.DocumentVersion
	Time     time.Time   `json:"time"`
	Type     EventType   `json:"type"`
	Rollout  string      `json:"rollout,omitempty"`
	Bundle   string      `json:"bundle,omitempty"`
	Wave     int         `json:"wave,omitempty"`
	Cluster  string      `json:"cluster,omitempty"`
	Instance string      `json:"instance,omitempty"`
	Object   *object.Ref `json:"object,omitempty"`
	Action   plan.Action `json:"action,omitempty"`
	// Hook is the event that a hook's object is made for.
	Hook    object.HookPhase `json:"hook,omitempty"`
	Status  string           `json:"status,omitempty"`
	Message string           `json:"message,omitempty"`
	Done    int              `json:"done,omitempty"`
	Total   int              `json:"total,omitempty"`
	Until   time.Time        `json:"until,omitzero"`
	Counts  *plan.Counts     `json:"counts,omitempty"`
	Summary *Outcome         `json:"summary,omitempty"`
}

// Said is what has been said of a rollout: the wave that began last, and that it stops.
type Said struct {
	Wave    int
	Stopped bool
}

// Announce are the events of a decision of a rollout, inFlight clusters being at work.
func (s *Said) Announce(d rollout.Decision, sch rollout.Schedule, rolloutID string, inFlight int) []Event {
	var out []Event
	if d.Wave > s.Wave && len(d.Start) > 0 && !sch.Sequential {
		s.Wave = d.Wave
		out = append(out, Event{Type: EventWave, Rollout: rolloutID, Wave: d.Wave, Message: sch.Waves[d.Wave-1].Name})
	}
	if d.Soaking != "" {
		out = append(out, Event{Type: EventSoak, Rollout: rolloutID, Wave: d.Wave, Until: d.WakeAt, Message: "soaking after the " + d.Soaking})
	}
	if d.Stop != "" && !s.Stopped {
		s.Stopped = true
		out = append(out, Event{Type: EventStop, Rollout: rolloutID, Wave: d.Wave, Message: d.Stop, Done: inFlight})
	}
	return out
}
