package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/commandline"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/nextstep"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
)

func (s *session) applyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply -f BUNDLE [--fleet FLEET] | apply PLANFILE",
		Short: "Plan, ask, roll out wave by wave, wait, prune, record",
		Args:  reference.PlanFile,
		RunE:  s.apply,
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
		pr.ndjson(s.Out, "apply")
	}
	bundles, eng, err := s.planToApply(cmd, args, pr)
	if err != nil {
		return s.refusedEvent(pr, err)
	}
	return s.carryOut(cmd, pr, eng, bundles, s.confirmApply)
}

// planToApply makes the plans of all bundles, or loads the saved one.
func (s *session) planToApply(cmd *cobra.Command, args []string, pr *progress) (operation.Bundles, Engine, error) {
	if len(args) == 0 {
		if err := s.keepStdin(); err != nil {
			return nil, nil, err
		}
		req, err := s.bundleRequest(cmd)
		if err != nil {
			return nil, nil, err
		}
		req.ShowDiff = s.opts.diff || s.interactive() && !s.opts.yes
		req.ShowFields = s.opts.output != "json" && !s.opts.stat // the log says what was confirmed by -y
		req.ShowContent = s.opts.full && s.opts.output != "json"
		req.Applies = s.opts.yes
		bundles, eng, err := s.makePlans(cmd.Context(), pr, req)
		if err == nil && len(bundles) == 1 {
			err = bundles[0].Err
		}
		return bundles, eng, err
	}
	if info, err := os.Stat(args[0]); reference.LooksLikeBundle(args[0]) || err == nil && info.IsDir() {
		return nil, nil, usagef("%s is not a saved plan\nBundle files are named with -f: hawser apply -f %s", args[0], args[0])
	}
	if err := rootfs.Given(args[0]); err != nil {
		return nil, nil, fmt.Errorf("the saved plan %w: name the file itself", err)
	}
	f, err := rootfs.OpenFile(args[0])
	if err != nil {
		return nil, nil, notThere(err, "there is no saved plan "+args[0],
			cmd.CommandPath()+" -f FILE --bundle "+args[0]+" applies a bundle of that name; hawser plan -f BUNDLE --out "+args[0]+" makes a saved plan")
	}
	defer f.Close()
	if flags := commandline.Decided(cmd.Flags(), fleetplan.Lifts); len(flags) > 0 {
		return nil, nil, usagef("a saved plan knows what it does and where: leave %s out\n"+
			"For something else make another plan: hawser plan -f BUNDLE --out FILE", strings.Join(flags, " and "))
	}
	req, err := s.request(cmd)
	if err != nil {
		return nil, nil, err
	}
	eng, err := s.engine(pr)
	if err != nil {
		return nil, nil, err
	}
	pr.begin(nil)
	defer pr.end()
	p, err := eng.LoadPlan(cmd.Context(), f, req)
	return operation.Bundles{{Request: req, Plan: p}}, eng, err
}

// confirmation decides whether plans may be carried out; it may ask and it may set what the user confirmed.
type confirmation func(ctx context.Context, bundles operation.Bundles) error

// carryOut shows the plans, gets the yes, and applies each when its turn comes.
func (s *session) carryOut(cmd *cobra.Command, pr *progress, eng Engine, bundles operation.Bundles, confirm confirmation) error {
	blocked, brakeOnly, err := s.showPlans(pr, bundles)
	if blocked || err != nil {
		bundles.Close()
		return err
	}
	if first := bundles[0].Plan; first.Verb == "apply" && bundles.Counts().Delete > 0 {
		s.differ("prune", "what left the bundle is deleted")
	}
	if slices.ContainsFunc(bundles, func(b *operation.Bundle) bool { return b.Plan.Does(b.Request.Wait) }) || brakeOnly {
		if err := confirm(cmd.Context(), bundles); err != nil {
			return s.refusedEvent(pr, err)
		}
	}
	if err := bundles.Reviewed(cmd.Context()); err != nil {
		return s.refusedEvent(pr, err)
	}
	end := s.Gently(pr.stopping)
	defer end()
	var errs []error
	var left diag.Findings
	for _, b := range bundles {
		if why := bundles.Waits(b, s.Stop); why != "" {
			left = append(left, s.notBegun(pr, b, why)...)
			continue
		}
		err := s.turn(cmd, pr, eng, bundles, b)
		if len(bundles) == 1 || closedPipe(err) {
			return err
		}
		if s.finish(err) == exitcode.Interrupted { // the rest is told why it was not begun
			err = context.Canceled
		}
		errs = append(errs, err)
	}
	if len(left) > 0 {
		fmt.Fprintln(s.Err)
		_ = report.Findings(s.Err, left, s.style(s.Err))
	}
	return exitcode.Said(exitcode.OfBundles(errs))
}

