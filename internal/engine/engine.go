// Package engine holds the order of steps: plan, apply, delete, status. It composes the pure rooms with the hands, and
// progress goes out as events. What it shows are the values of fleetplan; what it needs to carry a plan out stays here.
//
// engine must not know flags, dialects or how anything is printed, and holds no rule of its own: what changes, where and
// when is decided in the pure rooms.
package engine

import (
	"cmp"
	"context"
	"sync"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/openapi"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/values"
)

// Engine composes the rooms. Its fields are sockets, filled once by the wiring; the zero value of a func field is an
// error of the wiring, not of the user.
type Engine struct {
	// Resolve finds out how a cluster is reached; it reads files and talks to nobody.
	Resolve func(fleet.Cluster, fleet.AccessOptions) (fleet.Access, diag.Findings)
	// Sessions gives a run its session of a cluster, whose Close gives it back; nil connects each time.
	Sessions func(context.Context, cluster.Config) (*cluster.Session, error)
	// Records says how the record store of a connected cluster is opened for a fleet, nil for none; get resolves what may be a reference.
	Records func(f *v1alpha1.FleetSpec, get func(ctx context.Context, text string) (string, error)) func(s *cluster.Session, name string) release.Store
	// Renderers by source field: "module", "manifests". Fetchers by URL scheme.
	Renderers map[string]render.Renderer
	Fetchers  map[string]module.Fetcher
	// Signatures verifies what a fleet wants signed; nil lets nothing of that through.
	Signatures *signature.Checker
	// Watchdog bounds evaluations; nil bounds nothing.
	Watchdog *cuelang.Watchdog
	// Elsewhere is where documents are evaluated that compute something; nil is here.
	Elsewhere input.Elsewhere
	// Stores opens the stores of secrets that a fleet declares.
	Stores values.Open
	// Checker evaluates modules' own health checks.
	Checker health.Checker
	// Redactor is that of every run, in a process that prints what all of them find out; nil gives each one of its own.
	Redactor *redact.Redactor
	// PlanKey is the file of the key that plan files are sealed with; zero seals nothing.
	PlanKey planfile.KeyFile
	// OnEvent receives progress, one event at a time; nil is allowed.
	OnEvent func(fleetplan.Event)
	Now     func() time.Time
	// Documents keeps what clusters publish, by the SHA-512 of the content; nil asks the clusters each time.
	Documents func(ctx context.Context, hash string, fetch func(context.Context) ([]byte, error)) ([]byte, error)
	// Locate finds a value of an object, by its fields and list indexes, in the file that the object came from; nil gives
	// every problem the position of its object.
	Locate func(at diag.Pos, path []string) diag.Pos
	// RequestTimeout bounds one request to an API server; 0 is 30 s.
	RequestTimeout time.Duration
	// Version of Hawser, for records and the user agent.
	Version string

	kubeconfigs kubeapi.Kubeconfigs
	memo        render.Memo
	library     openapi.Library
	emitMu      sync.Mutex
}

// Request is what a face asks for, in four parts by who decides them, and what for; every verb reads what it needs. The zero value asks for
// nothing.
type Request struct {
	// Operation is what is done.
	Operation Operation
	Input
	Selection
	PlanOptions
	RunOptions
}

// Input is what the run is about.
type Input struct {
	// Documents give the bundles and the fleet; nil is neither.
	Documents input.Source
	// Scope is whose bundles they are: the zero one is that of files.
	Scope object.Scoping
	// Env fills runtime values where the options say so.
	Env map[string]string
}

// Selection is which part of the input is meant.
type Selection = fleetplan.Selection

// PlanOptions are what the plan depends on besides.
type PlanOptions = fleetplan.PlanOptions

// RunOptions are how this run goes about it: nothing of them is in a saved plan.
type RunOptions struct {
	// Access is how clusters are reached.
	Access fleet.AccessOptions
	// Timeout bounds readiness per cluster (default 5 m), StalledAfter what waiting cannot heal (default 30 s).
	Timeout, StalledAfter time.Duration
	// Parallel bounds requests in flight per cluster (default 32).
	Parallel int
	// Placeholders lets vet check, and build give, objects that hold something else than the values they will have.
	Placeholders bool
	// Recorded lets build tell what the clusters' records name, too.
	Recorded bool
	// Publish says that what build gives is written to files, where a placeholder would stay as if it were the password.
	Publish bool
	// Upgrade names the instances and sources whose pins lock forgets.
	Upgrade []string
	// Among are the bundles that the user has done one after another, each after those it requires: one of them that Bundle
	// requires need not be installed yet when it is planned.
	Among []string
	// Before are the plans of those of them that are done before this one, by name: what they bring is known only then.
	Before map[string]*Prepared `json:"-"`
	// Written are the plans that were carried out since the bundle's own was made, for Renew.
	Written []*fleetplan.FleetPlan `json:"-"`

	// Promoted are pins in place of those that are known from runs before of promotions; nil leaves those.
	Promoted                                          lockfile.Promotions
	SkipUnreachable, SkipWindows, SkipApprovals, Wait bool
	// Unattended: no person asked for this run, so that a release that failed is not tried again while what it is made of is the same.
	Unattended bool
	// Applies: the plan is made to be carried out at once, so that what only that needs is read beside it.
	Applies bool
	// Reads: the plan is made to be looked at, and takes no right to write.
	Reads bool
	// Writer is whose rights objects are read and written with; the zero value is who reaches the cluster. Records and locks, and what
	// the fleet asks for, are that one's all the same.
	Writer kubeapi.Identity
	// Author and Message go into the record.
	Author, Message string
	// Stop ends the rollout gently when closed: nothing new is started, what is in flight finishes.
	Stop <-chan struct{}

	// absent are clusters that are not contacted, with the reason: a saved plan has nothing for them.
	absent map[string]string
	// shown is the saved plan that is carried out.
	shown fleetplan.Shown
	// former is what a plan made up, by cluster, that this one is made in place of.
	former map[string]*desired.Made
	// done: what is done before the bundle in the same run has been carried out.
	done bool
}

// documents are the input's, and never nil.
func (in Input) documents() input.Source {
	if in.Documents == nil {
		return input.Of(nil)
	}
	return in.Documents
}

// HasBundles reports whether the documents have bundles: without any a verb is about what the clusters' records say.
func (in Input) HasBundles() bool { return in.documents().HasBundles() }

func (e *Engine) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// redact masks secret values in a text of others.
func (r *run) redact(s string) string { return r.Redactor.Redact(s) }

// emit sends one event; events never overlap.
func (r *run) emit(ev fleetplan.Event) {
	if r.OnEvent == nil {
		return
	}
	ev.V, ev.Time = diag.DocumentVersion, r.now()
	if ev.Type != fleetplan.EventWave { // which has a name
		ev.Message = r.Redactor.Said(ev.Instance, ev.Message)
	}
	r.emitMu.Lock()
	defer r.emitMu.Unlock()
	r.OnEvent(ev)
}

func (r Request) timeout() time.Duration {
	return cmp.Or(max(r.Timeout, 0), 5*time.Minute)
}

// each runs a function for 0..n-1, some at once.
var each = dag.Each

// background is a context that outlives a cancelled one, for closing records and unlocking.
func background(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
}
