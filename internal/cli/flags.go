package cli

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/author"
	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/defaults"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/workspace"
)

// options are the flags of all commands; a command reads what it declared.
type options struct {
	files, fleetFiles      []string
	namespace              string
	workdir, pkg, name     string
	bundle                 string
	runtimeFromEnv         bool
	clusters, groups       []string
	labels                 string
	kubeconfig, context    string
	as                     string
	asGroups               []string
	override               fleet.Override
	timeout                time.Duration
	parallel               int
	facts                  string
	output, color          string
	verbose                int
	full, stat             bool
	progress               string
	yes, dryRun, diff      bool
	wait                   bool
	adopt, recreate        bool
	takeOver, letUnserved  bool
	acceptClusters         []string
	tests, noHooks         bool
	among                  []string // the bundles of one run
	skipUnreachable        bool
	skipWaves, skipWindows bool
	skipApprovals          bool
	serverCheck            bool
	locked                 bool
	confirmDelete          int
	untilWave, wave        int
	message                string
	planOut                string
	detailed               bool
	printValue             bool
	explain                string
	outputDir              string
	maskSecrets, standIns  bool
	watch                  bool
	printRBAC              bool
	upgrade, rotate        []string
}

// noNumber is --confirm-delete when it was not given.
const noNumber = -1

func (s *session) globalFlags(f *pflag.FlagSet) {
	o := &s.opts
	f.Func("cache-dir", "keep fetched content in this `directory` (default: HAWSER_CACHE_DIR, then the user's cache)", func(dir string) error {
		if dir == "" {
			return usagef("the directory is empty")
		}
		if s.CacheDir == nil {
			return usagef("this build keeps nothing")
		}
		s.CacheDir(dir)
		return nil
	})
	f.BoolFunc("registry-insecure", "let registries do without TLS, and with certificates that nobody vouches for", func(string) error {
		return s.registries("", true)
	})
	f.BoolFunc("isolate", "evaluate documents and render instances in child processes: what never ends, or takes all memory, ends a child alone (HAWSER_ISOLATE=true)", s.Isolate)
	for _, name := range []string{"log-pretty", "log-color"} {
		f.Bool(name, true, "accepted for Timoni's sake; see --color")
		_ = f.MarkHidden(name)
	}
	f.StringVar(&o.color, "color", "auto", "colour: auto, always or never; NO_COLOR and CLICOLOR_FORCE are heeded")
	f.CountVarP(&o.verbose, "verbose", "v", "say more")
}

// isolated heeds HAWSER_ISOLATE where the flag was not given.
func (s *session) isolated(cmd *cobra.Command, _ []string) error {
	on, known := commandline.Switch(s.getenv(isolateVariable))
	if !known {
		return usagef("%s=%s says neither yes nor no\nset it to true or false, or unset it", isolateVariable, s.getenv(isolateVariable))
	}
	if on && !cmd.Flags().Changed("isolate") {
		return s.Isolate("true")
	}
	return nil
}

// registries hands on what a flag says of registries.
func (s *session) registries(creds string, insecure bool) error {
	if s.Registries == nil {
		return usagef("this build talks to no registries")
	}
	return s.Registries(creds, insecure)
}

// credsFlags gives every command that talks to registries the flag for credentials: those of modules and artifacts, and
// those that take a bundle's files.
func (s *session) credsFlags(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		s.credsFlags(c)
	}
	path := cmd.CommandPath()
	tools := !cmd.HasSubCommands() && (strings.HasPrefix(path, "hawser module ") || strings.HasPrefix(path, "hawser artifact "))
	if !tools && cmd.Flags().Lookup("file") == nil || cmd.Flags().Lookup("creds") != nil {
		return
	}
	cmd.Flags().Var(&commandline.Credentials{Take: func(text string) error { return s.registries(text, false) }}, "creds",
		"`USER:PASSWORD` for the registries of this run, or HOST=USER:PASSWORD for one (repeat it); better: registry login, since others see arguments")
}

