package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
)

func (s *session) applyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply -f BUNDLE [--fleet FLEET] | apply PLANFILE",
		Short: "Plan, ask, roll out wave by wave, wait, prune, record",
		Long: `Apply makes the plan, shows it, asks, and carries it out: clusters in waves, canaries first, waiting until everything
is ready, stopping when more fails than a wave may lose. What is no longer in the bundle is deleted. Running it again
resumes: finished clusters cost no write.

Without a terminal it wants -y. Deletions that are many or dear want --confirm-delete=N, or the bundle's name typed.
Ctrl-C once finishes what is in flight and starts nothing more; twice quits at once.

Exit codes: 0 done, 1 error, 3 partly done, 4 not ready in time, 5 refused, 130 interrupted.`,
		Example: `  hawser apply -f shop.yaml --fleet fleet.yaml
  hawser apply -f shop.yaml --fleet fleet.yaml -y --until-wave 1
  hawser apply shop.plan -y                         # exactly what was shown by: plan --out shop.plan
  hawser apply -f shop.yaml --kube-context kind -y  # one cluster, no fleet
  hawser apply -f shop.yaml --fleet fleet.yaml -y -o json | jq -r .type`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && strings.Contains(args[1], "://") {
				return usagef("%s takes no instance and module\nThey stand in a bundle: instances: {%s: {module: {url: %q}, namespace: ...}}, applied with -f", cmd.CommandPath(), args[0], args[1])
			}
			return atMostOne("plan file")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return s.apply(cmd, args)
			}
			return s.eachBundle(cmd, exitChanges, func() error { return s.apply(cmd, nil) })
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.decideFlags(f)
	s.opts.lockedFlag(f)
	s.opts.applyFlags(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, "text", "json", "yaml and markdown with --dry-run")
	s.completeFleet(cmd)
	return cmd
}

func (s *session) apply(cmd *cobra.Command, args []string) error {
	if s.opts.diff && !s.opts.yes {
		s.opts.dryRun = true
	}
	if s.opts.dryRun {
		if len(args) > 0 {
			return usagef("a saved plan is shown with: hawser plan show %s", args[0])
		}
		return s.plan(cmd)
	}
	if err := checkForm(s.opts.output, "text", "json"); err != nil {
		return err
	}
	pr := s.newProgress()
	if s.opts.output == "json" {
		pr.ndjson(s.Out)
	}
	p, eng, req, err := s.planToApply(cmd, args, pr)
	if err != nil {
		return s.refusedEvent(pr, err)
	}
	return s.carryOut(cmd, pr, eng, p, req, s.confirmApply)
}

// planToApply makes the plan, or loads the saved one.
func (s *session) planToApply(cmd *cobra.Command, args []string, pr *progress) (*engine.Prepared, Engine, engine.Request, error) {
	if len(args) == 0 {
		req, err := s.bundleRequest(cmd)
		if err != nil {
			return nil, nil, req, err
		}
		req.ShowDiff = s.opts.diff || s.interactive() && !s.opts.yes
		req.ShowFields = s.opts.output != "json" && !s.opts.stat // the log says what was confirmed by -y
		req.ShowContent = s.opts.full && s.opts.output != "json"
		req.Applies = s.opts.yes
		p, eng, err := s.makePlan(cmd.Context(), pr, req)
		return p, eng, req, err
	}
	if looksLikeBundle(args[0]) {
		return nil, nil, engine.Request{}, usagef("%s is not a saved plan\nBundle files are named with -f: hawser apply -f %s", args[0], args[0])
	}
	if flags := decided(cmd.Flags()); len(flags) > 0 {
		return nil, nil, engine.Request{}, usagef("a saved plan knows what it does and where: leave %s out\n"+
			"For something else make another plan: hawser plan -f BUNDLE --out FILE", strings.Join(flags, " and "))
	}
	req, err := s.request(cmd)
	if err != nil {
		return nil, nil, req, err
	}
	f, err := rootfs.OpenFile(args[0])
	if err != nil {
		return nil, nil, req, notThere(err, "there is no saved plan "+args[0], "hawser plan -f BUNDLE --out "+args[0]+" makes one; a bundle's files are named with -f")
	}
	defer f.Close()
	eng, err := s.engine(pr)
	if err != nil {
		return nil, nil, req, err
	}
	pr.begin(nil)
	defer pr.end()
	p, err := eng.LoadPlan(cmd.Context(), f, req)
	return p, eng, req, err
}