// turn carries one bundle's plan out and says what came of it.
func (s *session) turn(cmd *cobra.Command, pr *progress, eng Engine, bundles operation.Bundles, b *operation.Bundle) error {
	p, does := b.Plan.FleetPlan, b.Plan.Does(b.Request.Wait)
	if len(bundles) > 1 && does && pr.json == nil {
		s.ofBundle(b)
	}
	pr.begin(nil)
	err := bundles.Turn(cmd.Context(), eng, b)
	pr.end()
	if err != nil {
		return s.refusedEvent(pr, err)
	}
	if does {
		pr.begin(p)
	}
	out, err := b.Apply(cmd.Context(), eng)
	pr.end()
	return s.printOutcome(pr, cmd, p, out, does, err)
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

// printOutcome prints the table and the last words of a run that did something; with -o json the summary event was the last line.
func (s *session) printOutcome(pr *progress, cmd *cobra.Command, p *fleetplan.FleetPlan, out *fleetplan.Outcome, did bool, err error) error {
	if out == nil || len(out.Clusters) == 0 {
		if err != nil {
			return s.refusedEvent(pr, err)
		}
		return nil
	}
	if s.opts.output != "json" && (did || err != nil) {
		w := s.Out
		if terr := report.OutcomeTable(w, out, s.style(w)); terr != nil && !closedPipe(terr) {
			return terr
		}
		if err != nil {
			w = s.Err
		}
		fresh := *out // what the plan already said is not said again
		fresh.Findings = slices.DeleteFunc(slices.Clone(out.Findings), func(f diag.Finding) bool { return slices.Contains(p.Findings, f) })
		if terr := report.OutcomeVerdict(w, &fresh, s.hints(cmd, p, out), s.style(w)); terr != nil && !closedPipe(terr) {
			return terr
		}
	}
	if err == nil || errors.Is(err, context.Canceled) || !isSentinel(err) {
		return err
	}
	return exitcode.Said(exitcode.Of(err))
}

// refusedEvent ends a run before its rollout: with -o json the stream still ends with a summary.
func (s *session) refusedEvent(pr *progress, err error) error {
	if !closedPipe(err) {
		s.summary(pr, "", nil, findingsOf(err))
	}
	return err
}

// summary is the last event of a bundle whose rollout never began, where there is a stream of them.
func (s *session) summary(pr *progress, bundle string, p *fleetplan.FleetPlan, fs diag.Findings) {
	if pr.json == nil {
		return
	}
	out := &fleetplan.Outcome{V: diag.DocumentVersion, Verb: pr.verb, Bundle: bundle, Result: fleetplan.Failed, Clusters: []fleetplan.ClusterOutcome{}, Findings: fs, Started: s.Now()}
	if p != nil {
		out.Verb, out.Bundle = p.Verb, p.Bundle
	}
	pr.event(fleetplan.Event{V: diag.DocumentVersion, Time: s.Now(), Type: fleetplan.EventSummary, Bundle: out.Bundle, Status: "refused", Summary: out})
}

func findingsOf(err error) diag.Findings {
	var r *fleetplan.RefusedError
	if errors.As(err, &r) {
		return r.Findings
	}
	return diag.From(err, "error")
}

// hints are the commands a failure's report names, made of the flags this run had; out is what it brought about.
func (s *session) hints(cmd *cobra.Command, p *fleetplan.FleetPlan, out *fleetplan.Outcome) report.Hints {
	return nextstep.Of(cmd, s.opts.files, s.opts.fleetFiles, p, out)
}

// destroys reports whether the plan does more than create and change: it deletes, adopts or recreates.
func destroys(c plan.Counts) bool { return c.Delete+c.Recreate+c.Adopt > 0 }
