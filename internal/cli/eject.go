package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/operation"
)

func (s *session) ejectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eject BUNDLE [--fleet FLEET]",
		Short: "Leave the objects of a bundle to themselves, without a trace of Hawser on them",
		Args:  s.oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.fromRecords(cmd, args, func(ctx context.Context, eng Engine, req engine.Request) operation.Bundles {
				return operation.One(req, func(req engine.Request) (*engine.Prepared, error) { return eng.Plan(ctx, req.For(engine.Eject)) })
			}, s.confirmApply)
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlag(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, "text", "json", "yaml and markdown with --dry-run")
	f.BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&s.opts.dryRun, "dry-run", false, "show the plan and stop")
	s.opts.identityFlags(f)
	f.BoolVar(&s.opts.skipUnreachable, "skip-unreachable", false, "go on without clusters that do not answer; they count as failed")
	f.BoolVar(&s.opts.skipWindows, "skip-windows", false, "change clusters also while the window of their wave is closed")
	f.StringVar(&s.opts.progress, "progress", "auto", "progress: auto, live or plain")
	s.completeFleet(cmd)
	return cmd
}
