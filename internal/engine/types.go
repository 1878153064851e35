// Package engine holds the order of steps: plan, apply, delete, status. It composes the pure rooms with the hands, and
// progress goes out as Events.
//
// engine must not know flags, dialects or how anything is printed, and holds no rule of its own: what changes, where and
// when is decided in the pure rooms.
package engine

import (
	"maps"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
)

// FleetPlan is the one plan for all clusters of a bundle. Its JSON form is public and versioned.
type FleetPlan struct {
	V       int       `json:"v"`    // 1
	Verb    string    `json:"verb"` // "apply" or "delete"
	Bundle  string    `json:"bundle"`
	Owner   string    `json:"owner"`
	Fleet   string    `json:"fleet,omitempty"`
	Head    string    `json:"head"`
	Created time.Time `json:"created"`
	// Clusters in rollout order: wave, canaries first, fleet order.
	Clusters []*ClusterPlan   `json:"clusters"`
	Groups   []plan.Group     `json:"groups"`
	Schedule rollout.Schedule `json:"schedule"`
	Stats    Stats            `json:"stats"`
	// Guard says why the deletions of an apply need their exact number confirmed, empty when they do not.
	Guard []string `json:"guard,omitempty"`
	// Findings of the fleet as a whole and of every cluster (with Cluster set). An Error blocks the apply.
	Findings diag.Findings `json:"findings,omitempty"`

	run *run
}

// Stats say what planning cost.
type Stats struct {
	Clusters  int `json:"clusters"`  // selected
	Connected int `json:"connected"` // answered
	Instances int `json:"instances"` // instances x clusters
	Renders   int `json:"renders"`   // really rendered
	Objects   int `json:"objects"`   // compared
	// Milliseconds of the three steps.
	ConnectMS int64 `json:"connectMs"`
	RenderMS  int64 `json:"renderMs"`
	ObserveMS int64 `json:"observeMs"`
}

// ClusterPlan is one cluster's part.
type ClusterPlan struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	Wave    int    `json:"wave"`
	Canary  bool   `json:"canary,omitempty"`
	Server  string `json:"server,omitempty"`
	UID     string `json:"uid,omitempty"`
	Version string `json:"version,omitempty"`
	// Unreachable says why a cluster that resolves did not answer: it is not planned and not counted as unchanged.
	Unreachable string `json:"unreachable,omitempty"`
	// Later: its wave comes after --until-wave, so that it is neither asked nor planned.
	Later bool `json:"later,omitempty"`
	// Plan is nil for unreachable and later clusters.
	Plan *plan.Plan `json:"plan,omitempty"`
	// Instances placed here, in order, with their source for people; NotPlaced are the others with the reason.
	Instances []InstancePlan    `json:"instances,omitempty"`
	NotPlaced map[string]string `json:"notPlaced,omitempty"`
	Revision  int               `json:"revision,omitempty"` // of the record now, 0 if none
	// Late are the instances that take values which are known only when other instances are carried out.
	Late []string `json:"late,omitempty"`
	// Resumes is set when the last run on this cluster ended in the middle.
	Resumes bool `json:"resumes,omitempty"`
	// Runtime values that changed since the recorded release: "GROUP staging -> production (env)".
	RuntimeChanges []string `json:"runtimeChanges,omitempty"`

	work *work
}

// InstancePlan describes an instance's source on a cluster: "module web 0.0.0-devel", and what the record says it was
// before ("" for a new instance).
type InstancePlan struct {
	Name   string   `json:"name"`
	Source string   `json:"source"`
	Before string   `json:"before,omitempty"`
	Pos    diag.Pos `json:"pos,omitzero"`
}

