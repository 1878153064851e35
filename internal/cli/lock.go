package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/source"
)

func (s *session) lockCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock -f BUNDLE [--upgrade NAME]",
		Short: "Pin what a bundle's sources resolve to in hawser.lock",
		Long: `Lock writes what a bundle's sources are, the version and the digest of each, to hawser.lock beside it. From then on
that is used, whatever a range or a tag means by then. What is pinned stays until --upgrade names it: an instance
(or a glob) or the source as hawser.lock writes it. Local directories are pinned to what they hold now; pins that
no bundle uses any more go. --locked refuses what is not pinned, or is something else by now. No cluster is contacted.`,
		Example: `  hawser lock -f shop.yaml
  hawser lock -f shop.yaml --upgrade api
  hawser lock -f shop.yaml --upgrade '*'
  hawser apply -f shop.yaml --fleet fleet.yaml --locked`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			req, err := s.bundleRequest(cmd)
			if err != nil {
				return err
			}
			if s.Lock == nil {
				return usagef("this build cannot write hawser.lock")
			}
			req.Upgrade = s.opts.upgrade
			r, err := s.Lock(cmd.Context(), req)
			if err != nil {
				return err
			}
			fmt.Fprintln(s.Err, report.Pinned(r))
			return s.printData(r, func(st report.Style) error { return report.Locked(s.Out, r, st) })
		},
	}
	s.opts.bundleFlags(cmd.Flags())
	s.opts.fleetFlags(cmd.Flags())
	s.opts.accessFlags(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	cmd.Flags().StringArrayVar(&s.opts.upgrade, "upgrade", nil, "forget the pin of this instance or source, and take the newest that the bundle allows (repeat it)")
	s.completeFleet(cmd)
	return cmd
}

func (s *session) outdatedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outdated -f BUNDLE",
		Short: "Compare a bundle's sources with the newest there are",
		Long: `Outdated asks registries and repositories for what a bundle's sources mean now, and prints what the bundle wants, what
is pinned, the newest that the bundle allows, and the newest stable one. It changes nothing and contacts no cluster.
Manifests and kustomizations in directories have no version and are not listed.

Exit codes: 0 done, 1 error, 2 a newer one is allowed (only with --detailed-exitcode), 3 some source did not answer.`,
		Example: `  hawser outdated -f shop.yaml
  hawser outdated -f shop.yaml -o json
  hawser outdated -f shop.yaml --detailed-exitcode`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			req, err := s.bundleRequest(cmd)
			if err != nil {
				return err
			}
			if s.Outdated == nil {
				return usagef("this build cannot compare sources")
			}
			r, err := s.Outdated(cmd.Context(), req)
			if r == nil {
				return err
			}
			if e := s.printData(r, func(st report.Style) error { return report.Outdated(s.Out, r, st) }); e != nil || err != nil {
				return firstError(e, err)
			}
			for _, row := range r.Sources {
				switch row.Verdict {
				case source.Behind, source.Moved, source.Edited, source.Loose:
					if s.opts.detailed {
						return &exitcode.Exit{Code: exitcode.Changes}
					}
				}
			}
			return nil
		},
	}
	s.opts.bundleFlags(cmd.Flags())
	s.opts.fleetFlags(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	cmd.Flags().BoolVar(&s.opts.detailed, "detailed-exitcode", false, "exit with 2 when the bundle allows something newer than is pinned")
	s.completeFleet(cmd)
	return cmd
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
