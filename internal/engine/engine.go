// Package engine holds the order of steps: plan, apply, delete, status. It composes the pure rooms with the hands, and
// progress goes out as events. What it shows are the values of fleetplan; what it needs to carry a plan out stays here.
//
// engine must not know flags, dialects or how anything is printed, and holds no rule of its own: what changes, where and
// when is decided in the pure rooms.
package engine

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
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
	// Records opens the record store of a connected cluster.
	Records func(s *cluster.Session, name string) release.Store
	// Renderers by source field: "module", "manifests". Fetchers by URL scheme.
	Renderers map[string]render.Renderer
	Fetchers  map[string]module.Fetcher
	// Signatures verifies what a fleet wants signed; nil lets nothing of that through.
	Signatures *signature.Checker
	// Watchdog bounds evaluations; nil bounds nothing.
	Watchdog *cuelang.Watchdog
	// Elsewhere is where documents are evaluated that compute something; nil is here.
	Elsewhere document.Elsewhere
	// Stores opens the stores of secrets that a fleet declares.
	Stores values.Open
	// Checker evaluates modules' own health checks.
	Checker  health.Checker
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

	memo    render.Memo
	library openapi.Library
	emitMu  sync.Mutex
}

// Request is what a face asks for; every verb reads the part it needs. The zero value asks for nothing.
type Request struct {
	// Namespace is for plain manifests that name none.
	Namespace string
	// Files are the bundle's files, FleetFiles the fleet's; "-" is Stdin.
	Files, FleetFiles []string
	Stdin             io.Reader
	// Dir is the directory that file names are relative to.
	Dir string
	// Workdir is where CUE modules are looked for, Package the CUE package, Name that of a bundle made of plain manifests.
	Workdir, Package, Name string
	// RuntimeFromEnv lets Env fill runtime values.
	RuntimeFromEnv bool
	Env            map[string]string
	Selection      fleet.Selection
	Access         fleet.AccessOptions
	// Timeout bounds readiness per cluster (default 5 m), StalledAfter what waiting cannot heal (default 30 s).
	Timeout, StalledAfter time.Duration
	// Parallel bounds requests in flight per cluster (default 32).
	Parallel int
	// FactsFile is a Snapshot used instead of clusters by vet and build.
	FactsFile string
	// Placeholders lets build give objects that hold something else than the values they will have.
	Placeholders bool
	// Recorded lets build tell what the clusters' records name, too.
	Recorded bool
	// Publish says that what build gives is written to files, where a placeholder would stay as if it were the password.
	Publish bool
	// Bundle is a bundle's name: given to status and delete, or to choose one of several.
	Bundle string
	// Among are the bundles that the user has done one after another, each after those it requires: one of them that Bundle
	// requires need not be installed yet when it is planned.
	Among []string
	// Before are the plans of those of them that are done before this one, by name: what they bring is known only then.
	Before map[string]*Prepared `json:"-"`
	// Written are the plans that were carried out since the bundle's own was made, for Renew.
	Written []*fleetplan.FleetPlan `json:"-"`

	// To names the release to go back to, by number or rollout; "" is the one before the newest.
	To string
	// Promoted are pins in place of those that hawser.lock has of its promotions; nil leaves those.
	Promoted lockfile.Promotions
	// Retire is the name of a cluster that left the fleet: delete goes to it alone. Keep: what runs there is left there.
	Retire string
	Keep   bool

	// Tests runs the tests of instances when they are ready; NoHooks runs no hook at all.
	Tests, NoHooks bool
	// LetUnserved forgets objects of kinds that a cluster does not serve, of which nobody knows whether they are there.
	LetUnserved                                                                                  bool
	Adopt, Recreate, SkipUnreachable, SkipWaves, SkipWindows, SkipApprovals, ServerCheck, Locked bool
	// Rotate are INSTANCE or INSTANCE/NAME: what was made up for them is made anew.
	Rotate chance.Rotation
	// TakeOver lets a run go on with a release of another lineage, source or fleet; AcceptClusters names the clusters that
	// may be others than they are known to be.
	TakeOver       bool
	AcceptClusters []string
	// Upgrade names the instances and sources whose pins lock forgets.
	Upgrade []string
	// ConfirmDelete is the number of deletions the user confirmed; nil = none given.
	ConfirmDelete *int
	UntilWave     int
	Wait          bool
	// ShowDiff previews changed objects on the server, so that their fields can be shown.
	ShowDiff bool
	// ShowFields tells the fields of changed objects without asking a server: the declaration compared with the recorded one.
	ShowFields bool
	// ShowContent tells the whole of objects that are made.
	ShowContent bool
	// Applies: the plan is made to be carried out at once, so that what only that needs is read beside it.
	Applies bool
	// Reads: the plan is made to be looked at, and takes no right to write.
	Reads bool
	// Author and Message go into the record.
	Author, Message string
	// Stop ends the rollout gently when closed: nothing new is started, what is in flight finishes.
	Stop <-chan struct{}

	// undoes is the rollout that failed and that a rollback goes back from by itself.
	undoes string
	// absent are clusters that are not contacted, with the reason: a saved plan has nothing for them.
	absent map[string]string
	// done: what is done before the bundle in the same run has been carried out.
	done bool
}

func (e *Engine) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// redact masks secret values in a text of others.
func (e *Engine) redact(s string) string { return e.Redactor.Redact(s) }

// emit sends one event; events never overlap.
func (e *Engine) emit(ev fleetplan.Event) {
	if e.OnEvent == nil {
		return
	}
	ev.V, ev.Time = diag.DocumentVersion, e.now()
	if ev.Type != fleetplan.EventWave { // which has a name
		ev.Message = e.Redactor.Said(ev.Instance, ev.Message)
	}
	e.emitMu.Lock()
	defer e.emitMu.Unlock()
	e.OnEvent(ev)
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