// redact sorts the findings, and masks secret values in what a fleet plan says beside the plans of its clusters. Names stay; of an address only what
// authenticates is masked.
func (p *FleetPlan) redact(m plan.Masker) {
	for _, cp := range p.Clusters {
		cp.Server, cp.Unreachable = m.Sweep(cp.Server), m.Redact(cp.Unreachable)
		cp.NotPlaced = maps.Clone(cp.NotPlaced)
		for i := range cp.Instances {
			cp.Instances[i].Source, cp.Instances[i].Before = m.Sweep(cp.Instances[i].Source), m.Sweep(cp.Instances[i].Before)
		}
		for name, why := range cp.NotPlaced {
			cp.NotPlaced[name] = m.Said(name, why)
		}
	}
	for i := range p.Guard {
		p.Guard[i] = m.Sweep(p.Guard[i])
	}
	p.Findings = plan.RedactFindings(p.Findings.Sorted(), m)
}

// Counts sums the plans' counts over all clusters.
func (p *FleetPlan) Counts() plan.Counts {
	var c plan.Counts
	for _, cp := range p.Clusters {
		if cp.Plan != nil {
			c = c.Add(cp.Plan.Count())
		}
	}
	return c
}

// EventType names an event.
type EventType string

// The events, in the order in which they can occur.
const (
	EventConnected    EventType = "connected"     // one cluster answered (or Status "unreachable" with Message)
	EventRendered     EventType = "rendered"      // Done of Total instances rendered
	EventObserved     EventType = "observed"      // one cluster compared
	EventRollout      EventType = "rollout"       // a rollout begins: Rollout, Total clusters
	EventWave         EventType = "wave"          // a wave begins: Wave, Message is its name
	EventClusterStart EventType = "cluster-start" // a cluster begins: Total = writes
	EventWritten      EventType = "written"       // Object written (Action), Done of Total
	EventWaiting      EventType = "waiting"       // Object is waited for, Message its reason
	EventReady        EventType = "ready"         // Object is ready
	EventObjectFailed EventType = "object-failed" // Object failed, Message why
	EventClusterEnd   EventType = "cluster-end"   // a cluster ended: Status "succeeded" | "failed" | "unreachable", Counts, Message
	EventSoak         EventType = "soak"          // soaking until Until
	EventStop         EventType = "stop"          // stopping: Message why, Done in flight
	EventNotice       EventType = "notice"        // something to know: a recovered lock, a deliberate difference
	EventSummary      EventType = "summary"       // the last one
)

// Event is one step of progress. The JSON form is public and versioned; unknown fields may be added.
type Event struct {
	V        int         `json:"v"` // 1
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
	Hook    object.Event `json:"hook,omitempty"`
	Status  string       `json:"status,omitempty"`
	Message string       `json:"message,omitempty"`
	Done    int          `json:"done,omitempty"`
	Total   int          `json:"total,omitempty"`
	Until   time.Time    `json:"until,omitzero"`
	Counts  *plan.Counts `json:"counts,omitempty"`
	Summary *Outcome     `json:"summary,omitempty"`
}

// Result of one cluster or of a whole rollout.
type Result string

const (
	// Succeeded: everything was written and got ready.
	Succeeded Result = "succeeded"
	// Failed: something was refused, not written, or did not get ready.
	Failed Result = "failed"
	// NotStarted: the rollout stopped before it; nothing was sent to it.
	NotStarted Result = "not started"
	// Unreachable: it did not answer, and counts as failed.
	Unreachable Result = "unreachable"
	// UpToDate: nothing had to be done.
	UpToDate Result = "unchanged"
	// Interrupted: the user ended it; running it again resumes.
	Interrupted Result = "interrupted"
)

// Outcome is what a rollout did. Its JSON form is public and versioned.
type Outcome struct {
	V           int              `json:"v"` // 1
	Verb        string           `json:"verb"`
	Bundle      string           `json:"bundle"`
	Rollout     string           `json:"rollout,omitempty"`
	Result      Result           `json:"result"`
	Stopped     string           `json:"stopped,omitempty"`
	StoppedWave int              `json:"stoppedWave,omitempty"`
	Clusters    []ClusterOutcome `json:"clusters"`
	Findings    diag.Findings    `json:"findings,omitempty"`
	Started     time.Time        `json:"started"`
	Seconds     float64          `json:"seconds"`
}

