package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/operation"
)

func (s *session) rollbackCommand() *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "rollback BUNDLE [--to RELEASE] [--fleet FLEET]",
		Short: "Go back to an earlier release of a bundle, wave by wave",
		Args:  s.oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.fromRecords(cmd, args, func(ctx context.Context, eng Engine, req engine.Request) operation.Bundles {
				req.To = to
				return operation.One(req, func(req engine.Request) (*engine.Prepared, error) {
					req.ShowDiff, req.ShowFields, req.ShowContent = s.opts.diff || s.interactive() && !s.opts.yes, !s.opts.stat, s.opts.full || s.opts.planOut != ""
					return eng.Plan(ctx, req.For(engine.Rollback))
				})
			}, s.confirmApply)
		},
	}
	s.recordsFlags(cmd)
	f := cmd.Flags()
	s.opts.bundleFlag(f)
	f.StringVar(&to, "to", "", "the release to go back to: its number or rollout (default: the one before the newest that did not fail)")
	f.StringVar(&s.opts.planOut, "out", "", "show the plan, save it in this file and stop; hawser apply FILE carries it out")
	f.BoolVar(&s.opts.diff, "diff", false, "show changed fields as the API servers see them")
	f.BoolVar(&s.opts.adopt, "adopt", false, "take over objects that somebody else owns")
	f.BoolVar(&s.opts.recreate, "recreate", false, "delete and create again where an immutable field changed")
	f.BoolVar(&s.opts.skipWaves, "skip-waves", false, "do not ask that earlier waves succeeded")
	f.Var(commandline.Wave{At: &s.opts.untilWave}, "until-wave", "stop after this wave")
	return cmd
}
