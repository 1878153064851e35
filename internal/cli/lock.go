package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) lockCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock -f BUNDLE [--upgrade NAME]",
		Short: "Pin what a bundle's sources resolve to in hawser.lock",
		Args:  reference.Nothing,
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
		Args:  reference.Nothing,
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
			if s.opts.detailed && slices.ContainsFunc(r.Sources, fleetplan.OutdatedSource.Newer) {
				return &exitcode.Exit{Code: exitcode.Changes}
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
