package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/workspace"
)

// eachBundle runs a command that reads once for every bundle of the files, each after those it requires, and ends with the
// worst exit code; what is wrong with all of them alike is told once. Files with one bundle, or --bundle, run it once.
func (s *session) eachBundle(cmd *cobra.Command, run func() operation.Told) error {
	if err := s.keepStdin(); err != nil {
		return err
	}
	first := run()
	req, err := s.bundleRequest(cmd)
	if first.Err == nil || err != nil {
		return first.Show()
	}
	names := operation.Names(cmd.Context(), req, first.Err, s.Bundles)
	if len(names) == 0 {
		return first.Show()
	}
	s.opts.among = names
	code, err := operation.Each(names, func(name string) operation.Told {
		s.opts.bundle = name
		told := run()
		out := operation.Told{Err: told.Err, Show: func() error { s.opts.bundle = name; return told.Show() }}
		if s.opts.output == "json" || s.opts.output == "yaml" {
			out.Err = nil // each has a document
		}
		return out
	}, func(err error) (int, bool) {
		if closedPipe(err) || cmd.Context().Err() != nil {
			return 0, true
		}
		return s.finish(err), false
	})
	if err != nil {
		return err
	}
	return exitcode.Said(code)
}

// keepStdin makes standard input readable more than once where a file is "-".
func (s *session) keepStdin() error {
	if !slices.Contains(s.opts.files, "-") && !slices.Contains(s.opts.fleetFiles, "-") {
		return nil
	}
	data, err := rootfs.ReadAll(s.In, "standard input", rootfs.MaxSmall)
	s.In = bytes.NewReader(data)
	return err
}

// makePlans asks an engine for the plans of all bundles, with progress while they are being made.
func (s *session) makePlans(ctx context.Context, pr *progress, req engine.Request) (operation.Bundles, Engine, error) {
	eng, err := s.engine(pr)
	if err != nil {
		return nil, nil, err
	}
	pr.begin(nil)
	defer pr.end()
	return operation.Plan(ctx, eng, req, s.Bundles), eng, nil
}

// planEach makes the plans of all bundles and shows each; it ends with the worst exit code.
func (s *session) planEach(cmd *cobra.Command, req engine.Request, show func(Engine, *engine.Prepared) error) (int, error) {
	if err := s.keepStdin(); err != nil {
		return 0, err
	}
	workspace.Of(&req.Documents).Stdin = s.In
	bundles, eng, err := s.makePlans(cmd.Context(), s.newProgress(), req)
	if err != nil {
		return 0, err
	}
	return s.showEach(cmd, eng, bundles, show)
}

// showEach shows plans that are not carried out; it ends with the worst exit code.
func (s *session) showEach(cmd *cobra.Command, eng Engine, bundles operation.Bundles, show func(Engine, *engine.Prepared) error) (int, error) {
	defer bundles.Close()
	if s.opts.planOut != "" && len(bundles) > 1 {
		return 0, usagef("the files hold %d bundles, and a saved plan is of one: choose with --bundle, with a file for each; one that requires another is saved when that one was applied", len(bundles))
	}
	code := exitcode.Done
	for i, b := range bundles {
		if b.Err != nil {
			if err := s.failed(b.Err); len(bundles) == 1 || closedPipe(err) || cmd.Context().Err() != nil {
				return 0, err
			}
			s.ofBundle(b)
			code = exitcode.Worse(code, s.finish(b.Err))
			continue
		}
		s.differFor(b.Plan.Findings)
		if i > 0 && s.opts.output == "text" {
			fmt.Fprintln(s.Out)
		}
		if err := show(eng, b.Plan); err != nil {
			return 0, err
		}
		code = exitcode.Worse(code, exitcode.OfPlan(b.Plan.FleetPlan, s.opts.detailed))
	}
	return code, nil
}

// ofBundle heads what is said of a bundle in a run with several.
func (s *session) ofBundle(b *operation.Bundle) {
	if b.Name != "" && s.opts.bundle == "" {
		fmt.Fprintf(s.Err, "\nBundle %s:\n", b.Name)
	}
}

// showPlans shows the plans before they are carried out, and what is wrong with any. blocked: nothing may be written; then
// the stream of events has a last one for every bundle.
func (s *session) showPlans(pr *progress, bundles operation.Bundles) (blocked, brakeOnly bool, err error) {
	code := exitcode.Done
	for i, b := range bundles {
		if b.Err != nil {
			s.ofBundle(b)
			code = exitcode.Worse(code, s.finish(b.Err))
			continue
		}
		if i > 0 && s.opts.output != "json" {
			fmt.Fprintln(s.Err)
		}
		p := b.Plan.FleetPlan
		p.Findings = append(p.Findings, p.Reachable(b.Request.SkipUnreachable)...) // said before anybody is asked
		s.differFor(p.Findings)
		brakeOnly = s.liftBrake(p, b.Request) || brakeOnly
		st := s.style(s.Err)
		st.Apply = true
		if refused := p.Findings.HasErrors() || p.Counts().Conflict > 0; refused || s.opts.output != "json" {
			if err := report.Plan(s.Err, p, st); err != nil {
				return false, false, err
			}
			if refused {
				code = exitcode.Worse(code, max(exitcode.OfPlan(p, s.opts.detailed), exitcode.Error))
			}
		}
	}
	if code == exitcode.Done {
		return false, brakeOnly, nil
	}
	for _, b := range bundles {
		switch {
		case pr.json == nil:
		case b.Err != nil:
			s.summary(pr, b.Name, nil, findingsOf(b.Err))
		case b.Plan.Findings.HasErrors():
			s.summary(pr, b.Name, b.Plan.FleetPlan, b.Plan.Findings)
		default:
			s.notBegun(pr, b, "another bundle of the run is refused")
		}
	}
	if len(bundles) > 1 {
		fmt.Fprintf(s.Err, "\nNothing of any of the %d bundles was written.\n", len(bundles))
	}
	return true, false, exitcode.Said(code)
}

// notBegun ends a bundle that has no turn, and is what to say of it in the end; a stream of events has it at once.
func (s *session) notBegun(pr *progress, b *operation.Bundle, why string) diag.Findings {
	out := b.NotBegun(why)
	if pr.json == nil {
		return out.Findings
	}
	out.Started = s.Now()
	pr.event(fleetplan.Event{V: diag.DocumentVersion, Time: s.Now(), Type: fleetplan.EventSummary, Bundle: out.Bundle, Status: "refused", Summary: out})
	return nil
}
