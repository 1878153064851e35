// Package cli spells Hawser's commands: arguments become one engine.Request, the engine's answer becomes text, and
// errors become exit codes. Data goes to stdout, talk (plans before an apply, progress, prompts, errors) to stderr.
//
// cli must not know rules: what changes, in which order and whether it may is decided below, how it looks in report.
// It reaches everything through App, which the wiring fills, and never imports another face.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/interrupt"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/terminal"
	"hawser.dev/hawser/internal/toolchain"
)

// Planner makes plans and carries them out. Errors wrap the engine's sentinels or carry findings.
type Planner interface {
	operation.Planner
	// SavePlan writes a plan as a file and returns the file's digest, with warnings.
	SavePlan(p *engine.Prepared, w io.Writer) (digest string, warnings diag.Findings, err error)
	// LoadPlan makes a saved plan ready to be applied, or refuses.
	LoadPlan(ctx context.Context, r io.Reader, req engine.Request) (*engine.Prepared, error)
}

// Reader answers without planning.
type Reader interface {
	operation.Promoter
	// Vet checks a bundle for every selected cluster; the report is there also beside an error.
	Vet(ctx context.Context, req engine.Request) (*fleetplan.VetReport, error)
	// Build renders a bundle for every selected cluster.
	Build(ctx context.Context, req engine.Request) (*fleetplan.BuildResult, error)
	// Status tells what is installed and how it is; the report is there also beside an error.
	Status(ctx context.Context, req engine.Request) (*fleetplan.StatusReport, error)
	// List tells what was delivered, as the records say; the listing is there also beside an error.
	List(ctx context.Context, req engine.Request) (*release.Listing, error)
	// Compare tells what changed between two releases, or differs between clusters.
	Compare(ctx context.Context, req engine.Request, c history.Comparer) error
	// Say writes down what somebody says of a release, when confirm has nothing against it.
	Say(ctx context.Context, req engine.Request, verb string, meant release.Meant, confirm func(*release.Saying) error) (*release.Saying, error)
	// TendRecords unlocks or moves the records of a bundle, when confirm has nothing against what the report holds by then.
	TendRecords(ctx context.Context, req engine.Request, about *recordkeeping.Report, from input.Source, confirm func() error) error
}

// Fleets answers about clusters; reports are there also beside an error.
type Fleets interface {
	// Clusters lists the selected clusters and how each is reached; nobody is contacted.
	Clusters(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error)
	// Check connects to the selected clusters and, when the request has a bundle, asks for the rights it needs.
	Check(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error)
	// Values reads the runtime values of the selected clusters; secret ones are hidden.
	Values(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error)
	// Snapshot is what is known of the selected clusters, for --facts; nil beside an error.
	Snapshot(ctx context.Context, req engine.Request) (*fleet.Snapshot, error)
	// Retiring tells what runs on the cluster to retire; Retire forgets the cluster.
	Retiring(ctx context.Context, req engine.Request) (*retirement.Retirement, error)
	Retire(ctx context.Context, req engine.Request) error
}

// Engine is all of it; a driver.Engine is one.
type Engine interface {
	Planner
	Reader
	Fleets
}