// hideIdle leaves flags out of the help of commands for which they do nothing: they are for all that reach clusters, and some wait for
// nothing, or contact none.
func hideIdle(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		hideIdle(c)
	}
	f := cmd.Flags()
	if f.Lookup("kube-context") != nil && f.Lookup("yes") == nil {
		_ = f.MarkHidden("timeout")
	}
	if cmd.CommandPath() == "hawser lock" {
		access := pflag.NewFlagSet("", pflag.ContinueOnError)
		(&options{}).accessFlags(access)
		access.VisitAll(func(a *pflag.Flag) { _ = f.MarkHidden(a.Name) })
	}
}

func (o *options) bundleFlags(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.files, "file", "f", nil, "bundle file or directory (CUE, YAML, JSON; repeat it), - for stdin")
	f.StringVarP(&o.pkg, "package", "p", "main", "CUE package of the bundle files")
	f.StringVar(&o.workdir, "workdir", "", "directory of the CUE module that bundle files import from")
	f.StringVar(&o.bundle, "bundle", "", "only this bundle of several in the files")
	f.StringVar(&o.name, "name", "", "name of a bundle made of plain manifests (default: of namespace and path)")
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace of plain manifests that name none; it is created when missing")
	f.BoolVar(&o.runtimeFromEnv, "runtime-from-env", false, "let environment variables fill runtime values")
}

// bundleFlag is for commands that take a bundle's name as their argument.
func (o *options) bundleFlag(f *pflag.FlagSet) {
	f.StringVar(&o.bundle, "bundle", "", "the bundle, the same as the argument")
}

func (o *options) fleetFlag(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.fleetFiles, "fleet", "r", nil, "fleet file (repeat it), - for stdin; without it the current context is the one cluster")
}

func (o *options) fleetFlags(f *pflag.FlagSet) {
	o.fleetFlag(f)
	f.StringSliceVar(&o.clusters, "cluster", nil, "only these clusters: names or globs, separated by commas")
	f.StringSliceVar(&o.groups, "group", nil, "only clusters of these groups")
	f.StringVarP(&o.labels, "labels", "l", "", "only clusters with these labels, for example region=eu,tier!=1")
}

func (o *options) accessFlags(f *pflag.FlagSet) {
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG, then ~/.kube/config)")
	f.StringVar(&o.context, "kube-context", "", "context of the one cluster of a run without a fleet")
	o.overrideFlags(f)
	f.StringVar(&o.as, "as", "", "user to impersonate")
	f.StringArrayVar(&o.asGroups, "as-group", nil, "group to impersonate (repeat it)")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time a cluster has to get ready")
	f.IntVar(&o.parallel, "parallel", 32, "requests in flight per cluster")
}

// overrideFlags replace parts of the kubeconfig, with kubectl's meaning and Timoni's names.
func (o *options) overrideFlags(f *pflag.FlagSet) {
	v := &o.override
	f.StringVar(&v.Server, "kube-server", "", "address of the API server, in place of the kubeconfig's (without a fleet)")
	f.StringVar(&v.Token, "kube-token", "", "bearer token, in place of the kubeconfig's credentials; better: a kubeconfig, since others see arguments")
	f.StringVar(&v.TLSServerName, "kube-tls-server-name", "", "name that the server's certificate must have")
	f.StringVar(&v.CertificateAuthority, "kube-certificate-authority", "", "file with the server's certificate authority")
	f.StringVar(&v.ClientCertificate, "kube-client-certificate", "", "file with the client certificate")
	f.StringVar(&v.ClientKey, "kube-client-key", "", "file with its key")
	f.BoolVar(&v.InsecureSkipTLSVerify, "kube-insecure-skip-tls-verify", false, "do not verify the server's certificate: anybody may be it")
	f.StringVar(&v.AsUID, "kube-as-uid", "", "UID to impersonate, beside --as")
}

func (o *options) outputFlag(f *pflag.FlagSet, forms ...string) {
	f.StringVarP(&o.output, "output", "o", "text", "form of the output: "+strings.Join(forms, ", "))
}

func (o *options) viewFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.full, "full", false, "show every cluster by itself, nothing shortened, with the content of new objects")
	f.BoolVar(&o.stat, "stat", false, "show only headers and totals")
}

