package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/report"
)

// driftEvery is the pause between two looks of drift --watch, driftOften the shortest there may be.
const (
	driftEvery = 30 * time.Second
	driftOften = 5 * time.Second
)

func (s *session) driftCommand() *cobra.Command {
	correct, every := false, driftEvery
	cmd := &cobra.Command{
		Use:   "drift [BUNDLE...] [--fleet FLEET]",
		Short: "Show what others have changed since the last release, and put it right",
		RunE: func(cmd *cobra.Command, names []string) error {
			if s.opts.bundle != "" {
				names = append(names, s.opts.bundle)
			}
			switch idle := commandline.With(cmd.Flags(), "correct"); {
			case !correct && len(idle) > 0:
				return usagef("drift only looks: %s is for --correct", strings.Join(idle, ", "))
			case correct && s.opts.watch:
				return usagef("--watch looks, --correct writes: give one of them")
			case every < driftOften:
				return usagef("--interval %s is too often: every look asks every cluster\nUse %s or more", every, driftOften)
			case correct:
				return s.correct(cmd, names)
			}
			return s.drift(cmd, names, every)
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlag(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.BoolVar(&correct, "correct", false, "put it right, after a yes: what the records declare is applied again")
	f.BoolVarP(&s.opts.watch, "watch", "w", false, "look again and again, and print what is otherwise than before")
	f.DurationVar(&every, "interval", driftEvery, "pause between two looks of --watch, 5s or more")
	f.BoolVarP(&s.opts.yes, "yes", "y", false, "with --correct: do not ask")
	f.BoolVar(&s.opts.dryRun, "dry-run", false, "with --correct: show the plan and stop")
	f.BoolVar(&s.opts.adopt, "adopt", false, "with --correct: take back objects that somebody else has by now")
	f.BoolVar(&s.opts.recreate, "recreate", false, "with --correct: delete and create again where an immutable field changed")
	f.BoolVar(&s.opts.wait, "wait", true, "with --correct: wait until everything is ready")
	f.BoolVar(&s.opts.skipUnreachable, "skip-unreachable", false, "with --correct: go on without clusters of which nobody knows; they count as failed")
	f.BoolVar(&s.opts.skipWindows, "skip-windows", false, "with --correct: change clusters also while the window of their wave is closed")
	f.BoolVar(&s.opts.skipWaves, "skip-waves", false, "with --correct: do not ask how corrections of earlier waves ended")
	f.Var(commandline.Wave{At: &s.opts.untilWave}, "until-wave", "with --correct: stop after this wave")
	f.StringVarP(&s.opts.message, "message", "m", "", "with --correct: a message for the record")
	f.StringVar(&s.opts.progress, "progress", "auto", "progress: auto, live or plain")
	s.opts.identityFlags(f)
	f.IntVar(&s.opts.confirmDelete, "confirm-delete", noNumber, "with --correct: the exact number of deletions you confirm, for --recreate")
	s.completeFleet(cmd)
	return cmd
}

// drift shows what drifted, once or again and again.
func (s *session) drift(cmd *cobra.Command, names []string, every time.Duration) error {
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return err
	}
	req, err := s.request(cmd)
	if err != nil {
		return err
	}
	req.Reads = true
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	for before := (*drift.Report)(nil); ; {
		began := s.Now()
		bundles, err := operation.Drift(cmd.Context(), eng, req, names)
		if err != nil {
			return s.failed(err)
		}
		bundles.Close()
		now := bundles.Drifted()
		tip := s.hints(cmd, &fleetplan.FleetPlan{Verb: "drift", Bundle: now.Only("BUNDLE")}, &fleetplan.Outcome{}).Resume
		if s.opts.watch {
			now.Time = began.UTC().Truncate(time.Second)
		}
		if shown := now.Since(before); shown != nil {
			if err := s.printData(shown, func(st report.Style) error { return report.Drift(s.Out, shown, tip, st) }); err != nil {
				return err
			}
		}
		if !s.opts.watch {
			return exitcode.Said(exitcode.OfDrift(now.Findings, now.Drifted(), now.Unknown()))
		}
		if before = now; pause(cmd.Context(), every) != nil {
			return cmd.Context().Err()
		}
	}
}

// correct puts right what drifted.
func (s *session) correct(cmd *cobra.Command, names []string) error {
	forms := map[bool][]string{true: planForms, false: {"text", "json"}}
	if err := checkForm(s.opts.output, forms[s.opts.dryRun]...); err != nil {
		return err
	}
	req, err := s.request(cmd)
	if err != nil {
		return err
	}
	pr := s.newProgress()
	if s.opts.output == "json" && !s.opts.dryRun {
		pr.ndjson(s.Out, "drift")
	}
	eng, err := s.engine(pr)
	if err != nil {
		return err
	}
	pr.begin(nil)
	bundles, err := operation.Drift(cmd.Context(), eng, req, names)
	pr.end()
	if err != nil || len(bundles) == 0 {
		return s.refusedEvent(pr, err)
	}
	if !s.opts.dryRun {
		return s.carryOut(cmd, pr, eng, bundles, s.confirmApply)
	}
	code := exitcode.Done
	for _, b := range bundles {
		if err := s.printPlan(s.Out, b.Plan.FleetPlan); err != nil {
			return err
		}
		code = exitcode.Worse(code, exitcode.OfPlan(b.Plan.FleetPlan, false))
	}
	return exitcode.Said(code)
}