// App is everything the commands reach the world through. In, Out, Err and Engine are required; a nil func makes
// the commands that need it say so, the others fall back to the process they run in.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Version  string
	// Mask hides secret values in what is printed, whatever part of the program wrote it; nil hides nothing. build and
	// --output-dir print them all the same: rendered Secrets are what is asked for.
	Mask func(string) string

	// ImportKubeconfig is a fleet file made of a kubeconfig's contexts; file is "" for the usual places, name for "fleet".
	ImportKubeconfig func(file, name string) (string, diag.Findings)
	// Engine makes an engine whose progress goes to onEvent. It is called by commands that need one, not by --help.
	Engine func(onEvent func(fleetplan.Event)) (Engine, error)
	// ReadPlan reads a saved plan for showing it, without clusters.
	ReadPlan func(r io.Reader) (*fleetplan.FleetPlan, error)
	// Explain says which layers decided a value (INSTANCE.PATH).
	Explain func(ctx context.Context, req engine.Request, path string) ([]place.Line, error)
	// Bundles are the names of the bundles in the request's files, each after those it requires.
	Bundles func(ctx context.Context, req engine.Request) ([]string, error)
	// Lock pins what the bundle's sources resolve to.
	Lock func(ctx context.Context, req engine.Request) (*fleetplan.LockReport, error)
	// Outdated compares the bundle's sources with what there is; the report is there also beside an error.
	Outdated func(ctx context.Context, req engine.Request) (*fleetplan.OutdatedReport, error)
	// FleetClusters reads the clusters of fleet files, for completion; it talks to nobody.
	FleetClusters func(ctx context.Context, at fleetplan.Paths) ([]fleet.Cluster, error)
	// Tools is the tool chain of modules and artifacts, for the commands that need it.
	Tools func() (*toolchain.Tools, error)
	// Registries is told of credentials that a flag gives, or that registries need no TLS.
	Registries func(creds string, insecure bool) error
	// CacheDir says where content is kept; it is called before Cache, Engine and Tools.
	CacheDir func(dir string)
	// Isolate has documents evaluated and instances rendered in child processes; it is called before Engine.
	Isolate func(string) error
	// Cache is where fetched content is kept.
	Cache func() *cache.Cache
	// Sandbox finds (or builds) the binary of `hawser sandbox`.
	Sandbox func(ctx context.Context, progress io.Writer) (string, error)

	// Environ is the environment, os.Environ by default.
	Environ func() []string
	// IsTerminal reports whether a stream is a terminal, TerminalSize its columns and rows (0 when it is none).
	IsTerminal   func(stream any) bool
	TerminalSize func() (cols, rows int)
	// Signals delivers interrupts until stop is called.
	Signals func() (interrupts <-chan os.Signal, stop func())
	Now     func() time.Time
}

// Run runs one command line and returns its exit code: 0 done, 1 error, 2 changes found, 3 partly done or unknown,
// 4 not ready in time, 5 refused, 130 interrupted.
func (a *App) Run(ctx context.Context, args []string) int {
	a = a.masked()
	a.defaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts, stop := a.Signals()
	defer stop()
	in := interrupt.New(cancel)
	over, done := make(chan struct{}), make(chan error, 1)
	var listening broke.Group
	defer listening.Wait()
	defer close(over)
	listening.Go(func() { in.Listen(over, interrupts) })

	s := &session{App: a, Interruption: in}
	root := s.commands()
	typed, misplaced := reference.Unmistakable(root, args), reference.Misplaced(a.Environ())
	s.hideArguments(reference.Hiding(slices.Concat(reference.Credentials(root, args), typed, misplaced)), reference.Hiding(slices.Concat(typed, misplaced)))
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	for _, check := range []func(*cobra.Command, []string) error{reference.UnknownCommand, reference.SingleDash} {
		if err := check(root, args); err != nil {
			return s.finish(err)
		}
	}
	broke.Go(func() { done <- root.ExecuteContext(ctx) })
	select {
	case err := <-done:
		if err != nil && in.Ended() {
			return exitcode.Interrupted
		}
		return s.finish(err)
	case <-in.Quit:
		return exitcode.Interrupted
	}
}

func (a *App) defaults() {
	if a.Isolate == nil {
		a.Isolate = func(string) error { return usagef("this build starts no child processes") }
	}
	if a.Environ == nil {
		a.Environ = os.Environ
	}
	if a.IsTerminal == nil {
		a.IsTerminal = terminal.Is
	}
	if a.TerminalSize == nil {
		a.TerminalSize = terminal.Size
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	if a.Signals == nil {
		a.Signals = processSignals
	}
}

// processSignals listens for Ctrl-C and termination. SIGPIPE is taken so that a closed pipe ends a command quietly
// with its own exit code, and never a rollout in the middle.
func processSignals() (<-chan os.Signal, func()) {
	c, pipe := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	signal.Notify(pipe, syscall.SIGPIPE)
	return c, func() { signal.Stop(c); signal.Stop(pipe) }
}

// session is one run of the command line.
type session struct {
	*App
	*interrupt.Interruption
	opts options
	// access are the flags that reach the clusters of this run.
	access string
	// args are the arguments of a command about clusters.
	args []string
	// said are the deliberate differences that were printed.
	said map[string]bool
	// compat is set under `bundle` and `runtime`: Timoni's flags and manners.
	compat bool
}

// getenv looks a variable up in App's environment.
func (a *App) getenv(name string) string {
	env := a.Environ()
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
