// Package cluster is the hands: the only room that talks to Kubernetes API servers. A Session is one cluster's
// connection; it observes, previews, reviews rights, executes a Plan and tells health.
//
// It has no opinions: every force, adoption, recreation and prune is already a Change in the Plan. What it does decide
// is how to get there: the order inside the cluster, what is sent again, and what is waited for. It must not know how
// objects are rendered, how plans are made or how anything is printed.
package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
)

// Config says how one cluster is reached.
type Config struct {
	kubeapi.Config
	// ConnectTimeout bounds Connect as a whole; 0 is 10 s.
	ConnectTimeout time.Duration
	// Ahead is called when the connection is there, while Connect learns the facts: for a read that needs none of them. nil
	// reads nothing. Connect waits for it.
	Ahead func(context.Context, *Session)
}

// Session is a connection to one cluster and what was learned of it. Its methods are safe for concurrent use, and
// nothing it holds is shared with another cluster.
type Session struct {
	*kubeapi.Client
	*learned
	ahead rights.Ahead
}

// learned is what sessions on one connection know of the cluster.
type learned struct {
	mu    sync.RWMutex
	facts fleet.Facts
	// verified is when Verify asked last.
	verified time.Time
	// removed are the objects that were deleted.
	removed sync.Map
	judging chan struct{}
	close   func()
}

// As is a session on the same connection that asks for everything with somebody else's rights.
func (s *Session) As(who kubeapi.Identity) *Session {
	return &Session{Client: s.Client.As(who), learned: s.learned}
}

// meta is the metadata of one object.
type meta = kubeapi.Metadata

// Facts are what Connect learned: Name, Version, UID, WeakUID, Server and APIs.
func (s *Session) Facts() fleet.Facts {
	s.mu.RLock()
	f := s.facts
	s.mu.RUnlock()
	f.APIs = s.APIs()
	return f
}

// ObserveRequest says what to look at.
type ObserveRequest struct {
	Owner     string
	Desired   []plan.Desired
	Inventory []plan.InventoryEntry
	// Defined are the kinds that CRDs among the desired objects bring along.
	Defined map[schema.GroupKind]object.DefinedKind
	// Namespaces are further namespaces whose existence is asked for.
	Namespaces []string
	// Cached: that there is none of the names that the inventory does not have may be what the API server's cache says, which
	// can be behind for some milliseconds. A LIST of what etcd has waits for up to 100 ms after another one of its kind.
	Cached bool
}

// Observation is what was seen; it fills the fields of plan.Input of the same names.
type Observation struct {
	Live            map[object.Ref]plan.Live
	Schema          map[string]string
	NamespaceExists map[string]bool
}

// PreviewRequest is one provisional change with the object to write.
type PreviewRequest struct {
	Change plan.Change
	Body   object.Object
	// Base is the declaration as recorded; with it an unmoved object needs no read. nil: compare with the live object.
	Base map[string]any
	// Live: it is compared with the live object all the same.
	Live bool
	// Entry is the object's inventory entry, nil when there is none.
	Entry *plan.InventoryEntry

	live map[string]any // once it was read
}

// EventType names a step of Execute.
type EventType string

// The events of Execute.
const (
	Written EventType = "written"      // an object was written or deleted
	Waiting EventType = "waiting"      // an object is waited for, Message says why
	Ready   EventType = "ready"        // an object got ready
	Failed  EventType = "objectFailed" // an object failed, Message says why
	Notice  EventType = "notice"       // something to know
)

// Event is one step of Execute.
type Event struct {
	Type     EventType
	Ref      object.Ref
	Instance string
	Action   plan.Action
	Message  string
	// Hook is the event that a hook's object is made for.
	Hook object.HookPhase
	// Done of Total writes.
	Done, Total int
}

