package cli

import (
	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

// codesOfHistory are the exit codes of what reads records.
const codesOfHistory = "\n\nExit codes: 0 done, 1 error, 3 some cluster is unknown."

func (s *session) historyCommand() *cobra.Command {
	cmd := s.fleetCmd("history [BUNDLE]", "Show the releases of a fleet, who made them, and what became of them",
		`History shows the releases that the records of the selected clusters keep, newest first: number and rollout, what became of
it over the fleet, when it began, who made it, from which commit, what was done, and on how many of the clusters it is.
The last ten revisions are kept on each cluster, and always the last good one. No object is looked at.

A release is pending while clusters stand at an older one and other files, partial when it failed on some, and superseded when
all that it came to have a newer one. A cluster that does not answer is named, and is in no count.`+codesOfHistory,
		"  hawser history --fleet fleet.yaml\n  hawser history shop --fleet fleet.yaml --group production\n  hawser history shop -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			if err := s.name(s.args); err != nil {
				return err
			}
			req.Bundle = s.opts.bundle
			h, err := s.releases(cmd, req)
			if h == nil {
				return s.failed(err)
			}
			return s.looked(h, err, func(st report.Style) error { return report.History(s.Out, h, st) })
		})
	cmd.Args = reference.AtMostOne("bundle")
	s.opts.bundleFlag(cmd.Flags())
	cmd.AddCommand(s.historyShowCommand(), s.historyDiffCommand())
	return cmd
}

// releases reads the records of the selected clusters; the history is there also beside ErrPartial.
func (s *session) releases(cmd *cobra.Command, req engine.Request) (*history.History, error) {
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return nil, err
	}
	return eng.History(cmd.Context(), req)
}

func (s *session) historyShowCommand() *cobra.Command {
	cmd := s.fleetCmd("show RELEASE", "Show one release: how it came about, where each cluster stands, what was delivered",
		`Show tells of a release, named by its number or rollout: who made it, when, from which files, commit and plan; for each
cluster whether it is there, or at which release the cluster stands instead; and the sources, with versions and digests,
images and runtime values that were delivered.`+codesOfHistory,
		"  hawser history show 42 --fleet fleet.yaml\n  hawser history show 7K2M3XYZ --bundle shop --fleet fleet.yaml -o yaml",
		func(cmd *cobra.Command, req engine.Request) error {
			h, err := s.releases(cmd, req)
			if h == nil {
				return s.failed(err)
			}
			if missing := h.Only(req.Bundle, s.args[0], err); missing != nil {
				return s.failed(missing)
			}
			return s.looked(h, err, func(st report.Style) error { return report.Shown(s.Out, h, st) })
		})
	cmd.Args = reference.Exactly("RELEASE")
	cmd.Flags().StringVar(&s.opts.bundle, "bundle", "", "the bundle; needed where the clusters have several")
	return cmd
}

func (s *session) historyDiffCommand() *cobra.Command {
	cmd := s.fleetCmd("diff FROM TO", "Show what changed between two releases, object by object",
		`Diff compares what two releases, named by number or rollout, declare on each cluster: the objects that came, changed and
went, with the fields that changed. A cluster that was not in a release is taken as it stood then. What is secret is hidden, as
a plan hides it. Clusters with equal changes stand together.`+codesOfHistory,
		"  hawser history diff 41 42 --fleet fleet.yaml\n  hawser history diff 41 42 --bundle shop --fleet fleet.yaml --cluster production-eu --full",
		func(cmd *cobra.Command, req engine.Request) error {
			req.ShowContent = s.opts.full || s.opts.output != "text"
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			c := history.Releases(s.args[0], s.args[1])
			if err = eng.Compare(cmd.Context(), req, c); c.V == 0 {
				return s.failed(err)
			}
			return s.looked(c, err, func(st report.Style) error { return report.Compared(s.Out, c, st) })
		})
	cmd.Args = reference.Exactly("FROM", "TO")
	cmd.Flags().StringVar(&s.opts.bundle, "bundle", "", "the bundle; needed where the clusters have several")
	s.opts.viewFlags(cmd.Flags())
	return cmd
}