// carrying are the flags of apply that say how a plan is carried out or shown. All others decide what is planned, and a
// saved plan has its own: one that was heeded by nobody would let a run reach further than it says.
var carrying = []string{"kubeconfig", "as", "as-group", "timeout", "parallel", "yes", "dry-run", "diff", "wait", "skip-unreachable",
	"message", "progress", "output", "full", "stat", "color", "verbose", "cache-dir", "log-pretty", "log-color"}

// decided names the flags that were given and that a saved plan does not let change.
func decided(flags *pflag.FlagSet) []string {
	var out []string
	flags.Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains(carrying, f.Name):
		case f.Name == "file":
			out = append(out, "-f")
		default:
			out = append(out, "--"+f.Name)
		}
	})
	return out
}

// confirmation decides whether a plan may be carried out; it may ask and it may set what the user confirmed.
type confirmation func(ctx context.Context, p *fleetplan.FleetPlan, req *engine.Request) error

// carryOut shows a plan, gets the yes, and applies it.
func (s *session) carryOut(cmd *cobra.Command, pr *progress, eng Engine, made *engine.Prepared, req engine.Request, confirm confirmation) error {
	ctx, p := cmd.Context(), made.FleetPlan
	p.Findings = append(p.Findings, p.Reachable(req.SkipUnreachable)...) // said before anybody is asked
	s.differFor(p.Findings)
	brakeOnly := s.liftBrake(p, req)
	st := s.style(s.Err)
	st.Apply = true
	if s.opts.output != "json" || p.Findings.HasErrors() {
		if err := report.Plan(s.Err, p, st); err != nil {
			return err
		}
	}
	if p.Findings.HasErrors() || p.Counts().Conflict > 0 {
		if s.opts.output == "json" {
			s.summary(pr, p, p.Findings)
		}
		return said(max(s.planCode(p), exitError))
	}
	if p.Verb == "apply" && p.Counts().Delete > 0 {
		s.differ("prune", "what left the bundle is deleted")
	}
	if changes(p) || brakeOnly {
		if err := confirm(ctx, p, &req); err != nil {
			return s.refusedEvent(pr, err)
		}
	}
	if changes(p) {
		pr.begin(p)
	}
	end := s.Gently(pr.stopping)
	out, err := eng.Apply(ctx, made, req)
	end()
	pr.end()
	return s.printOutcome(pr, cmd, p, out, err)
}

// liftBrake takes the deletion brake out of a plan's findings where somebody at the terminal can still confirm.
func (s *session) liftBrake(p *fleetplan.FleetPlan, req engine.Request) bool {
	if !s.interactive() || s.opts.yes || req.ConfirmDelete != nil {
		return false
	}
	isBrake := func(f diag.Finding) bool { return f.Code == "deletion-brake" }
	if !slices.ContainsFunc(p.Findings, isBrake) {
		return false
	}
	p.Findings = slices.DeleteFunc(slices.Clone(p.Findings), isBrake)
	return true
}

// printOutcome prints the table and the last words; with -o json the summary event was the last line.
func (s *session) printOutcome(pr *progress, cmd *cobra.Command, p *fleetplan.FleetPlan, out *fleetplan.Outcome, err error) error {
	if out == nil || len(out.Clusters) == 0 {
		if err != nil {
			return s.refusedEvent(pr, err)
		}
		return nil
	}
	if s.opts.output != "json" && (changes(p) || err != nil) {
		w := s.Out
		if terr := report.OutcomeTable(w, out, s.style(w)); terr != nil && !closedPipe(terr) {
			return terr
		}
		if err != nil {
			w = s.Err
		}
		fresh := *out // what the plan already said is not said again
		fresh.Findings = slices.DeleteFunc(slices.Clone(out.Findings), func(f diag.Finding) bool { return slices.Contains(p.Findings, f) })
		if terr := report.OutcomeVerdict(w, &fresh, s.hints(cmd, p), s.style(w)); terr != nil && !closedPipe(terr) {
			return terr
		}
	}
	if err == nil || errors.Is(err, context.Canceled) || !isSentinel(err) {
		return err
	}
	return said(codeOf(err))
}

