// Package rollout is the order in which clusters change, as a state machine: waves, canaries, soak, budgets, stop.
// Next is a pure function of the state, what came back, and the time handed in; the CLI loops over it and the hub
// requeues on it.
//
// The rules: without waves one cluster after another, until the first failure. With waves the canaries of a wave go
// first, together and alone; then the soak; then the rest, MaxParallel at once. A failed canary, or more than
// MaxFailures failures in a wave, stops the rollout: what runs ends, nothing more starts. A wave without canaries
// soaks when all of it has ended, the last wave too: its soak stands between the last cluster and success. At the end of
// a soak the clusters of its step are judged again: one that is no longer ready has failed after all.
//
// rollout must not know clusters' content, plans or Kubernetes.
package rollout

import "time"

// Phase of one cluster within a rollout.
type Phase string

const (
	// Waiting has not had its turn yet.
	Waiting Phase = "waiting"
	// Running was started and has not ended.
	Running Phase = "running"
	// Succeeded ended well.
	Succeeded Phase = "succeeded"
	// Failed ended badly, or does not answer.
	Failed Phase = "failed"
	// NotStarted is untouched: the rollout stopped, or ended with an earlier wave, before its turn.
	NotStarted Phase = "notStarted"
)

// Member is one cluster's part in the rollout.
type Member struct {
	Cluster string `json:"cluster"`
	Wave    int    `json:"wave"` // from 1
	Canary  bool   `json:"canary,omitempty"`
	// Unreachable members count as failed without being started.
	Unreachable bool `json:"unreachable,omitempty"`
	// Unchanged members have nothing to do with this revision, so that they are no canaries: they would show nothing.
	Unchanged bool `json:"unchanged,omitempty"`
	// Settled members have nothing to do in this run: no window keeps them.
	Settled bool `json:"settled,omitempty"`
}

// WaveSpec are the rules of one wave.
type WaveSpec struct {
	Name        string        `json:"name"`
	MaxParallel int           `json:"maxParallel"` // 0 = all at once
	MaxFailures int           `json:"maxFailures"`
	Canary      int           `json:"canary"`
	Soak        time.Duration `json:"soak"`
	Window      *Window       `json:"window,omitempty"`
	// Approval: a release comes to it when somebody has approved that. Approved tells that somebody has.
	Approval bool `json:"approval,omitempty"`
	Approved bool `json:"-"`
}

// Schedule is the whole order: waves, and their members by wave, canaries first, in fleet order. Sequential is a
// rollout without waves: a single wave of one cluster after another, stopped by the first failure.
type Schedule struct {
	Waves      []WaveSpec `json:"waves"`
	Members    []Member   `json:"members"`
	Sequential bool       `json:"sequential,omitempty"`
	// UntilWave stops after this wave (0 = all).
	UntilWave int `json:"untilWave,omitempty"`
	// GoesBack: the clusters of a wave that failed go back to what they had.
	GoesBack bool `json:"goesBack,omitempty"`
}

// State of a rollout; the zero State is a rollout that has not begun. Next returns the new one.
type State struct {
	Phases map[string]Phase `json:"phases"`
	// Ended is when a cluster ended; SoakUntil when the soak of the current step is over.
	Ended     map[string]time.Time `json:"ended,omitempty"`
	SoakUntil time.Time            `json:"soakUntil,omitzero"`
	Soaked    map[int]bool         `json:"soaked,omitempty"` // by wave: its soak is over, and its clusters were judged again
	// Asked waves have soaked, and their clusters were given out to be judged again; Checking are those that were not yet,
	// Unready those that were found to have failed after all.
	Asked    map[int]bool    `json:"asked,omitempty"`
	Checking map[string]bool `json:"checking,omitempty"`
	Unready  map[string]bool `json:"unready,omitempty"`
	// Why is what was said of those.
	Why     map[string]string `json:"why,omitempty"`
	Stopped string            `json:"stopped,omitempty"` // why the rollout stopped, "" if it did not
	// StoppedWave is the wave it stopped in, from 1.
	StoppedWave int `json:"stoppedWave,omitempty"`
	// FailedWave is the wave whose failures stopped it, from 1; 0 where something else did.
	FailedWave int `json:"failedWave,omitempty"`
}

// Outcome is what came back of one cluster that was started, or that was to be judged again.
type Outcome struct {
	Cluster string
	// OK: it succeeded, or it is ready still.
	OK bool
	// Why says of one that was judged again what is wrong with it, after its name; "" is that it is no longer ready.
	Why string
	// Held says why it was not begun after all, "" that it was: nothing more starts then.
	Held string
	// At is when it ended; zero is now. For a cluster that was found up to date it is the end of its last release, so
	// that a resumed rollout does not soak again what has soaked.
	At time.Time
}

// Decision is what to do now.
type Decision struct {
	// Start these clusters, in this order.
	Start []string
	// Check these clusters: their soak is over. Each one's health is an Outcome of its own.
	Check []string
	// WakeAt is when to call Next again though nothing came back (soak, window); zero = only when an outcome arrives.
	WakeAt time.Time
	// Closed: what WakeAt waits for is the window of the wave.
	Closed bool
	// Unapproved: nothing goes on before the wave is approved.
	Unapproved bool
	// Wave is the current wave, from 1.
	Wave int
	// Soaking says what the soak follows: "canary" or "wave"; "" when not soaking.
	Soaking string
	// Done: nothing is running and nothing will start.
	Done bool
	// Stop is why no further cluster starts, "" while it goes on.
	Stop string
}
