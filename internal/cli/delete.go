package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete [BUNDLE] [--fleet FLEET]",
		Short: "Delete everything of a bundle, waves reversed",
		Args:  reference.AtMostOne("bundle"),
		RunE:  func(cmd *cobra.Command, args []string) error { return s.delete(cmd, args) },
	}
	s.opts.bundleFlags(cmd.Flags())
	s.recordsFlags(cmd)
	return cmd
}

// recordsFlags are those of commands whose plan is made of what the clusters' records say.
func (s *session) recordsFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, "text", "json", "yaml and markdown with --dry-run")
	f.BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&s.opts.dryRun, "dry-run", false, "show the plan and stop")
	f.BoolVar(&s.opts.wait, "wait", true, "wait until everything is ready, or gone")
	s.opts.hookFlag(f)
	s.opts.identityFlags(f)
	f.IntVar(&s.opts.confirmDelete, "confirm-delete", noNumber, "the exact number of deletions you confirm")
	f.BoolVar(&s.opts.skipUnreachable, "skip-unreachable", false, "go on without clusters that do not answer; they count as failed")
	f.BoolVar(&s.opts.skipWindows, "skip-windows", false, "change clusters also while the window of their wave is closed")
	f.StringVarP(&s.opts.message, "message", "m", "", "a message for the release's record")
	f.StringVar(&s.opts.progress, "progress", "auto", "progress: auto, live or plain")
	s.completeFleet(cmd)
}

func (s *session) delete(cmd *cobra.Command, args []string) error {
	if len(args) == 0 && len(s.opts.files) == 0 && s.opts.bundle == "" {
		if s.opts.name == "" {
			return usagef("no bundle: name it, or its files with -f\nFor example: %s shop", cmd.CommandPath())
		}
		args = []string{s.opts.name}
	}
	return s.fromRecords(cmd, args, func(ctx context.Context, eng Engine, req engine.Request) operation.Bundles {
		return operation.Delete(ctx, eng, req, s.Bundles)
	}, s.confirmDelete)
}

// planner makes the plans of a command.
type planner func(ctx context.Context, eng Engine, req engine.Request) operation.Bundles

// stdinAndName keeps the standard input, which is read for each bundle, and takes the bundle's name from the arguments.
func (s *session) stdinAndName(args []string) error {
	if err := s.keepStdin(); err != nil {
		return err
	}
	return s.name(args)
}

// fromRecords makes plans of what the clusters' records say, and carries them out or shows them.
func (s *session) fromRecords(cmd *cobra.Command, args []string, plan planner, confirm confirmation) error {
	forms := map[bool][]string{true: planForms, false: {"text", "json"}}
	shows := s.opts.dryRun || s.opts.planOut != ""
	if err := checkForm(s.opts.output, forms[shows]...); err != nil {
		return err
	}
	if err := s.stdinAndName(args); err != nil {
		return err
	}
	req, err := s.request(cmd)
	if err != nil {
		return err
	}
	pr := s.newProgress()
	if s.opts.output == "json" && !shows {
		pr.ndjson(s.Out, cmd.Name())
	}
	eng, err := s.engine(pr)
	if err != nil {
		return err
	}
	pr.begin(nil)
	bundles := plan(cmd.Context(), eng, req).Meant(cmd.Context(), eng, req)
	pr.end()
	switch {
	case shows:
		code, err := s.showEach(cmd, eng, bundles, s.showAndSave)
		if err != nil {
			return err
		}
		return exitcode.Said(code)
	case len(bundles) == 1 && bundles[0].Err != nil:
		return s.refusedEvent(pr, bundles[0].Err)
	}
	return s.carryOut(cmd, pr, eng, bundles, confirm)
}

// name takes the bundle that an argument names, which is the same as --bundle.
func (s *session) name(args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case s.opts.bundle != "" && s.opts.bundle != args[0]:
		return usagef("two bundles are named: %s, and %s with --bundle\nName one", args[0], s.opts.bundle)
	}
	s.opts.bundle = args[0]
	return nil
}

// oneBundle accepts the one bundle that a command wants.
func (s *session) oneBundle(cmd *cobra.Command, args []string) error {
	if len(args) == 0 && s.opts.bundle != "" {
		return nil
	}
	return reference.Exactly("BUNDLE")(cmd, args)
}

// showAndSave prints a plan, and saves it where that was asked for.
func (s *session) showAndSave(eng Engine, p *engine.Prepared) error {
	if err := s.printPlan(s.Out, p.FleetPlan); err != nil || s.opts.planOut == "" || p.Findings.HasErrors() {
		return err
	}
	return s.savePlan(eng, p)
}

func (s *session) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [BUNDLE] [--fleet FLEET]",
		Short: "Show how bundles are on every cluster",
		Args:  reference.AtMostOne("bundle"),
		RunE:  func(cmd *cobra.Command, args []string) error { return s.status(cmd, args) },
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.BoolVarP(&s.opts.watch, "watch", "w", false, "repeat until everything is ready")
	s.completeFleet(cmd)
	return cmd
}

// dataForms are the forms of commands that answer with a document.
var dataForms = []string{"text", "json", "yaml"}

// printData writes a document in the form asked for; text prints it for people.
func (s *session) printData(doc any, text func(report.Style) error) error {
	switch s.opts.output {
	case "json":
		return report.JSON(s.Out, doc)
	case "yaml":
		return report.YAML(s.Out, doc)
	}
	return text(s.style(s.Out))
}