// ExecuteRequest is a Plan and what carrying it out needs.
type ExecuteRequest struct {
	Plan *plan.Plan
	// Bodies are the objects to write; those of unchanged objects, where known, help to order.
	Bodies map[object.Ref]object.Object
	// Inventory is the inventory of the open record: what was there and what may come.
	Inventory []plan.InventoryEntry
	// Schema is the schema key by group and kind at Observe.
	Schema map[string]string
	// Depends are instances by the instances they need.
	Depends map[string][]string
	// Wait for readiness; false waits only for what writing needs.
	Wait bool
	// Timeout bounds the whole (0: 5 m); StalledAfter is how long something that waiting cannot heal is waited for
	// (0: 30 s).
	Timeout, StalledAfter time.Duration
	// Rules are health rules by instance.
	Rules map[string]health.Rules
	// Parallel bounds writes at once, besides the session's own bound; 0 adds none.
	Parallel int
	// OnEvent receives progress, one event at a time; nil is allowed.
	OnEvent func(Event)
	// OnWake is told, from any goroutine, when the next pass may have something to do; nil is allowed.
	OnWake func()
	// Deleting: the plan removes everything on purpose.
	Deleting bool
	// Stop ends waiting when closed (Ctrl-C): what can be written without waiting still is. nil never does.
	Stop <-chan struct{}
	// HookStates are the instances with hooks as the open record has them. Checkpoint keeps what is known when all hooks of an
	// event have run, so that they do not run again after a crash; an error stops the instance. nil keeps nothing.
	HookStates map[string]plan.HookState
	Checkpoint func(ctx context.Context, inventory []plan.InventoryEntry, lives map[string]plan.HookState) error
}

// Problem is one object that failed.
type Problem struct {
	Ref      object.Ref
	Instance string
	Status   health.Status
	// Written: the object was written and did not get ready; else writing it failed. Late: a value that its instance takes did not come in time.
	Written, Late bool
	// After is how long it was waited for.
	After time.Duration
	// Err is the cause, nil for readiness; a *StaleError when the cluster is not what the plan saw. Code is that of the finding that it is, if any.
	Err  error
	Code string
	// Hook is the event of the hook that did not do its work. Unrecorded: it is not that, but the record of it could not be written.
	Hook       object.HookPhase
	Unrecorded bool
}

// ExecuteResult is what was done.
type ExecuteResult struct {
	// Inventory is complete: what was written is there as the API server answered, the rest as the request had it.
	Inventory []plan.InventoryEntry
	// HookStates are those of the request, as far as they got.
	HookStates map[string]plan.HookState
	Done       plan.Counts
	Problems   []Problem
	// NotStarted are the objects of which nothing was begun.
	NotStarted []latevalues.Left
	Findings   diag.Findings
	// Ready: everything waited for got ready. TimedOut: something did not in time. Pruned: what was to go is gone.
	Ready, TimedOut, Pruned bool
	// Cancelled: the context ended, or the run was asked to stop, before the work was done.
	Cancelled bool
}

// Row is what of the result stands in the row of the cluster.
func (r ExecuteResult) Row(row *fleetplan.ClusterOutcome) {
	row.Done, row.TimedOut = r.Done, r.TimedOut || r.NotReady()
	for _, p := range r.Problems {
		row.Problems = append(row.Problems, fleetplan.Problem{Object: p.Ref, Instance: p.Instance, Status: p.Status,
			GaveUpAfter: p.After.Seconds(), Hook: p.Hook, Code: p.Code})
	}
}

// OK reports whether everything was done and got ready.
func (r ExecuteResult) OK() bool {
	return len(r.Problems) == 0 && len(r.NotStarted) == 0 && !r.Cancelled && !r.Findings.HasErrors()
}

// NotReady reports that nothing failed but by time: what was written did not get ready, or a value did not come.
func (r ExecuteResult) NotReady() bool {
	unwritten := slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.Written && !p.Late })
	return len(r.Problems) > 0 && !unwritten && !r.Findings.HasErrors()
}

// Reason is the one line of the table.
func (r ExecuteResult) Reason() string {
	if len(r.Problems) == 0 {
		return "not finished"
	}
	p := r.Problems[0]
	name := p.Ref.String()
	what := cmp.Or(p.Instance, name)
	if p.Ref.Kind == "" { // the instance as a whole could not be begun
		name = what
	}
	if p.Written && p.Hook == "" {
		return what + " not ready"
	}
	if strings.HasPrefix(p.Status.Reason, name) {
		return p.Status.Reason
	}
	return name + ": " + p.Status.Line()
}

// Get reads one object for a runtime query. The error satisfies kubeapi.IsNotFound when it, or its kind, is not there.
func (s *Session) Get(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	k, ok := s.Kind(gv.WithKind(kind))
	if !ok {
		return nil, &kubeapi.NoKindError{GVK: gv.WithKind(kind), Cluster: s.Name(), Near: s.NearKind(gv.WithKind(kind))}
	}
	ref := object.Ref{Group: gv.Group, Kind: kind, Namespace: namespace, Name: name}
	if !k.Namespaced {
		ref.Namespace = ""
	}
	out, err := s.whole(ctx, k, gv.Version, ref)
	return out, s.describe(err, "get", ref)
}
