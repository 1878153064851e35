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
		Long: `Rollback applies what an earlier release declared on each cluster, as the cluster keeps it: the release named by --to, by
number or rollout, or else the one before the newest. Nothing is rendered and no files are needed. It is shown, confirmed
and rolled out as an apply is: through the waves, stopping when more fails than a wave may lose; what the release did not
have is deleted, what it had comes back. A cluster that the release did not come to gets what it had at that time. Running
it again with the same --to resumes.

It is a release of its own, and history says what it went back to. The files stay as they are: the next apply goes forward
again, so mend them first. What was made up (passwords) stays as it is now. What the clusters do not keep is said before
anything is written.

Exit codes: 0 done, 1 error, 3 partly done, 4 not ready in time, 5 refused, 130 interrupted.`,
		Example: `  hawser rollback shop --fleet fleet.yaml
  hawser rollback shop --to 41 --fleet fleet.yaml --dry-run --diff
  hawser rollback shop --to 7K2M3XYZ --fleet fleet.yaml -y -m incident-731`,
		Args: s.oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.fromRecords(cmd, args, func(ctx context.Context, eng Engine, req engine.Request) operation.Bundles {
				req.To = to
				return operation.One(req, func(req engine.Request) (*engine.Prepared, error) {
					req.ShowDiff, req.ShowFields, req.ShowContent = s.opts.diff || s.interactive() && !s.opts.yes, !s.opts.stat, s.opts.full || s.opts.planOut != ""
					return eng.PlanRollback(ctx, req)
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