// decideFlags are what a plan depends on besides its files.
func (o *options) decideFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.rotate, "rotate", nil, "make what was made up for INSTANCE or INSTANCE/NAME anew: passwords, certificates (repeat it)")
	f.BoolVar(&o.adopt, "adopt", false, "take over objects that somebody else owns")
	f.BoolVar(&o.recreate, "recreate", false, "delete and create again where an immutable field changed")
	f.BoolVar(&o.serverCheck, "server-check", false, "let the API servers check creates too, in dry runs")
	f.BoolVar(&o.skipWaves, "skip-waves", false, "do not ask that earlier waves succeeded")
	f.Var(commandline.Wave{At: &o.untilWave}, "until-wave", "stop after this wave")
	f.BoolVar(&o.tests, "test", false, "run the tests of instances when they are ready (Helm's test hooks); a failed one fails the cluster")
	o.hookFlag(f)
	o.identityFlags(f)
	f.IntVar(&o.confirmDelete, "confirm-delete", noNumber, "the exact number of deletions you confirm")
}

// identityFlags lift refusals of identity: whose a release is, which cluster this is, and whether what its record names is there.
func (o *options) identityFlags(f *pflag.FlagSet) {
	o.takeOverFlag(f)
	o.unservedFlag(f)
	o.acceptFlag(f)
}

// acceptFlag is also for what only looks at clusters.
func (o *options) acceptFlag(f *pflag.FlagSet) {
	f.StringSliceVar(&o.acceptClusters, "accept-cluster", nil, "clusters, by name, that are others now than they are known to be")
}

func (o *options) takeOverFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.takeOver, "take-over", false, "go on with a release that was applied from another place, fleet or lineage")
}

func (o *options) unservedFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.letUnserved, "let-unserved", false, "forget objects of kinds that the cluster does not serve (any more), though they may be there")
}

func (o *options) hookFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.noHooks, "no-hooks", false, "run no hooks")
}

// lockedFlag is for what takes sources. Its default stands in request: the environment decides.
func (o *options) lockedFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.locked, "locked", false, "refuse sources that hawser.lock does not pin (the default where CI is true)")
}

func (o *options) applyFlags(f *pflag.FlagSet) {
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the plan and stop")
	f.BoolVar(&o.diff, "diff", false, "show changed fields; without -y this implies --dry-run")
	f.BoolVar(&o.wait, "wait", true, "wait until everything is ready")
	f.BoolVar(&o.skipUnreachable, "skip-unreachable", false, "go on without clusters that do not answer; they count as failed")
	f.BoolVar(&o.skipWindows, "skip-windows", false, "change clusters also while the window of their wave is closed")
	f.BoolVar(&o.skipApprovals, "skip-approvals", false, "change clusters also before their wave is approved; the record says so")
	f.StringVarP(&o.message, "message", "m", "", "a message for the release's record")
	f.StringVar(&o.progress, "progress", "auto", "progress: auto, live or plain")
}

// forms are the values -o may have, by command name.
func checkForm(output string, forms ...string) error {
	if output == "" || slices.Contains(forms, output) {
		return nil
	}
	return usagef("-o %s is not known here\nUse one of: %s", output, strings.Join(forms, ", "))
}