// refusedEvent ends a run before its rollout: with -o json the stream still ends with a summary.
func (s *session) refusedEvent(pr *progress, err error) error {
	if pr.json != nil && !closedPipe(err) && (s.opts.bundle != "" || !several(err)) {
		s.summary(pr, nil, findingsOf(err))
	}
	return err
}

// summary is the last event of a stream whose rollout never began.
func (s *session) summary(pr *progress, p *fleetplan.FleetPlan, fs diag.Findings) {
	out := &fleetplan.Outcome{V: 1, Verb: "apply", Result: fleetplan.Failed, Clusters: []fleetplan.ClusterOutcome{}, Findings: fs, Started: s.Now()}
	if p != nil {
		out.Verb, out.Bundle = p.Verb, p.Bundle
	}
	pr.event(fleetplan.Event{V: 1, Time: s.Now(), Type: fleetplan.EventSummary, Bundle: out.Bundle, Status: "refused", Summary: out})
}

func findingsOf(err error) diag.Findings {
	var r *fleetplan.RefusedError
	if errors.As(err, &r) {
		return r.Findings
	}
	return diag.From(err, "error")
}

// hints are the commands a failure's report names, made of the flags this run had.
func (s *session) hints(cmd *cobra.Command, p *fleetplan.FleetPlan) report.Hints {
	var access, all []string
	for _, f := range slices.Compact(slices.Concat(p.FleetFiles, s.opts.fleetFiles)) {
		access = append(access, "--fleet", quoted(f))
	}
	if s.opts.kubeconfig != "" {
		access = append(access, "--kubeconfig", quoted(s.opts.kubeconfig))
	}
	if name := cmp.Or(p.Context, s.opts.context); name != "" {
		access = append(access, "--kube-context", quoted(name))
	}
	all = append(all, cmd.CommandPath())
	if p.Verb == "delete" && len(s.opts.files) == 0 {
		all = append(all, p.Bundle)
	}
	for _, f := range s.opts.files {
		all = append(all, "-f", quoted(f))
	}
	h := report.Hints{Access: strings.Join(access, " ")}
	if p.Verb != "apply" || cmd.Flags().NArg() == 0 { // a saved plan is stale
		h.Resume = strings.Join(slices.Concat(all, access, same(cmd, "rotate")), " ") // to rotate again makes other values
		h.Rotate = strings.Join(slices.Concat(all, access, same(cmd, "cluster", "group", "until-wave")), " ")
	}
	return h
}

// once are flags that are said elsewhere, or meant for one run only: how it is shown, and what was confirmed.
var once = []string{"file", "fleet", "runtime", "kubeconfig", "kube-context", "kube-token", "yes", "dry-run", "diff", "confirm-delete", "output",
	"progress", "color", "verbose", "message", "full", "stat"}

// same are the other flags that were given, but for some: a run that goes on must not reach further than the one it goes on from.
func same(cmd *cobra.Command, but ...string) []string {
	var out []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(once, f.Name) || slices.Contains(but, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		for _, v := range values {
			if f.NoOptDefVal == v && f.Value.Type() == "bool" {
				out = append(out, "--"+f.Name)
			} else {
				out = append(out, "--"+f.Name+"="+quoted(v))
			}
		}
	})
	return out
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+~", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// changes reports whether the plan writes anything anywhere.
func changes(p *fleetplan.FleetPlan) bool {
	return slices.ContainsFunc(p.Clusters, func(c *fleetplan.ClusterPlan) bool { return c.Plan != nil && !c.Plan.Empty() })
}

// destroys reports whether the plan does more than create and change: it deletes, adopts or recreates.
func destroys(c plan.Counts) bool { return c.Delete+c.Recreate+c.Adopt > 0 }