// ClusterOutcome is one cluster's row of the table.
type ClusterOutcome struct {
	Cluster  string      `json:"cluster"`
	Wave     int         `json:"wave"`
	Canary   bool        `json:"canary,omitempty"`
	Result   Result      `json:"result"`
	Done     plan.Counts `json:"done"`
	Seconds  float64     `json:"seconds"`
	Revision int         `json:"revision,omitempty"`
	// Reason is one line: "api not ready". Problems are the objects that failed.
	Reason   string    `json:"reason,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	// TimedOut: written, and not ready in time or beyond hope (exit code 4 rather than 1).
	TimedOut bool `json:"timedOut,omitempty"`
	// Later: its wave comes after --until-wave, so that not having started is no failure.
	Later bool `json:"later,omitempty"`
	// Refused: nothing was written here (locked by somebody else, or the plan is stale).
	Refused bool `json:"refused,omitempty"`
}

// Problem is one object that failed on a cluster.
type Problem struct {
	Object   object.Ref    `json:"object"`
	Instance string        `json:"instance,omitempty"`
	Status   health.Status `json:"status"`
	// GaveUpAfter in seconds.
	GaveUpAfter float64 `json:"gaveUpAfter,omitempty"`
	// Elsewhere compares digests with the clusters that are ready: "only here" or "everywhere", "" when it says nothing.
	Elsewhere string `json:"elsewhere,omitempty"`
	ReadyOn   int    `json:"readyOn,omitempty"`
	FailedOn  int    `json:"failedOn,omitempty"`
	Digest    string `json:"digest,omitempty"`
}

// StatusReport is what is known of bundles on the fleet now. Its JSON form is public and versioned.
type StatusReport struct {
	V        int             `json:"v"` // 1
	Bundle   string          `json:"bundle,omitempty"`
	Clusters []ClusterStatus `json:"clusters"`
	Findings diag.Findings   `json:"findings,omitempty"`
}

// ClusterStatus is one cluster's bundles.
type ClusterStatus struct {
	Cluster     string    `json:"cluster"`
	Group       string    `json:"group,omitempty"`
	Server      string    `json:"server,omitempty"`
	Unreachable string    `json:"unreachable,omitempty"`
	Bundle      string    `json:"bundle,omitempty"`
	Revision    int       `json:"revision,omitempty"`
	Phase       string    `json:"phase,omitempty"` // of the record
	Head        string    `json:"head,omitempty"`
	Applied     time.Time `json:"applied,omitzero"`
	Author      string    `json:"author,omitempty"`
	Message     string    `json:"message,omitempty"`
	// Unknown says why nobody knows what is installed there: the records may not, or can not, be read.
	Unknown string `json:"unknown,omitempty"`
	// InProgress is who is at work on the bundle there, and since when: "me@laptop since 2026-09-01T12:00:00Z".
	InProgress string `json:"inProgress,omitempty"`
	// NotPlaced: the files that were given place nothing of the bundle there, and nothing of it is there.
	NotPlaced bool `json:"notPlaced,omitempty"`
	// NotStarted: the last rollout stopped, or was interrupted, before it came here.
	NotStarted bool `json:"notStarted,omitempty"`
	rollout    string
	began      time.Time
	Instances  []InstanceStatus `json:"instances,omitempty"`
}

// InstanceStatus is one instance on one cluster. State is the worst of its objects'.
type InstanceStatus struct {
	Instance string `json:"instance"`
	Source   string `json:"source,omitempty"`
	// Suspended: the last run left it as it was.
	Suspended bool           `json:"suspended,omitempty"`
	State     string         `json:"state"` // ready, progressing, failed, drifted, missing
	Objects   []ObjectStatus `json:"objects,omitempty"`
	Images    []string       `json:"images,omitempty"`
}

// ObjectStatus is one object's state now.
type ObjectStatus struct {
	Object object.Ref    `json:"object"`
	Status health.Status `json:"status"`
	// Drifted: somebody changed or removed values we declared; By whom, when known.
	Drifted bool   `json:"drifted,omitempty"`
	By      string `json:"by,omitempty"`
}