// request makes the engine's request of the flags.
func (s *session) request(cmd *cobra.Command) (engine.Request, error) {
	o := &s.opts
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return engine.Request{}, usagef("--color %s is not known\nUse auto, always or never", o.color)
	}
	if all := slices.Concat(o.files, o.fleetFiles); len(slices.DeleteFunc(all, func(f string) bool { return f != "-" })) > 1 {
		return engine.Request{}, usagef("stdin (-) can be read only once")
	}
	if o.namespace != "" && len(o.files) == 0 && cmd.Flags().Lookup("file") != nil && cmd.Name() != "build" {
		return engine.Request{}, usagef("-n is for plain manifests, and no files are given\nA bundle says its namespaces itself; hawser list -n %s shows what has objects there", o.namespace)
	}
	dir, err := os.Getwd()
	if err != nil {
		return engine.Request{}, err
	}
	req := engine.Request{
		Input: engine.Input{Env: s.env(), Documents: &workspace.Files{Dir: dir, Stdin: s.In, Facts: o.facts,
			Paths: fleetplan.Paths{Files: o.files, FleetFiles: splitList(o.fleetFiles), Workdir: o.workdir, Package: o.pkg, Name: o.name, Namespace: o.namespace}}},
		Selection: engine.Selection{Bundle: o.bundle, Clusters: fleet.Selection{Clusters: everything(o.clusters), Groups: everything(o.groups), Labels: o.labels}},
		PlanOptions: engine.PlanOptions{RuntimeFromEnv: o.runtimeFromEnv, Tests: o.tests, NoHooks: o.noHooks, Rotate: o.rotate, Adopt: o.adopt, Recreate: o.recreate,
			TakeOver: o.takeOver, LetUnserved: o.letUnserved, AcceptClusters: o.acceptClusters, SkipWaves: o.skipWaves, ServerCheck: o.serverCheck, Locked: o.locked, UntilWave: o.untilWave},
		RunOptions: engine.RunOptions{Timeout: o.timeout, Parallel: o.parallel, Placeholders: o.standIns, Publish: o.outputDir != "",
			SkipUnreachable: o.skipUnreachable, SkipWindows: o.skipWindows, SkipApprovals: o.skipApprovals, Wait: o.wait || cmd.Flags().Lookup("wait") == nil,
			Among: o.among, Author: author.Acting(o.as, author.Here(s.getenv)), Message: o.message, Stop: s.Stop},
	}
	if f := cmd.Flags().Lookup("locked"); f != nil && !f.Changed {
		on, known := commandline.Switch(s.getenv("CI"))
		req.Locked = on || !known // some systems put their name there
	}
	req.Access.Kubeconfig, req.Access.Context = o.kubeconfig, o.context
	req.Access.As, req.Access.AsGroups, req.Access.Override = o.as, o.asGroups, o.override
	if err := emptySelection(cmd.Flags()); err != nil {
		return engine.Request{}, err
	}
	if f := cmd.Flags().Lookup("timeout"); f != nil && f.Changed {
		s.differ("timeout", "--timeout counts for each cluster, not for all together")
	}
	if f := cmd.Flags().Lookup("confirm-delete"); f != nil && f.Changed {
		if o.confirmDelete < 0 {
			return engine.Request{}, usagef("--confirm-delete needs the number of deletions")
		}
		n := o.confirmDelete
		req.ConfirmDelete = &n
	}
	return req, nil
}

// emptySelection refuses a selection that was given and is empty: a variable that is not set must not mean everything.
func emptySelection(flags *pflag.FlagSet) error {
	for _, name := range []string{"cluster", "group", "labels"} {
		f := flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		if v := strings.Trim(f.Value.String(), "[], "); v == "" {
			return usagef("no cluster is selected: --%s is empty\nLeave it out to select every cluster", name)
		}
	}
	return nil
}

// bundleRequest is request for commands that need bundle files.
func (s *session) bundleRequest(cmd *cobra.Command) (engine.Request, error) {
	if above := defaults.Above("."); above != "" && len(s.opts.files) == 0 {
		return engine.Request{}, usagef("no bundle: name its files with -f\n%s has the defaults of its own directory alone: run it there, or name the files", above)
	}
	if len(s.opts.files) == 0 {
		return engine.Request{}, usagef("no bundle: name its files with -f\nFor example: %s -f shop.yaml", cmd.CommandPath())
	}
	return s.request(cmd)
}

// splitList takes Timoni's comma-separated files apart; a file whose own name has a comma stays whole.
func splitList(files []string) []string {
	var out []string
	for _, f := range files {
		if _, err := os.Stat(f); err == nil || !strings.Contains(f, ",") {
			out = append(out, f)
			continue
		}
		out = append(out, strings.Split(f, ",")...)
	}
	return out
}

// everything is Timoni's "*": no restriction.
func everything(names []string) []string {
	if len(names) == 1 && names[0] == "*" {
		return nil
	}
	return names
}

func (s *session) env() map[string]string {
	env := map[string]string{}
	for _, pair := range s.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}
